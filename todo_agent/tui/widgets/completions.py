"""The list above the prompt that completes commands and file names as one types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from todo_agent.tui.text import fit, fit_left

SHOWN = 8


@dataclass(frozen=True, slots=True)
class Completion:
    """One offer: what it puts into the draft, and what it is."""

    insert: str
    label: str
    description: str = ""
    runs: bool = False
    """Enter sends it at once; it needs nothing more."""


class Completions(Widget):
    """A few offers, one of them chosen. The keys stay with the prompt."""

    def __init__(self) -> None:
        super().__init__()
        self._offers: Sequence[Completion] = ()
        self._at = 0
        self.display = False

    @property
    def chosen(self) -> Completion | None:
        """The offer that Enter takes."""
        return self._offers[self._at] if self._offers else None

    def offer(self, offers: Sequence[Completion]) -> None:
        """Show other offers; none closes the list."""
        if offers == self._offers:
            return
        self._offers, self._at = offers, 0
        self.display = bool(offers)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Choose the next or the previous offer, around the ends."""
        if self._offers:
            self._at = (self._at + by) % len(self._offers)
            self.refresh()

    def render(self) -> Content:
        """Return the offers around the chosen one."""
        width = self.content_size.width
        first = max(0, min(self._at - SHOWN // 2, len(self._offers) - SHOWN))
        shown = self._offers[first : first + SHOWN]
        column = min(max((cell_len(o.label) for o in shown), default=0), max(width - 4, 1))
        lines = []
        for index, offer in enumerate(shown, first):
            label = fit(offer.label, column) if offer.description else fit_left(offer.label, width)
            gap = " " * (column - cell_len(label) + 3)
            room = width - cell_len(label) - len(gap)
            line = Content.assemble(
                (label, "bold $primary" if index == self._at else ""),
                (f"{gap}{fit(offer.description, room)}" if offer.description else "", "$muted"),
            )
            lines.append(line.extend_right(width - line.cell_length))
        return Content("\n").join(lines)
