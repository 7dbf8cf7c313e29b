"""Text of foreign origin, made safe for a terminal."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


def plain(text: str) -> str:
    """Return text without anything a terminal would act on; newlines and tabs stay."""
    return _CONTROL.sub("", text)
