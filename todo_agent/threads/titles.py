"""What a thread is called: one line that is safe to show."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size

from todo_agent.agent.messages import Message
from todo_agent.text import plain

MAX_TITLE_CELLS = 80

_TURNS_THE_LINE = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def clean_title(text: str) -> str:
    """Return a title of the first line that has something in it: one line, at most 80 cells.

    Nothing is left in it that a terminal would act on.
    """
    for line in plain(text).splitlines():
        title = " ".join("".join(c for c in line if c == "\t" or not _acts(c)).split())
        if title and cell_len(title) > MAX_TITLE_CELLS:
            return set_cell_size(title, MAX_TITLE_CELLS - 1).rstrip() + "…"
        if title:
            return title
    return ""


def title_of(messages: Iterable[Message]) -> str:
    """Return a title made of the first thing a person wrote, or ""."""
    said = (m.text for m in messages if m.role == "user" and not m.synthetic)
    return next((title for text in said if (title := clean_title(text))), "")


def _acts(char: str) -> bool:
    return (
        unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(char) in _TURNS_THE_LINE
    )
