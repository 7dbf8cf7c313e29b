"""Going back in a thread: what a turn did, and what would be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from todo_agent.agent.messages import Display
from todo_agent.plan.keys import plan_from_json
from todo_agent.plan.plan import Plan
from todo_agent.threads.moments import Moment
from todo_agent.tools.snapshots import Snapshots


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a person with what came of it until the next one."""

    moment: Moment
    before: Plan
    after: Plan
    files: tuple[Path, ...]
    """What the agent's tools changed."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What going back to before a turn would do."""

    turn: Turn
    messages: int
    """So many messages are behind it, its own included."""
    plan: Plan
    """The plan of now."""
    files: Sequence[Display]
    """For each file: the way from what it holds to what it held."""
    conflicts: tuple[Path, ...]
    """Files that somebody else changed too; they would stay as they are."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What goes back."""

    conversation: bool = True
    plan: bool = True
    files: bool = True


def turns(moments: Sequence[Moment], plan: Plan, snapshots: Snapshots) -> tuple[Turn, ...]:
    """Return the turns of a thread in order; `plan` is the plan of now. Reads the disk."""
    befores = [plan_from_json(moment.plan) for moment in moments]
    changed = snapshots.touched([moment.index for moment in moments])
    return tuple(
        Turn(moment, before, after, files)
        for moment, before, after, files in zip(
            moments, befores, [*befores[1:], plan], changed, strict=True
        )
    )
