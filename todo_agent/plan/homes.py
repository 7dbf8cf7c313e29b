"""Where the list lives that the rules judge by."""

from __future__ import annotations

from typing import Protocol

from todo_agent.agent.state import State
from todo_agent.plan.conduct import Ledger
from todo_agent.plan.extra import ExtraRef, read_plan, write_ledger, write_plan
from todo_agent.plan.keys import PLAN
from todo_agent.plan.plan import Plan
from todo_agent.plan.shapes import Words


class Home(Protocol):
    """Holds the list of each conversation. The state shows a copy of it in any case."""

    def read(self, conversation_id: str, state: State) -> Plan | None:
        """Return the list; None before the first write."""
        ...

    def write(self, conversation_id: str, plan: Plan | None) -> None:
        """Put a list in its place; None takes it away."""
        ...

    def edit(self, conversation_id: str, plan: Plan) -> None:
        """Put a person's list in its place."""
        ...


class InState:
    """The state itself is the place, and the committed update is what writes it (S0-04)."""

    def read(self, conversation_id: str, state: State) -> Plan | None:
        """Return the committed list."""
        return state[PLAN]

    def write(self, conversation_id: str, plan: Plan | None) -> None:
        """Leave it to the update."""

    def edit(self, conversation_id: str, plan: Plan) -> None:
        """Leave it to the update."""


class InExtra:
    """The list is `todos` of an extra dict that is found anew at every use (S1-48…51)."""

    def __init__(self, extra_ref: ExtraRef, words: Words) -> None:
        self._extra_ref = extra_ref
        self._words = words

    def read(self, conversation_id: str, state: State) -> Plan | None:
        """Return the list of the dict."""
        return read_plan(self._extra_ref(), self._words)

    def write(self, conversation_id: str, plan: Plan | None) -> None:
        """Write the list into the dict."""
        write_plan(self._extra_ref(), plan, self._words)

    def edit(self, conversation_id: str, plan: Plan) -> None:
        """Write the list into the dict; like the model's own write it clears the guard's state."""
        extra = self._extra_ref()
        write_plan(extra, plan, self._words)
        write_ledger(extra, Ledger())
