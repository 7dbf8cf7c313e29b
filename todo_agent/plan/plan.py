"""The plan: an immutable list of todos."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Status(Enum):
    """How far a todo is. The values are the words of the stored plan."""

    PENDING = "pending"
    ACTIVE = "in_progress"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Todo:
    """One step of the plan."""

    content: str
    status: Status = Status.PENDING
    id: str | None = None
    """Opaque and never reused; None where the discipline knows no ids."""


Draft: TypeAlias = tuple[Todo, ...]
"""A list as somebody wants it; an id in it is a claim, not yet checked."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The todos in order."""

    todos: tuple[Todo, ...] = ()

    def __len__(self) -> int:
        return len(self.todos)

    def __iter__(self) -> Iterator[Todo]:
        return iter(self.todos)

    @property
    def active(self) -> Todo | None:
        """The first todo in progress, if there is one."""
        return next((todo for todo in self.todos if todo.status is Status.ACTIVE), None)

    @property
    def done(self) -> int:
        """How many todos are done."""
        return sum(todo.status is Status.DONE for todo in self.todos)

    @property
    def open(self) -> tuple[Todo, ...]:
        """The todos that are not done, in order."""
        return tuple(todo for todo in self.todos if todo.status is not Status.DONE)
