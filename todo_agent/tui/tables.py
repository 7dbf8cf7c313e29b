"""Lays out tables in cells: side by side where they fit, as records where not. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

GAP = 2
"""Cells between two columns."""
LEAST = 8
"""Cells below which a column is not narrowed."""
HEAD = "bold underline $primary"

Cells = Sequence[Content]


def lay_out(headers: Cells, rows: Sequence[Cells], width: int) -> Iterator[tuple[int, Content]]:
    """Yield the lines of a table, each with the row it belongs to; 0 is the header."""
    widths = _widths([headers, *rows], width)
    if not widths:
        yield from _records(headers, rows)
        return
    for number, row in enumerate([headers, *rows]):
        for line in _row(row, widths):
            yield number, line.stylize_before(HEAD) if number == 0 else line


def _widths(rows: Sequence[Cells], width: int) -> list[int]:
    """Return the width of each column, or nothing where they do not fit."""
    columns = max(len(row) for row in rows)
    widths = [
        max((row[column].cell_length for row in rows if column < len(row)), default=0)
        for column in range(columns)
    ]
    over = sum(widths) + GAP * (columns - 1) - width
    while over > 0:
        widest = max(range(columns), key=widths.__getitem__)
        others = [cells for column, cells in enumerate(widths) if column != widest]
        step = max(min(over, widths[widest] - max(others, default=LEAST)), 1)
        if widths[widest] - step < LEAST:
            return []
        widths[widest] -= step
        over -= step
    return widths


def _row(row: Cells, widths: Sequence[int]) -> Iterator[Content]:
    cells = [cell.wrap(max(width, 1)) for cell, width in zip(row, widths, strict=False)]
    for line in range(max(map(len, cells), default=0)):
        parts = [
            _filled(cell[line] if line < len(cell) else Content(""), width)
            for cell, width in zip(cells, widths, strict=False)
        ]
        yield Content(" " * GAP).join(parts)


def _filled(content: Content, width: int) -> Content:
    return content.append(" " * max(width - content.cell_length, 0))


def _records(headers: Cells, rows: Sequence[Cells]) -> Iterator[tuple[int, Content]]:
    for number, row in enumerate(rows, start=1):
        if number > 1:
            yield number, Content("")
        for header, cell in zip(headers, row, strict=False):
            yield number, Content.assemble(header.stylize_before("bold $primary"), "  ", cell)
