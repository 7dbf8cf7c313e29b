"""Ids and names of calls as the Messages API takes them."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import count

MAX_NAME = 128
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


def valid_name(name: str) -> str:
    """Return a tool's name that can be sent, whatever the model made up."""
    return _FOREIGN.sub("_", name)[:MAX_NAME] or "unnamed"


def unused_id(id_: str, taken: Collection[str]) -> str:
    """Return a call's id that can be sent and is not taken; the same one where possible."""
    valid = _FOREIGN.sub("_", id_) or "call"
    if valid not in taken:
        return valid
    return next(new for number in count(2) if (new := f"{valid}_{number}") not in taken)
