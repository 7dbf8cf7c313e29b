"""Finds literal text in a whole conversation, mounted or not. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from textual.content import Content

from todo_agent.tui.details import head_text, searchable_lines
from todo_agent.tui.entries import Answer, Call, Entry, Notice, Said, Thought, Turn
from todo_agent.tui.markdown import visible_texts
from todo_agent.tui.text import plain

FOUND = "on $warning-muted"
CHOSEN = "bold $background on $warning"


@dataclass(frozen=True)
class Query:
    """What is searched for, as it was typed.

    Capitals count as soon as one is typed; everything else stands for itself.
    """

    text: str

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        flags = re.NOFLAG if any(c.isupper() for c in self.text) else re.IGNORECASE
        return re.compile(re.escape(self.text), flags)

    def starts(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where it begins and ends in a text, each time."""
        if self.text:
            for match in self._pattern.finditer(text):
                yield match.span()

    def marked(self, content: Content, chosen: int | None = None) -> Content:
        """Return content in which what was found stands out, most of all that at `chosen`."""
        for start, end in self.starts(content.plain):
            style = CHOSEN if start == chosen else FOUND
            content = content.stylize(style, start, end)
        return content


@dataclass(frozen=True, slots=True)
class Place:
    """Where in an entry something was found."""

    part: int
    """Which of its texts, in the order in which they stand on the screen."""
    start: int
    """Where in that text."""


@dataclass(frozen=True, slots=True)
class Hit:
    """Where in a conversation something was found."""

    entry: int
    place: Place


@dataclass(frozen=True)
class Find:
    """What a row makes stand out: all that a query finds, and one place more than the others."""

    query: Query
    chosen: Place | None = None

    def at(self, part: int) -> int | None:
        """Return where the chosen place is in one of the texts, if it is in there."""
        return self.chosen.start if self.chosen is not None and self.chosen.part == part else None

    def marked(self, content: Content, part: int) -> Content:
        """Return one of the texts with what was found in it."""
        return self.query.marked(content, self.at(part))


def hits(entry: Entry, query: Query) -> list[Place]:
    """Return the places of an entry where a query is found, in their order on the screen."""
    return [
        Place(part, start)
        for part, text in enumerate(parts(entry))
        for start, _ in query.starts(text)
    ]


def parts(entry: Entry) -> Sequence[str]:
    """Return the texts of an entry, as they are shown when it is open."""
    match entry:
        case Answer(text):
            return visible_texts(text)
        case Said(text):
            return (plain(text).strip("\n"),)
        case Thought(text):
            return (plain(text).strip(),)
        case Call():
            return (head_text(entry), *searchable_lines(entry))
        case Notice(text, hint):
            return (plain(text).strip(), plain(hint).strip())
        case Turn(text):
            return (text,)
