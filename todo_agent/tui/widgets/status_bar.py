"""The last line of the screen: what runs, and the few numbers one wants to see always."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from todo_agent.agent.modes import Mode
from todo_agent.tui.text import cost, duration, first_line, fit, tokens
from todo_agent.tui.themes import Marks

Part: TypeAlias = tuple[str, str]

MODE_STYLES = {
    Mode.ASK: "$primary",
    Mode.ACCEPT_EDITS: "$success",
    Mode.PLAN: "$secondary",
    Mode.AUTO: "$warning",
}


@dataclass(frozen=True, slots=True)
class Vitals:
    """What the line shows of a session."""

    mode: Mode = Mode.ASK
    model: str = ""
    context_tokens: int = 0
    context_window: int = 0
    cost_usd: float | None = None
    thread: str = ""
    scripted: bool = False
    read_only: bool = False
    unsaved: bool = False
    background: int = 0
    """Commands that run in the background."""


class StatusBar(Widget):
    """Left: the activity or a hint. Right: mode, model, context, cost, thread."""

    vitals: reactive[Vitals] = reactive(Vitals())
    hint: reactive[str] = reactive("")
    """Said in place of everything on the left for a moment, such as "again to quit"."""
    activity: reactive[str] = reactive("")
    """What goes on, in one word; empty while nothing does."""
    stoppable: reactive[bool] = reactive(default=False)

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self._marks = marks
        self._frame = 0
        self._seconds = 0.0

    def turn(self, frame: int, seconds: float) -> None:
        """Turn the mark and show how long the run takes already."""
        self._frame, self._seconds = frame, seconds
        self.refresh()

    def render(self) -> Content:
        """Return the line; what matters least goes first when there is no room."""
        width = self.content_size.width
        right = self._numbers()
        left = self._left()
        while right and left.cell_length + _length(right) + 3 > width:
            right.pop(_least(right))
        shown = _joined([(text, style) for text, style, _ in right])
        space = width - left.cell_length - shown.cell_length
        if space < 1:
            return left.truncate(width, ellipsis=True)
        return Content.assemble(left, " " * space, shown)

    def _left(self) -> Content:
        if self.hint:
            return Content.styled(fit(self.hint, self.content_size.width), "$warning")
        if not self.activity:
            return Content.styled("? for keys", "$muted")
        mark = self._marks.spinner[self._frame % len(self._marks.spinner)]
        took = f" {duration(int(self._seconds))}" if self._seconds >= 1 else ""
        stop = "  esc to interrupt" if self.stoppable else ""
        return Content.assemble((f"{mark} ", "$primary"), self.activity, (took + stop, "$muted"))

    def _numbers(self) -> list[tuple[str, str, int]]:
        """Return text, style and rank of each part; the lowest rank goes first."""
        vitals = self.vitals
        parts = [(vitals.mode.value, MODE_STYLES[vitals.mode], 9)]
        if vitals.scripted:
            parts.append(("scripted model", "$warning", 8))
        elif vitals.model:
            parts.append((first_line(vitals.model)[0], "$muted", 6))
        if vitals.read_only:
            parts.append(("read-only", "$warning", 7))
        if vitals.unsaved:
            parts.append(("not saved", "$error", 8))
        if vitals.background:
            parts.append((f"{vitals.background} in background", "$primary", 7))
        if vitals.context_window and vitals.context_tokens:
            used = min(vitals.context_tokens * 100 // vitals.context_window, 999)
            style = "$error" if used >= 90 else "$warning" if used >= 75 else "$muted"
            parts.append((f"{used}% of {tokens(vitals.context_window)}", style, 5))
        if vitals.cost_usd is not None and not vitals.scripted:
            parts.append((cost(vitals.cost_usd), "$muted", 4))
        if vitals.thread:
            parts.append((vitals.thread, "$muted", 2))
        return parts


def _joined(parts: list[Part]) -> Content:
    return Content("  ").join(Content.styled(text, style) for text, style in parts)


def _length(parts: list[tuple[str, str, int]]) -> int:
    return sum(len(text) + 2 for text, _, _ in parts)


def _least(parts: list[tuple[str, str, int]]) -> int:
    return min(range(len(parts)), key=lambda i: parts[i][2])
