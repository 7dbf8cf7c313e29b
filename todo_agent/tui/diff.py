"""Reads a unified diff into rows with line numbers and colours. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from textual.content import Content

from todo_agent.tui.text import TAB_CELLS, literal

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")

STYLES = {
    "added": "$added on $added-background",
    "removed": "$removed on $removed-background",
    "context": "$foreground",
    "gap": "$muted",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a diff; the number is the one in the new file, or in the old if removed."""

    kind: Literal["added", "removed", "context", "gap"]
    number: int | None
    text: str


def rows(diff: str) -> Iterator[Row]:
    """Yield the lines of a unified diff, without its file headers."""
    old = new = 0
    inside = False
    for line in diff.splitlines():
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
        elif line.startswith("\\"):
            yield Row("gap", None, line[2:])
        else:
            yield Row("context", new, line[1:])
            old, new = old + 1, new + 1


def render(diff: str) -> list[Content]:
    """Return one line of content for each row: number, sign, text."""
    parsed = list(rows(diff))
    digits = max((len(str(row.number)) for row in parsed if row.number is not None), default=1)
    return [_line(row, digits) for row in parsed]


def _line(row: Row, digits: int) -> Content:
    if row.kind == "gap":
        return Content.assemble((f"{'⋮':>{digits}} {row.text}".rstrip(), STYLES["gap"]))
    sign = {"added": "+", "removed": "-", "context": " "}[row.kind]
    number = "" if row.number is None else str(row.number)
    text = literal(row.text.replace("\t", " " * TAB_CELLS))
    style = STYLES[row.kind]
    return Content.assemble((f"{number:>{digits}} ", "$muted"), (f"{sign} {text}", style))
