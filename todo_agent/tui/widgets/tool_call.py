"""A call of a tool: one quiet row that opens to its detail."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from todo_agent.tui import details
from todo_agent.tui.entries import PLAN_TOOLS, Call, CallState
from todo_agent.tui.searching import Find, Place
from todo_agent.tui.text import count, duration, fit
from todo_agent.tui.themes import Marks
from todo_agent.tui.widgets.diff_view import DiffView
from todo_agent.tui.widgets.text_lines import TextLines

LIVE_ROWS = 8
"""So many rows of a running call's output show."""
DETAIL_ROWS = 20
"""So many rows of an opened output show; it scrolls inside."""
DETAIL_LINES = 400
"""So many lines show when it is opened, until all are asked for."""
CHANGE_LINES = 80
"""So many rows of a diff show when it is opened, until all are asked for."""
VERB_CELLS = 6
"""Short verbs share one column, so that the objects stand below each other."""
OUTCOME_CELLS = 34
TITLE_CELLS = 20
"""Where there is less room for what a call is about, its outcome is told in fewer words."""
WHY_CELLS = 24
"""Where there is less room for why a call failed, that stands in a row of its own."""
SLOW = 1.0
"""Seconds from which on a running call says for how long it runs."""


class CallHead(Widget):
    """`● read   src/a.py  42 lines · 0.1s`, and why it failed if it did."""

    def __init__(self, entry: Call, marks: Marks) -> None:
        super().__init__()
        self.entry = entry
        self.find: Find | None = None
        self.opened = False
        """Whether the reason of a failure stands below anyway."""
        self._marks = marks
        self._frame = 0
        self._seconds = 0.0

    def turn(self, frame: int, seconds: float) -> None:
        """Turn the mark, and say how long it runs."""
        self._frame, self._seconds = frame, seconds
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return 1, or 2 where the reason of a failure has no room beside the rest."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Return the row."""
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        entry = self.entry
        mark, style = self._mark()
        verb = fit(details.verb(entry), 16)
        head = f" {verb}{' ' * (VERB_CELLS - cell_len(verb))} "
        whole, outcome = details.title(entry), fit(self._outcome(), OUTCOME_CELLS)
        reason = details.why(entry)
        room = width - cell_len(mark) - cell_len(head) - 2
        if room - cell_len(outcome) < min(cell_len(whole), TITLE_CELLS):
            outcome = outcome.partition(" · ")[0]
        title = fit(whole, room - cell_len(outcome))
        tail = f"  {outcome}" if outcome else ""
        plan = entry.name in PLAN_TOOLS
        line = Content.assemble(
            (mark, style),
            (head, "$muted" if plan else "bold"),
            title,
            (tail if title else outcome, "$error" if reason else "$muted"),
        )
        if self.find is not None:
            line = self.find.marked(line, 0)
        if not reason or reason == outcome or self.opened:
            return [line]
        left = width - line.cell_length - 2
        if left >= min(cell_len(reason), WHY_CELLS):
            return [Content.assemble(line, (f"  {fit(reason, left)}", "$muted"))]
        return [line, Content.styled(f"  {fit(reason, width - 2)}", "$muted")]

    def _mark(self) -> tuple[str, str]:
        marks = self._marks
        match self.entry.state:
            case CallState.PREPARING | CallState.RUNNING:
                return marks.spinner[self._frame % len(marks.spinner)], "$primary"
            case CallState.DONE:
                return marks.call, "$muted" if self.entry.name in PLAN_TOOLS else "$success"
            case CallState.FAILED:
                return marks.failed, "$error"
            case CallState.WAITING:
                return marks.waiting, "$muted"

    def _outcome(self) -> str:
        if self.entry.state is CallState.RUNNING and self._seconds >= SLOW:
            return duration(round(self._seconds))
        return details.outcome(self.entry)


class ToolCallRow(Widget, can_focus=True):
    """The row of a call and, below it, what is worth seeing.

    A click or Enter opens it. While it runs, the last of its output shows.
    """

    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open_or_close", "Open or close", show=False)
    ]

    opened: reactive[bool] = reactive(default=False)

    def __init__(self, entry: Call, marks: Marks) -> None:
        super().__init__()
        self._entry = entry
        self._head = CallHead(entry, marks)
        self._body: TextLines | None = None
        self._shown: tuple[Call, bool, bool] | None = None
        """What the rows below the head show."""
        self._whole = False
        self._find: Find | None = None

    def compose(self) -> ComposeResult:
        """Lay out the row, and what is below it."""
        yield self._head
        yield from self._below()

    def on_mount(self) -> None:
        """Catch up with what became of the call while the row was made."""
        self._show_below()

    def show(self, entry: Call) -> None:
        """Show how the call stands now."""
        before, self._entry = self._entry, entry
        self._head.entry = entry
        self._head.refresh(layout=True)
        live = entry.state is CallState.RUNNING and before.state is CallState.RUNNING
        if live and self._body is not None:
            self._body.show(details.live_lines(entry, LIVE_ROWS))
        elif self.is_mounted:
            self._show_below()

    @property
    def running(self) -> bool:
        """Whether its mark turns."""
        return self._entry.state in (CallState.PREPARING, CallState.RUNNING)

    @property
    def has_more(self) -> bool:
        """Whether lines are hidden that can be shown."""
        return self.opened and not self._whole and self._hidden() > 0

    def turn(self, frame: int, now: float) -> None:
        """Turn the mark of a running call."""
        since = self._entry.since
        self._head.turn(frame, 0.0 if since is None else now - since)

    def find(self, find: Find | None) -> None:
        """Let what was found stand out."""
        self._find = self._head.find = find
        self._head.refresh()
        if self._body is not None:
            self._body.find(find, part=1)

    def reveal(self, place: Place) -> int:
        """Open what hides a place; return its row from the top of this one."""
        if place.part == 0:
            return 0
        self._whole = self._whole or place.part > self._limit()
        self.set_reactive(ToolCallRow.opened, True)  # noqa: FBT003 -- Textual's signature
        self._show_below()
        return 1 if self._body is None else 1 + self._body.reveal(place.part - 1, place.start)

    def on_click(self, event: events.Click) -> None:
        """Open or close it from its row, show all from the last line."""
        if self.screen.selections:
            return
        if event.widget is self._head:
            self.action_open_or_close()
        elif isinstance(event.widget, MoreLine):
            self.show_all()

    def key_m(self, event: events.Key) -> None:
        """Show all lines, where some are hidden."""
        if self.has_more:
            event.stop()
            self.show_all()

    def action_open_or_close(self) -> None:
        """Open or close it."""
        self.opened = not self.opened

    def show_all(self) -> None:
        """Show the lines that are hidden."""
        if self.has_more:
            self._whole = True
            self._show_below()

    def scroll_lines(self, by: int) -> bool:
        """Scroll what is open inside; return whether there was anywhere to go."""
        return self._body is not None and self._body.scroll_lines(by)

    def watch_opened(self) -> None:
        """Show the detail, or no longer."""
        if self.is_mounted:
            self._show_below()

    def _show_below(self) -> None:
        """Make the rows below the head new, if they are of another state."""
        if self._shown == (self._entry, self.opened, self._whole):
            return
        with self.app.batch_update():
            self.query_children("TextLines, MoreLine").remove()
            self._body = None
            self.mount_all(list(self._below()))

    def _below(self) -> ComposeResult:
        self._body = self._make_body()
        self._shown = (self._entry, self.opened, self._whole)
        self._head.opened = self.opened
        self._head.refresh(layout=True)
        if self._body is not None:
            self._body.find(self._find, part=1)
            yield self._body
        if self.has_more:
            yield MoreLine(self._hidden())

    def _make_body(self) -> TextLines | None:
        entry = self._entry
        if entry.state is CallState.RUNNING:
            return TextLines(details.live_lines(entry, LIVE_ROWS), most=LIVE_ROWS)
        if not self.opened:
            return None
        shown = details.detail(entry)
        limit = None if self._whole else self._limit()
        if shown.changes:
            return DiffView(shown.changes[:limit], shown.path)
        return TextLines(shown.lines[:limit], most=DETAIL_ROWS)

    def _limit(self) -> int:
        return CHANGE_LINES if self._entry.display.kind == "diff" else DETAIL_LINES

    def _hidden(self) -> int:
        shown = details.detail(self._entry)
        return max(len(shown.changes or shown.lines) - self._limit(), 0)


class MoreLine(Static):
    """Says how many lines are hidden."""

    ALLOW_SELECT = False

    def __init__(self, hidden: int) -> None:
        text = Content.assemble(
            (f"… {count(hidden, 'more line')}", "$muted"), ("  m shows all", "$accent")
        )
        super().__init__(text, markup=False)
