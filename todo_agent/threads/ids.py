"""The ids of threads: short, sortable by time, and safe as a file name."""

from __future__ import annotations

import re
import secrets
import time

from todo_agent.threads.errors import ThreadError

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
TIME_LENGTH = 9
"""Digits of base 32 for milliseconds since the epoch: enough until the year 3084."""
RANDOM_LENGTH = 6
_VALID = re.compile(r"[a-z0-9-]{1,64}")


def new_id() -> str:
    """Return a fresh id; a later one sorts behind it."""
    milliseconds = int(time.time() * 1000)
    digits = []
    for _ in range(TIME_LENGTH):
        milliseconds, digit = divmod(milliseconds, 32)
        digits.append(ALPHABET[digit])
    random = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return "".join(reversed(digits)) + random


def checked(text: str) -> str:
    """Return the text if it can be an id or the beginning of one.

    Raises:
        ThreadError: it cannot; no path is ever made of it.
    """
    text = text.strip().lower()
    if not text:
        raise ThreadError("A thread's id is missing. See: todo-agent threads list")
    if not _VALID.fullmatch(text):
        raise ThreadError(
            f"{text[:80]!a} is no thread id; ids are made of a-z, 0-9 and -. "
            "See: todo-agent threads list"
        )
    return text
