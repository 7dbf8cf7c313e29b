"""The plan beside the conversation: always in view, and editable by hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widgets import Static

from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.tui.plan_edits import dropped, moved, with_next_status
from todo_agent.tui.progress import Progress, bar, change
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
        Binding("x", "clear_plan", "Clear"),
        Binding("tab", "app.next_place", "Conversation", show=False, id="next_place"),
        Binding("shift+tab", "app.next_mode", "Next permission mode", show=False, id="next_mode"),
    ]

    plan: reactive[Plan] = reactive(Plan())
    paused: reactive[bool] = reactive(default=False)
    """Nothing works on the current todo."""
    cursor: reactive[int] = reactive(0)

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
        if index == self.cursor:
            self.action_open()
        self.cursor = index

    def action_move(self, by: int) -> None:
        """Choose another todo."""
        self.cursor = max(0, min(self.cursor + by, len(self.plan.todos) - 1))

    def action_add(self) -> None:
        """Ask for a new todo behind the chosen one."""
        self.post_message(self.EditRequested(self.cursor, new=True))

    def action_edit(self) -> None:
        """Ask for another text of the chosen todo."""
        if self.plan.todos:
            self.post_message(self.EditRequested(self.cursor, new=False))

    def action_drop(self) -> None:
        """Delete the chosen todo."""
        if self.plan.todos:
            self.post_message(self.Edited(dropped(self.plan, self.cursor)))

    def action_clear_plan(self) -> None:
        """Delete all todos."""
        if self.plan.todos:
            self.post_message(self.Edited(Plan()))

    def action_shift(self, by: int) -> None:
        """Move the chosen todo up or down."""
        index, target = self.cursor, self.cursor + by
        if not self.plan.todos or not 0 <= target < len(self.plan.todos):
            return
        self.post_message(self.Edited(moved(self.plan, index, target)))
        self.cursor = target

    def action_next_status(self) -> None:
        """Give the chosen todo the next status: pending, in progress, done."""
        if self.plan.todos:
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
            (index, line)
            for index, todo in enumerate(self.plan.todos)
            for line in self._item(index, todo, width)
        ]
        self.virtual_size = Size(width, len(self._rows))
        last = max(len(self._rows) - self.size.height, 0)
        if self.scroll_offset.y > last:
            self.scroll_to(y=last, animate=False, force=True, immediate=True)
        self.refresh()

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


class PlanPane(Vertical):
    """Head, bar and list of the plan; a click or a key on the list edits it."""

    plan: reactive[Plan] = reactive(Plan())

    def __init__(self, marks: Marks, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._marks = marks
        self._change = ""
        self._head = Static(id="plan-head", markup=False)
        self._bar = Static(id="plan-bar", markup=False)
        self._list = PlanList(marks, clock)
        self._foot = Static(id="plan-foot", markup=False)

    @property
    def todos(self) -> PlanList:
        """The list, to give it the focus."""
        return self._list

    def compose(self) -> ComposeResult:
        """Lay out head, bar, list and foot."""
        yield self._head
        yield self._bar
        yield self._list
        yield self._foot

    def on_mount(self) -> None:
        """Keep the foot true while the list scrolls."""
        self.watch(self._list, "scroll_y", self._show_foot, init=False)
        self.watch(self._list, "has_focus", self._show_foot, init=False)

    def watch_plan(self, before: Plan, after: Plan) -> None:
        """Show another plan."""
        self._change = change(before, after) if before.todos else ""
        self._list.plan = after
        self._show_head()
        self.call_after_refresh(self._show_foot)

    def on_resize(self, event: events.Resize) -> None:
        """Draw the bar for another width."""
        self._show_head()
        self.call_after_refresh(self._show_foot)

    def show_paused(self, *, paused: bool) -> None:
        """Mark the current todo as resting, or as being worked on."""
        self._list.paused = paused

    def tick(self) -> None:
        """Show the time of the current todo."""
        self._list.tick()

    def _show_head(self) -> None:
        progress = Progress.of(self.plan)
        width = max(self.content_size.width, 1)
        space = max(width - len("Plan") - len(progress.label), 1)
        self._head.update(
            Content.assemble(("Plan", "bold"), " " * space, (progress.label, "$muted"))
        )
        self._bar.update(bar(progress, width, self._marks))

    def _show_foot(self) -> None:
        hidden = self._list.hidden_below
        more = f"+{hidden} more {self._marks.more}" if hidden else ""
        if self._list.has_focus:
            more = "a add  e edit  d drop  space next"
        parts = [part for part in (more, self._change) if part]
        self._foot.update(Content.styled(f" {self._marks.dot} ".join(parts), "$muted"))
        self._foot.display = bool(parts)
