"""What the stories about permissions share."""

from __future__ import annotations

from todo_agent.middleware.rules import Decision, Rule


def rules(*texts: str) -> list[Rule]:
    """Return rules written as `DECISION KIND PATTERN`."""
    split = (text.partition(" ") for text in texts)
    return [Rule.parse(Decision[decision.upper()], rest) for decision, _, rest in split]
