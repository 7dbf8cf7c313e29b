"""Which todo of a new list is which of the old one."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from todo_agent.plan.plan import Draft, Plan, Todo

ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
ID_LENGTH = 8


def random_id() -> str:
    """Return an id that no list had before: one of 8·10^11 (S0-16)."""
    return "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))


class Identity(Protocol):
    """Turns a draft that passed the rules into a plan."""

    def assign(self, previous: Plan | None, draft: Draft) -> Plan:
        """Return the plan, with ids where the discipline has them."""
        ...


@dataclass(frozen=True, slots=True)
class NoIds:
    """Todos are known by their place alone."""

    def assign(self, previous: Plan | None, draft: Draft) -> Plan:
        """Return the draft as a plan."""
        return Plan(tuple(replace(todo, id=None) for todo in draft))


@dataclass(frozen=True, slots=True)
class ByClaim:
    """A todo keeps its id by naming it, or else by its content (S0-08…S0-18)."""

    new_id: Callable[[], str] = random_id

    def assign(self, previous: Plan | None, draft: Draft) -> Plan:
        """Return the plan; explicit ids claim first, then equal contents in stored order.

        Of several todos with one id, the first keeps it.
        """
        claimed = {todo.id for todo in draft if todo.id is not None}
        stored = previous or Plan()
        free: dict[str, deque[str]] = {}
        for todo in stored:
            if todo.id is not None and todo.id not in claimed:
                free.setdefault(todo.content, deque()).append(todo.id)
        taken = {todo.id for todo in stored} | claimed
        todos: list[Todo] = []
        given: set[str] = set()
        for todo in draft:
            id_ = todo.id
            if id_ is None or id_ in given:
                same = free.get(todo.content)
                id_ = same.popleft() if same else self._fresh(taken)
            given.add(id_)
            todos.append(replace(todo, id=id_))
        return Plan(tuple(todos))

    def _fresh(self, taken: set[str | None]) -> str:
        id_ = self.new_id()
        while id_ in taken:
            id_ = self.new_id()
        taken.add(id_)
        return id_
