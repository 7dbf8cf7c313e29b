"""What the thread remembers about its plan beside the plan itself."""

from __future__ import annotations

from dataclasses import dataclass

from todo_agent.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Marks:
    """Kept in the state, so that it survives an interrupt, a crash and a restart."""

    discipline: str = ""
    """Under which discipline the plan was last in use; empty before the first run."""
    run_open: bool = False
    """A run is under way, or the last one ended without an answer."""
    interrupted: str = ""
    """The todo that was in progress when a run ended without an answer, until the model
    writes the plan again or answers."""
    known: Plan | None = None
    """The plan as the model knows it, where a person has changed it since."""
