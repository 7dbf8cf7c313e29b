"""Long lines of text laid out in rows of cells, in one column or side by side. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from textual.content import Content

from todo_agent.tui.text import breaks

GAP = 1
"""Cells between two columns."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, however long."""

    text: Content
    """What can be selected and found. Without newlines."""
    gutter: Content = Content("")
    """What stands before it, on its first row only; it is never copied."""
    ground: str = ""
    """The style below all of its cells."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a line that stands in one row of one column."""

    line: int
    """Position of the line in all columns one after the other."""
    start: int
    end: int
    """Where the part begins and ends in the text; both 0 behind the line's end."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands at a width."""

    columns: Sequence[Sequence[Line]]
    """Of one length each: lines at one position stand beside each other."""
    widths: Sequence[int]
    """Cells of each column."""
    rows: Sequence[tuple[Piece, ...]]
    """One piece for each column."""

    def line(self, number: int) -> Line:
        """Return a line by its position in all columns one after the other."""
        column, index = divmod(number, len(self.columns[0]))
        return self.columns[column][index]

    def row_of(self, line: int, at: int) -> int:
        """Return the row in which a place of a line stands."""
        found = 0
        for number, pieces in enumerate(self.rows):
            for piece in pieces:
                if piece.line == line and piece.start <= at:
                    found = number
        return found


def arrange(columns: Sequence[Sequence[Line]], width: int) -> Layout:
    """Break the lines of columns that share a width, so that every part fits."""
    count = len(columns[0])
    widths = _shares(width, len(columns))
    rows: list[tuple[Piece, ...]] = []
    for index in range(count):
        parts = [
            _parts(column[index], number * count + index, cells)
            for number, (column, cells) in enumerate(zip(columns, widths, strict=True))
        ]
        rows.extend(
            tuple(part[row] if row < len(part) else Piece(part[0].line, 0, 0) for part in parts)
            for row in range(max(len(part) for part in parts))
        )
    return Layout(columns, widths, rows)


def _shares(width: int, columns: int) -> list[int]:
    """Return the width of each column; the first ones get what is left over."""
    cells = max(width - GAP * (columns - 1), columns)
    each, over = divmod(cells, columns)
    return [each + (number < over) for number in range(columns)]


def _parts(line: Line, number: int, width: int) -> list[Piece]:
    text = line.text.plain
    room = width - line.gutter.cell_length
    places = [0, *breaks(text, room), len(text)]
    return [Piece(number, start, end) for start, end in pairwise(places)]
