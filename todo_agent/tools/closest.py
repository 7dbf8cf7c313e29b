"""Finds the lines of a text that come closest to a wanted one, and shows what differs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, zip_longest

MAX_LINES = 200_000
"""So many lines of a text are searched."""
MAX_COLUMNS = 200
MAX_SHOWN = 6
MIN_LIKENESS = 55.0
"""In percent; below it, lines have nothing to do with each other."""


def closest_lines(text: str, wanted: str) -> str:
    """Say where a text comes closest to a wanted one, and what differs there."""
    lines = text.split("\n", MAX_LINES)[:MAX_LINES]
    asked = wanted.strip("\n").split("\n")
    start = _closest(lines, asked)
    if start is None:
        return "Nothing in the file resembles it; read the file again."
    present = lines[start : start + len(asked)]
    pairs = zip_longest(present, asked, fillvalue="")
    differing = (
        (start + index + 1, has, sent)
        for index, (has, sent) in enumerate(pairs)
        if has.removesuffix("\r") != sent
    )
    shown = [
        f"line {number} of the file: {visible(has)}\nline {number} you sent:     {visible(sent)}"
        for number, has, sent in islice(differing, MAX_SHOWN)
    ]
    where = (
        f"line {start + 1}" if len(present) == 1 else f"lines {start + 1}-{start + len(present)}"
    )
    if not shown:
        return f"Only blank lines around it differ; the text itself is at {where}."
    return "\n".join([f"The closest is {where}; what differs (→ is a tab, · a space):", *shown])


def visible(line: str) -> str:
    """Return a line with its tabs, its outer spaces and every unusual character visible."""
    line = line[:MAX_COLUMNS] + ("…" if len(line) > MAX_COLUMNS else "")
    body = line.strip(" \t")
    lead = line[: len(line) - len(line.lstrip(" \t"))]
    tail = line[len(lead) + len(body) :]
    edge = str.maketrans({" ": "·", "\t": "→"})
    inner = "".join(
        "→" if c == "\t" else c if c.isprintable() else c.encode("unicode_escape").decode()
        for c in body
    )
    return lead.translate(edge) + inner + tail.translate(edge)


def _closest(lines: Sequence[str], asked: Sequence[str]) -> int | None:
    # Only a failed edit needs it, and it is slow to import.
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    anchor = max(range(len(asked)), key=lambda index: len(asked[index].strip()))
    candidates = process.extract(
        _plain(asked[anchor]),
        [_plain(line) for line in lines],
        scorer=fuzz.ratio,
        limit=5,
        score_cutoff=MIN_LIKENESS,
    )
    if not candidates or not asked[anchor].strip():
        return None

    def likeness(start: int) -> float:
        pairs = list(islice(zip(lines[start:], asked, strict=False), 50))
        return sum(fuzz.ratio(_plain(has), _plain(sent)) for has, sent in pairs) / len(asked)

    starts = [max(index - anchor, 0) for _, _, index in candidates]
    return max(starts, key=likeness)


def _plain(line: str) -> str:
    return line[:MAX_COLUMNS].strip()
