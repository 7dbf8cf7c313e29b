"""What the host keeps of a request while it is served."""

from __future__ import annotations

from dataclasses import dataclass, field

from todo_agent.extensions.base import Request


@dataclass
class Serving:
    """One request that is under way."""

    request: Request
    opens_history: bool
    """Nothing was appended before it."""
    has_begun: bool = False
    """`before_run` was called."""
    skipped: set[str] = field(default_factory=set)
    """Calls that did not run because the person intervened."""
