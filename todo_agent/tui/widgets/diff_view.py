"""A change of a file: side by side where there is room, in the colours of its language."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from todo_agent.tui import diff
from todo_agent.tui.lines import Line
from todo_agent.tui.widgets.text_lines import TextLines

WIDE = 104
"""From so many cells on, the old lines stand beside the new ones."""


class DiffView(TextLines):
    """Shows the rows of a diff; colours come as soon as they are found."""

    def __init__(self, rows: Sequence[diff.Row], path: str) -> None:
        super().__init__()
        self._changes = rows
        self._sides = list(diff.pairs(rows))
        self._path = path
        self._colours: diff.Colours = {}

    def on_mount(self) -> None:
        """Look for the colours without holding up the keyboard."""
        self.run_worker(self._colour(), group="colours", exclusive=True)

    def show_rows(self, rows: Sequence[diff.Row]) -> None:
        """Show more rows."""
        self._changes = rows
        self._sides = list(diff.pairs(rows))
        self.arrange_again()
        self.run_worker(self._colour(), group="colours", exclusive=True)

    def columns(self, width: int) -> Sequence[Sequence[Line]]:
        """Return the old and the new lines, or all below each other."""
        if width >= WIDE:
            return diff.side_by_side(self._changes, self._colours)
        return (diff.unified(self._changes, self._colours),)

    def part_of(self, line: int) -> int:
        """Return the row of the diff that a line shows."""
        if self._width < WIDE:
            return line
        side, index = divmod(line, len(self._sides))
        row = self._sides[index][side]
        return -1 if row is None else row

    def line_of(self, part: int) -> int:
        """Return the line that shows a row of the diff."""
        if self._width < WIDE:
            return part
        return next(
            index + side * len(self._sides)
            for side in (1, 0)
            for index, pair in enumerate(self._sides)
            if pair[side] == part
        )

    async def _colour(self) -> None:
        self._colours = await asyncio.to_thread(diff.find_colours, self._changes, self._path)
        if self._colours:
            self.arrange_again()
