"""What happens to several calls of the tool in one message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from todo_agent.plan.refusal import Refusal


class Admission(Protocol):
    """Judges the whole message before any of its calls runs."""

    def verdict(self, writes: int) -> Refusal | None:
        """Return why none of so many calls may run, or None."""
        ...


@dataclass(frozen=True, slots=True)
class InTurn:
    """They run one after the other, each on what the one before left (S0-33, S2-16)."""

    def verdict(self, writes: int) -> Refusal | None:
        """Let every call run."""
        return None


@dataclass(frozen=True, slots=True)
class OnlyOne:
    """More than one is refused, all of them (S1-15, S1-16)."""

    def verdict(self, writes: int) -> Refusal | None:
        """Refuse two and more."""
        if writes < 2:
            return None
        return Refusal(
            "parallel_calls",
            f"{writes} calls of this tool in one message; send one with the whole list.",
        )
