"""Prompt sections, and the bound on all of them together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

CUT_MARK = "\n[cut: the prompt sections together exceed their limit]"


@dataclass(frozen=True, slots=True)
class PromptSection:
    """A named piece of prompt that a middleware contributes to one model step."""

    name: str
    text: str
    cacheable: bool = False
    """Equal on every step, so it may stand in the cached prefix."""


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is: one for every four bytes, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def bound_sections(
    sections: Iterable[PromptSection], *, max_tokens: int
) -> tuple[tuple[PromptSection, ...], tuple[str, ...]]:
    """Return the sections that fit together, and the names of those cut or left out.

    In order: the first one that does not fit is cut at the bound with a visible mark,
    the ones behind it are left out (S0-47).
    """
    kept: list[PromptSection] = []
    left = max_tokens
    rest = list(sections)
    while rest and estimate_tokens(rest[0].text) <= left:
        section = rest.pop(0)
        left -= estimate_tokens(section.text)
        kept.append(section)
    if rest and left > estimate_tokens(CUT_MARK):
        room = (left - estimate_tokens(CUT_MARK)) * 4
        head = rest[0].text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
        kept.append(replace(rest[0], text=head + CUT_MARK))
    return tuple(kept), tuple(section.name for section in rest)
