"""Why a list was not taken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rule that was broken, and a sentence that says how to do it right."""

    code: str
    """The rule's name in the spec, such as `too_many`."""
    message: str

    def __str__(self) -> str:
        return f"Refused ({self.code}): {self.message} The plan is unchanged."
