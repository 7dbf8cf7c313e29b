"""The permission modes a person switches between."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """How much the agent may do without a question."""

    ASK = "ask"
    """Reading is free; writes and commands ask."""
    ACCEPT_EDITS = "accept-edits"
    """File edits inside the workspace are free too."""
    PLAN = "plan"
    """Reading only: the agent explores and plans."""
    AUTO = "auto"
    """Nothing asks; deny rules still hold."""
