"""Reads a unified diff into rows, and lays them out in one column or in two. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from textual.content import Content, Span

from todo_agent.tui.colours import coloured, language_of
from todo_agent.tui.lines import Line
from todo_agent.tui.text import TAB_CELLS, literal

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")

GROUNDS = {"added": "on $added-background", "removed": "on $removed-background"}
SIGNS = {"added": ("+", "$added"), "removed": ("-", "$removed")}
MISSING = Line(Content(""), ground="on $surface")
"""What stands beside a line that only one side has."""

Colours = Mapping[int, Sequence[Span]]
"""By the position of a row: the colours of its text."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a diff; the number is the one in the new file, or in the old if removed."""

    kind: Literal["added", "removed", "context", "gap"]
    number: int | None
    text: str
    old: int | None = None
    """The number of a context line in the old file."""


def rows(diff: str) -> Iterator[Row]:
    """Yield the lines of a unified diff, without its file headers."""
    old = new = 0
    inside = False
    for line in diff.removesuffix("\n").split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            if inside:
                yield Row("gap", None, "")
            old, new, inside = int(hunk[1]), int(hunk[2]), True
        elif not inside:
            if not line.startswith(("--- ", "+++ ", "diff ", "index ")):
                yield Row("context", None, line)
        elif line.startswith("+"):
            yield Row("added", new, line[1:])
            new += 1
        elif line.startswith("-"):
            yield Row("removed", old, line[1:])
            old += 1
        elif line.startswith(("\\", "…")):
            yield Row("gap", None, line.removeprefix("\\ "))
        else:
            yield Row("context", new, line[1:], old)
            old, new = old + 1, new + 1


def shown(row: Row) -> str:
    """Return the text of a row as it is shown: nothing invisible in it stays invisible."""
    return literal(row.text.removesuffix("\r").replace("\t", " " * TAB_CELLS))


def find_colours(parsed: Sequence[Row], path: str) -> Colours:
    """Return the colours of the rows' language. It may take a while: use a thread."""
    language = language_of(path)
    if not language:
        return {}
    found: dict[int, Sequence[Span]] = {}
    for kinds in (("removed", "context"), ("added", "context")):
        for block in _blocks(parsed, kinds):
            code = "".join(f"{shown(parsed[index])}\n" for index in block)
            lines = coloured(code, language).split("\n", allow_blank=True)
            found.update((index, line.spans) for index, line in zip(block, lines, strict=False))
    return found


def unified(parsed: Sequence[Row], colours: Colours) -> list[Line]:
    """Return one line for each row: number, sign, text."""
    digits = _digits(parsed)
    return [_line(row, row.number, digits, colours.get(i, ())) for i, row in enumerate(parsed)]


def side_by_side(parsed: Sequence[Row], colours: Colours) -> tuple[list[Line], list[Line]]:
    """Return the old lines and, beside them, the new ones; both lists are of one length."""
    digits = _digits(parsed)
    left: list[Line] = []
    right: list[Line] = []
    for old, new in pairs(parsed):
        for side, index, lines in (("old", old, left), ("new", new, right)):
            if index is None:
                lines.append(MISSING)
                continue
            row = parsed[index]
            number = row.old if side == "old" and row.kind == "context" else row.number
            lines.append(_line(row, number, digits, colours.get(index, ())))
    return left, right


def pairs(parsed: Iterable[Row]) -> Iterator[tuple[int | None, int | None]]:
    """Yield the positions of the rows that stand beside each other, old and new."""
    removed: list[int] = []
    added: list[int] = []
    for index, row in enumerate(parsed):
        if row.kind == "removed" and not added:
            removed.append(index)
            continue
        if row.kind == "added":
            added.append(index)
            continue
        yield from _beside(removed, added)
        removed, added = ([index], []) if row.kind == "removed" else ([], [])
        if row.kind != "removed":
            yield index, index
    yield from _beside(removed, added)


def render(diff: str) -> list[Content]:
    """Return one line of content for each row: number, sign, text."""
    return [
        Content.assemble(line.gutter, line.text).stylize_before(line.ground)
        for line in unified(list(rows(diff)), {})
    ]


def _beside(
    removed: Sequence[int], added: Sequence[int]
) -> Iterator[tuple[int | None, int | None]]:
    for at in range(max(len(removed), len(added))):
        yield (
            removed[at] if at < len(removed) else None,
            added[at] if at < len(added) else None,
        )


def _blocks(parsed: Sequence[Row], kinds: Sequence[str]) -> Iterator[list[int]]:
    """Yield the rows of one side, by hunk."""
    block: list[int] = []
    for index, row in enumerate(parsed):
        if row.kind == "gap":
            yield block
            block = []
        elif row.kind in kinds:
            block.append(index)
    yield block


def _digits(parsed: Sequence[Row]) -> int:
    numbers = (number for row in parsed for number in (row.number, row.old) if number is not None)
    return max((len(str(number)) for number in numbers), default=1)


def _line(row: Row, number: int | None, digits: int, spans: Sequence[Span]) -> Line:
    if row.kind == "gap":
        return Line(
            Content.styled(shown(row), "$muted"), Content.styled(f"{'⋮':>{digits}} ", "$muted")
        )
    sign, style = SIGNS.get(row.kind, (" ", ""))
    label = "" if number is None else str(number)
    gutter = Content.assemble((f"{label:>{digits}} ", "$muted"), (f"{sign} ", style))
    return Line(Content(shown(row), list(spans)), gutter, GROUNDS.get(row.kind, ""))
