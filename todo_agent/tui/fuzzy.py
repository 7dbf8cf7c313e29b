"""Finds what a person means from a few letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

GOOD_ENOUGH = 60
"""Of 100. Below it a hit shares little more than its letters with the query."""


def best(query: str, items: Iterable[T], *, text: Callable[[T], str], limit: int) -> Sequence[T]:
    """Return the items that fit a query, best first; the first ones for an empty query.

    What begins with the query comes first, then what contains it, then what resembles it.
    """
    # It is not needed before the first letter is typed, and the first frame comes before.
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    query = query.casefold().strip()
    candidates = list(items)
    if not query:
        return candidates[:limit]
    texts = [text(item).casefold() for item in candidates]
    hits = process.extract(
        query, texts, scorer=fuzz.WRatio, limit=limit * 8, score_cutoff=GOOD_ENOUGH
    )
    ranked = sorted(hits, key=lambda hit: _rank(query, hit[0], hit[1]))
    return [candidates[index] for _, _, index in ranked[:limit]]


def _rank(query: str, text: str, score: float) -> tuple[int, float, int]:
    name = text.rpartition("/")[2]
    place = 0 if text.startswith(query) or name.startswith(query) else 1 if query in text else 2
    return place, -score, len(text)
