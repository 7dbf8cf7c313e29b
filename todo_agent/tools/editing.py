"""Literal text replacement that leaves every byte outside the edit alone. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from todo_agent.tools.closest import closest_lines
from todo_agent.tools.encoding import dominant_ending

_NUMBERED = re.compile(r"\s*\d+→")
MAX_ALIGNED_LINES = 2_000
"""Longer replacements in files of mixed line endings are not aligned line by line."""
MAX_LINES_NAMED = 10


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace one text by another: where it stands once, or everywhere."""

    old: str
    new: str
    every: bool = False


@dataclass(frozen=True, slots=True)
class Edited:
    """The whole new text, and how many places changed."""

    text: str
    places: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Why an edit was not made, for the model."""

    reason: str


def replace_text(text: str, edit: Edit) -> Edited | Refused:
    """Return the text with an edit made.

    Both strings are literal. A line break in them stands for whatever ending the file has
    there; lines that stay keep theirs, new ones take the one that most lines have.
    """
    old, new = _unix(edit.old), _unix(edit.new)
    if not old:
        return Refused("old_string is empty; to make a new file or replace a whole one, use write.")
    if old == new:
        return Refused("old_string and new_string are the same, so there is nothing to change.")
    view = _View(text)
    starts = list(_occurrences(view.text, old, overlapping=not edit.every))
    if not starts:
        return Refused(_not_found(view.text, old))
    if len(starts) > 1 and not edit.every:
        return Refused(_not_unique(view.text, starts))
    pieces: list[str] = []
    done = 0
    for start in starts:
        first, last = view.offset(start), view.offset(start + len(old))
        pieces += [text[done:first], with_endings(text, text[first:last], new)]
        done = last
    return Edited("".join([*pieces, text[done:]]), len(starts))


def with_endings(text: str, region: str, new: str) -> str:
    """Return what replaces a region of a text, `new` having plain line feeds.

    Lines that the region and `new` share keep their endings, and so do changed lines that
    have a counterpart; all others take the text's dominant ending.
    """
    if "\n" not in new or "\r\n" not in text:
        return new
    ending = dominant_ending(text)
    if text.count("\r\n") == text.count("\n"):
        return new.replace("\n", ending)
    before, after = _lines(region), _lines(new)
    endings: list[str] = []
    for first, last, start, stop in _aligned(before, after):
        kept = (_ending(line) for line in before[first:last])
        paired = zip_longest(after[start:stop], kept)
        endings += [had or ending for line, had in paired if line is not None]
    return "".join(
        line[:-1] + ending if line.endswith("\n") else line
        for line, ending in zip(after, endings, strict=True)
    )


class _View:
    """A text with plain line feeds, and the way back to its own offsets."""

    def __init__(self, text: str) -> None:
        self.text = _unix(text)
        self._breaks: Sequence[int] = ()
        if len(self.text) != len(text):
            found = re.finditer("\r\n", text)
            self._breaks = [match.start() - index for index, match in enumerate(found)]

    def offset(self, position: int) -> int:
        """Return where a position of the view is in the text."""
        low, high = 0, len(self._breaks)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self._breaks[middle] < position else (low, middle)
        return position + low


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _ending(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""


def _aligned(before: list[str], after: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the ranges of both that stand for each other, in order."""
    if max(len(before), len(after)) > MAX_ALIGNED_LINES:
        yield 0, len(before), 0, len(after)
        return
    bare = [line.rstrip("\r\n") for line in before], [line.rstrip("\n") for line in after]
    for _, *ranges in SequenceMatcher(None, *bare, autojunk=False).get_opcodes():
        first, last, start, stop = ranges
        yield first, last, start, stop


def _occurrences(text: str, old: str, *, overlapping: bool) -> Iterator[int]:
    step = 1 if overlapping else len(old)
    start = text.find(old)
    while start >= 0:
        yield start
        start = text.find(old, start + step)


def _not_unique(text: str, starts: Sequence[int]) -> str:
    numbers = [str(text.count("\n", 0, start) + 1) for start in starts[:MAX_LINES_NAMED]]
    more = ", …" if len(starts) > MAX_LINES_NAMED else ""
    return (
        f"old_string stands in {len(starts)} places (lines {', '.join(numbers)}{more}). Add lines "
        "around the one you mean until it is unique, or set replace_all to change every one."
    )


def _not_found(text: str, old: str) -> str:
    if all(_NUMBERED.match(line) for line in old.split("\n") if line):
        return (
            "old_string was not found. It carries the line numbers that read shows; "
            "leave out everything up to and including the → of each line."
        )
    return f"old_string was not found. {closest_lines(text, old)}"
