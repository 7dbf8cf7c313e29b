"""What became of a plan: the difference between two of its versions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from todo_agent.plan.plan import Plan, Status, Todo


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one version to the next.

    A todo without id that was reworded counts as dropped and added.
    """

    added: tuple[Todo, ...] = ()
    dropped: tuple[Todo, ...] = ()
    moved: tuple[tuple[Todo, Status], ...] = ()
    """Todos with another status, and the status they had."""
    reworded: tuple[tuple[Todo, str], ...] = ()
    """Todos with another content, and the content they had."""

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped or self.moved or self.reworded)

    def sentences(self) -> tuple[str, ...]:
        """Return the changes in words, for a person or the model."""
        return (
            *(f"added {todo.content!r}" for todo in self.added),
            *(f"dropped {todo.content!r}" for todo in self.dropped),
            *(f"changed {before!r} to {todo.content!r}" for todo, before in self.reworded),
            *(f"set {todo.content!r} to {todo.status.value}" for todo, _ in self.moved),
        )


def difference(before: Plan, after: Plan) -> Difference:
    """Return what changed; todos are matched by id, or by content where they have none."""
    old = _by_identity(before)
    new = _by_identity(after)
    both = [(old[name], todo) for name, todo in new.items() if name in old]
    return Difference(
        added=tuple(todo for name, todo in new.items() if name not in old),
        dropped=tuple(todo for name, todo in old.items() if name not in new),
        moved=tuple((b, a.status) for a, b in both if a.status is not b.status),
        reworded=tuple((b, a.content) for a, b in both if a.content != b.content),
    )


def _by_identity(plan: Plan) -> dict[tuple[str, int], Todo]:
    seen: Counter[str] = Counter()
    named = {}
    for todo in plan:
        name = todo.id or todo.content
        named[name, seen[name]] = todo
        seen[name] += 1
    return named
