"""The todos of the plan pane, edited by keys and the mouse."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.tui.plan_edits import dropped, moved, with_next_status
from todo_agent.tui.text import duration, first_line, fit, literal, wrap
from todo_agent.tui.themes import Marks

ITEM_LINES = 4
"""So many lines of a todo show until it is opened."""


class PlanList(ScrollView, can_focus=True):
    """The todos, one below the other; the current one is kept in view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up"),
        Binding("down,j", "move(1)", "Down"),
        Binding("home,g", "move(-100000)", "First", show=False),
        Binding("end,G", "move(100000)", "Last", show=False),
        Binding("enter,e", "edit", "Edit"),
        Binding("a", "add", "Add"),
        Binding("d,delete", "drop", "Delete"),
        Binding("J,shift+down", "shift(1)", "Move down"),
        Binding("K,shift+up", "shift(-1)", "Move up"),
        Binding("space", "next_status", "Next status"),
        Binding("o", "open", "Whole text"),
        Binding("f", "fold", "Fold what is done"),
        Binding("u", "undo", "Undo the last change"),
        Binding("h", "history", "Versions"),
        Binding("x", "clear_plan", "Clear"),
        Binding("tab", "app.next_place", "Conversation", show=False, id="next_place"),
        Binding("shift+tab", "app.next_mode", "Next permission mode", show=False, id="next_mode"),
    ]

    plan: reactive[Plan] = reactive(Plan())
    paused: reactive[bool] = reactive(default=False)
    """Nothing works on the current todo."""
    cursor: reactive[int] = reactive(0)
    folded: reactive[bool] = reactive(default=False)
    """What is done is one line."""

    class UndoRequested(Message):
        """The person wants the plan as it was before its last change."""

    class HistoryRequested(Message):
        """The person wants to see the versions of the plan."""

    class Edited(Message):
        """The person wants another plan."""

        def __init__(self, plan: Plan) -> None:
            super().__init__()
            self.plan = plan

    class EditRequested(Message):
        """The person wants to write a todo: a new one behind `index`, or another text for it."""

        def __init__(self, index: int, *, new: bool) -> None:
            super().__init__()
            self.index = index
            self.new = new

    def __init__(self, marks: Marks, clock: Callable[[], float]) -> None:
        super().__init__()
        self._marks = marks
        self._clock = clock
        self._since = clock()
        self._shown_seconds = 0
        self._opened: set[int] = set()
        self._rows: list[tuple[int, Content]] = []

    @property
    def current(self) -> int | None:
        """The index of the todo in progress."""
        active = (i for i, todo in enumerate(self.plan.todos) if todo.status is Status.ACTIVE)
        return next(active, None)

    def tick(self) -> None:
        """Show the time of the current todo, where it changed."""
        seconds = int(self._clock() - self._since)
        if self.current is not None and seconds != self._shown_seconds:
            self._shown_seconds = seconds
            self._lay_out()

    def watch_plan(self, before: Plan, after: Plan) -> None:
        """Show another plan, with its current todo in view."""
        if _active(before) != _active(after):
            self._since = self._clock()
        self._opened.clear()
        self.cursor = min(self.cursor, max(len(after.todos) - 1, 0))
        if not self.has_focus and self.current is not None:
            self.cursor = self.current
        self._leave_hidden()
        self._lay_out()
        self._reveal(self.cursor if self.has_focus else self.current)

    def watch_paused(self) -> None:
        """Show the current todo as paused, or as going on."""
        self._since = self._clock()
        self._lay_out()

    def watch_cursor(self) -> None:
        """Keep the chosen todo in view."""
        self._lay_out()
        self._reveal(self.cursor)

    def on_focus(self) -> None:
        """Show which todo the keys act on."""
        self.cursor = self.current or 0
        self._lay_out()

    def on_blur(self) -> None:
        """Show the list as it is looked at, not worked at."""
        self._lay_out()
        self._reveal(self.current)

    def on_resize(self, event: events.Resize) -> None:
        """Wrap for another width."""
        self._lay_out()
        self._reveal(self.cursor if self.has_focus else self.current)

    async def on_click(self, event: events.Click) -> None:
        """Choose the todo below the pointer; a second click opens it."""
        line = event.y + self.scroll_offset.y
        if not 0 <= line < len(self._rows):
            return
        index = self._rows[line][0]
        if self._is_hidden(index):
            self.folded = False
        elif index == self.cursor:
            self.action_open()
        self.cursor = index

    def watch_folded(self) -> None:
        """Show what is done as one line, or as its todos."""
        self._leave_hidden()
        self._lay_out()
        self._reveal(self.cursor)

    def action_move(self, by: int) -> None:
        """Choose another todo that shows."""
        shown = [i for i in range(len(self.plan.todos)) if not self._is_hidden(i)]
        if shown:
            place = shown.index(self.cursor) if self.cursor in shown else 0
            self.cursor = shown[max(0, min(place + by, len(shown) - 1))]

    def action_fold(self) -> None:
        """Fold what is done into one line, or unfold it."""
        self.folded = not self.folded

    def action_undo(self) -> None:
        """Ask for the plan as it was before its last change."""
        self.post_message(self.UndoRequested())

    def action_history(self) -> None:
        """Ask for the versions of the plan."""
        self.post_message(self.HistoryRequested())

    def action_add(self) -> None:
        """Ask for a new todo behind the chosen one."""
        self.post_message(self.EditRequested(self.cursor, new=True))

    def action_edit(self) -> None:
        """Ask for another text of the chosen todo."""
        if self._is_chosen:
            self.post_message(self.EditRequested(self.cursor, new=False))

    def action_drop(self) -> None:
        """Delete the chosen todo."""
        if self._is_chosen:
            self.post_message(self.Edited(dropped(self.plan, self.cursor)))

    def action_clear_plan(self) -> None:
        """Delete all todos."""
        if self.plan.todos:
            self.post_message(self.Edited(Plan()))

    def action_shift(self, by: int) -> None:
        """Move the chosen todo up or down."""
        index, target = self.cursor, self.cursor + by
        if not self._is_chosen or not 0 <= target < len(self.plan.todos):
            return
        self.post_message(self.Edited(moved(self.plan, index, target)))
        self.cursor = target

    def action_next_status(self) -> None:
        """Give the chosen todo the next status: pending, in progress, done."""
        if self._is_chosen:
            self.post_message(self.Edited(with_next_status(self.plan, self.cursor)))

    def action_open(self) -> None:
        """Show the whole text of the chosen todo, or only its beginning."""
        self._opened ^= {self.cursor}
        self._lay_out()
        self._reveal(self.cursor)

    @property
    def hidden_below(self) -> int:
        """How many todos begin below what can be seen."""
        bottom = self.scroll_offset.y + self.size.height
        return len({i for i, _ in self._rows[bottom:]} - {i for i, _ in self._rows[:bottom]})

    def render_line(self, y: int) -> Strip:
        """Return one line of the list."""
        line = y + self.scroll_offset.y
        width = self.size.width
        if line >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        index, content = self._rows[line]
        content = content.extend_right(width - content.cell_length)
        if self.has_focus and index == self.cursor:
            content = content.stylize("on $chosen")
        strips = Visual.to_strips(self, content, width, 1, self.visual_style)
        return strips[0]

    def _lay_out(self) -> None:
        width = self.size.width
        if not width:
            return
        self._rows = [
            *self._fold(width),
            *(
                (index, line)
                for index, todo in enumerate(self.plan.todos)
                if not self._is_hidden(index)
                for line in self._item(index, todo, width)
            ),
        ]
        self.virtual_size = Size(width, len(self._rows))
        last = max(len(self._rows) - self.size.height, 0)
        if self.scroll_offset.y > last:
            self.scroll_to(y=last, animate=False, force=True, immediate=True)
        self.refresh()

    @property
    def _is_chosen(self) -> bool:
        """Whether there is a todo below the cursor that shows."""
        return bool(self.plan.todos) and not self._is_hidden(self.cursor)

    def _is_hidden(self, index: int) -> bool:
        return self.folded and self.plan.todos[index].status is Status.DONE

    def _leave_hidden(self) -> None:
        """Choose a todo that shows, if there is one."""
        if self.plan.todos and self._is_hidden(self.cursor):
            shown = [i for i in range(len(self.plan.todos)) if not self._is_hidden(i)]
            self.cursor = next((i for i in shown if i > self.cursor), shown[-1] if shown else 0)

    def _fold(self, width: int) -> list[tuple[int, Content]]:
        """Return the line that stands for all that is done, if it is folded."""
        hidden = [i for i in range(len(self.plan.todos)) if self._is_hidden(i)]
        if not hidden:
            return []
        text = fit(f"{len(hidden)} done {self._marks.more}", width - cell_len(self._marks.done) - 1)
        return [
            (hidden[0], Content.assemble((self._marks.done, "$success"), " ", (text, "$muted")))
        ]

    def _item(self, index: int, todo: Todo, width: int) -> list[Content]:
        marks, active = self._marks, index == self.current
        mark, mark_style, style = {
            Status.DONE: (marks.done, "$success", "$muted"),
            Status.ACTIVE: (marks.active, "$accent", "bold" if active else ""),
            Status.PENDING: (marks.pending, "$muted", ""),
        }[todo.status]
        if todo.status is Status.ACTIVE and self.paused:
            mark = marks.paused
        indent = cell_len(mark) + 1
        head, more = first_line(todo.content)
        if index in self._opened:
            paragraphs = literal(todo.content, lines=True).split("\n")
            lines = [line for text in paragraphs for line in wrap(text, width - indent)]
        else:
            lines = list(wrap(f"{head} …" if more else head, width - indent))
            if len(lines) > ITEM_LINES:
                rest = " ".join(lines[ITEM_LINES - 1 :])
                lines = [*lines[: ITEM_LINES - 1], fit(rest, width - indent)]
        rows = [
            Content.assemble((mark, mark_style), " ", (line, style))
            if number == 0
            else Content.assemble(" " * indent, (line, style))
            for number, line in enumerate(lines)
        ]
        seconds = self._clock() - self._since
        if active and (self.paused or seconds >= 1):
            took = "paused" if self.paused else duration(int(seconds))
            rows = _with_time(rows, took, width, indent)
        return rows

    def _reveal(self, index: int | None) -> None:
        lines = [line for line, (owner, _) in enumerate(self._rows) if owner == index]
        if lines and self.size.height:
            region = Region(0, lines[0], self.size.width, len(lines))
            self.scroll_to_region(region, animate=False, force=True)


def _with_time(rows: list[Content], took: str, width: int, indent: int) -> list[Content]:
    """Return the rows with a time at the end of the last one, or below it."""
    room = width - rows[-1].cell_length - len(took)
    if room >= 2:
        return [*rows[:-1], Content.assemble(rows[-1], " " * room, (took, "$muted"))]
    return [*rows, Content.assemble(" " * indent, (took, "$muted"))]


def _active(plan: Plan) -> list[str]:
    return [todo.content for todo in plan.todos if todo.status is Status.ACTIVE]
