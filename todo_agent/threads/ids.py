"""The names of threads: short, sortable by time, safe as a directory's name."""

from __future__ import annotations

import re
import secrets

from todo_agent.threads.errors import ThreadError

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Base 32 without letters that look alike, in the order in which they sort."""
TIME_CHARS = 9
"""Milliseconds since 1970, until the year 3084."""
RANDOM_CHARS = 6
MAX_SHOWN = 40

_ID = re.compile(r"[a-z0-9-]{1,64}")


def new_id(now: float) -> str:
    """Return an id for a thread that begins at `now` (seconds since 1970).

    Later ids sort behind earlier ones; the end of an id cannot be guessed.
    """
    chance = secrets.randbits(5 * RANDOM_CHARS)
    return _digits(int(now * 1000), TIME_CHARS) + _digits(chance, RANDOM_CHARS)


def is_id(name: str) -> bool:
    """Return whether a name may be used in a path."""
    return _ID.fullmatch(name) is not None


def check_id(name: str) -> str:
    """Return the name of a thread, or the beginning of one, if it may be used in a path.

    Capital letters are taken for small ones.

    Raises:
        ThreadError: it is blank, or has other characters than a-z, 0-9 and "-".
    """
    if not name.strip():
        raise ThreadError("Name a thread by its id, or by the beginning of one.")
    lower = name.lower() if name.isascii() else name
    if not is_id(lower):
        shown = name if len(name) <= MAX_SHOWN else name[:MAX_SHOWN] + "…"
        raise ThreadError(
            f"{shown!a} is no thread id. An id has up to 64 of the characters a-z, 0-9 and '-'."
        )
    return lower


def _digits(number: int, length: int) -> str:
    digits = (ALPHABET[number >> (5 * place) & 31] for place in range(length))
    return "".join(digits)[::-1]
