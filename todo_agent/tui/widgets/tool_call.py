"""A call of a tool: one quiet row that opens to its detail."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from todo_agent.tui import diff
from todo_agent.tui.entries import PLAN_TOOLS, USER_CALL, Call, CallState
from todo_agent.tui.text import breaks, count, duration, first_line, fit, literal, plain
from todo_agent.tui.themes import Marks

LIVE_LINES = 5
"""So many lines of a running call's output show."""
LIVE_CHARS = 20_000
DETAIL_LINES = 400
"""So many lines show when it is opened."""
ERROR_LINES = 3
"""So many lines of an error show without opening it."""
VERB_CELLS = 6
"""Short verbs share one column, so that the objects stand below each other."""
OUTCOME_CELLS = 34
WORTH_TELLING = 0.1
"""Seconds below which it does not matter how long a call took."""


class ToolCallRow(Widget, can_focus=True):
    """`● read   src/a.py   42 lines  0.1s`, and below it what is worth seeing."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter", "open_or_close", "Open or close")]

    opened: reactive[bool] = reactive(default=False, layout=True)

    def __init__(self, entry: Call, marks: Marks) -> None:
        super().__init__()
        self._marks = marks
        self._frame = 0
        self._entry = entry
        self._live = ""
        self.show(entry)

    def show(self, entry: Call) -> None:
        """Show how the call stands now."""
        self._entry = entry
        self._live = plain(entry.output[-LIVE_CHARS:])
        if self.is_mounted:
            self.refresh(layout=True)

    @property
    def running(self) -> bool:
        """Whether its mark turns."""
        return self._entry.state in (CallState.PREPARING, CallState.RUNNING)

    def turn(self, frame: int) -> None:
        """Turn the mark of a running call."""
        self._frame = frame
        self.refresh()

    def on_click(self) -> None:
        """Open or close it."""
        self.action_open_or_close()

    def action_open_or_close(self) -> None:
        """Open or close it."""
        self.opened = not self.opened

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Return the row and the lines below it."""
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        return [self._row(width), *self._below(max(width - 2, 1))]

    def _row(self, width: int) -> Content:
        entry, marks = self._entry, self._marks
        mark, style = {
            CallState.PREPARING: (self._turning(), "$primary"),
            CallState.RUNNING: (self._turning(), "$primary"),
            CallState.DONE: (marks.call, "$success"),
            CallState.FAILED: (marks.failed, "$error"),
            CallState.WAITING: (marks.waiting, "$muted"),
        }[entry.state]
        verb = "!" if entry.id.startswith(USER_CALL) else first_line(entry.name)[0] or "call"
        if entry.name in PLAN_TOOLS:
            style = "$muted" if entry.state is CallState.DONE else style
            verb = "plan"
        head = f" {_padded(fit(verb, 16))} "
        outcome = self._outcome()
        room = width - cell_len(mark) - cell_len(head) - cell_len(outcome) - (2 if outcome else 0)
        title, more = ("", False) if entry.name in PLAN_TOOLS else first_line(entry.title)
        title = fit(f"{title} …" if more else title, room)
        dim = "$muted" if entry.name in PLAN_TOOLS else ""
        return Content.assemble(
            (mark, style),
            (head, "$muted" if dim else "bold"),
            (title, dim),
            (f"{'  ' if title and outcome else ''}{outcome}", "$muted"),
        )

    def _turning(self) -> str:
        return self._marks.spinner[self._frame % len(self._marks.spinner)]

    def _outcome(self) -> str:
        entry = self._entry
        match entry.state:
            case CallState.PREPARING:
                return "…"
            case CallState.RUNNING:
                return ""
            case CallState.WAITING:
                return "did not run"
            case CallState.DONE:
                summary = fit(literal(entry.display.summary), OUTCOME_CELLS)
            case CallState.FAILED:
                summary = "failed"
                if entry.result is not None and entry.result.display is not None:
                    summary = fit(literal(entry.result.display.summary), OUTCOME_CELLS)
        seconds = entry.seconds or 0.0
        says_itself = entry.display.kind == "output"
        took = duration(seconds) if seconds >= WORTH_TELLING and not says_itself else ""
        return "  ".join(part for part in (summary, took) if part)

    def _below(self, width: int) -> list[Content]:
        entry = self._entry
        if entry.state is CallState.RUNNING:
            return self._output(width)
        if self.opened:
            return self._detail(width)
        if entry.state is CallState.FAILED:
            return self._error(width)
        return []

    def _output(self, width: int) -> list[Content]:
        lines = self._live.rstrip("\n").split("\n") if self._live.strip() else []
        shown = lines[-LIVE_LINES:]
        return [_indented(Content.styled(fit(line, width - 2), "$muted")) for line in shown]

    def _error(self, width: int) -> list[Content]:
        """Return the first lines of a message, or the last ones of a program's output."""
        entry = self._entry
        if entry.result is None:
            return []
        shown = entry.result.display
        output = shown is not None and shown.kind == "output" and bool(shown.body.strip())
        text = shown.body if shown is not None and output else entry.result.text
        lines = [line for line in plain(text).split("\n") if line.strip()]
        few = lines[-ERROR_LINES:] if output else lines[:ERROR_LINES]
        return [_indented(Content.styled(fit(line, width - 2), "$error")) for line in few]

    def _detail(self, width: int) -> list[Content]:
        entry = self._entry
        shown = entry.display
        body = shown.body or (entry.result.text if entry.result is not None else "")
        title, more = first_line(entry.title)
        whole = f"{plain(entry.title)}\n" if more or cell_len(title) > width - 16 else ""
        if shown.kind == "diff":
            lines = [line.extend_right(width - 2 - line.cell_length) for line in diff.render(body)]
        else:
            style = "$error" if entry.state is CallState.FAILED else ""
            text = plain(body).strip("\n")
            lines = [Content.styled(line, style) for line in text.split("\n")] if text else []
        hidden = len(lines) - DETAIL_LINES
        lines = [Content.styled(line, "$primary") for line in whole.splitlines()] + lines
        folded = [part for line in lines[:DETAIL_LINES] for part in _folded(line, width - 2)]
        if not folded:
            folded = [Content.styled("no output", "$muted")]
        if hidden > 0:
            folded.append(Content.styled(f"… {count(hidden, 'more line')}", "$muted"))
        return [_indented(line) for line in folded]


def _folded(line: Content, width: int) -> list[Content]:
    if line.cell_length <= max(width, 2):
        return [line]
    return line.divide(breaks(line.plain, width))


def _padded(verb: str) -> str:
    return verb + " " * (VERB_CELLS - cell_len(verb))


def _indented(line: Content) -> Content:
    return Content.assemble("  ", line)
