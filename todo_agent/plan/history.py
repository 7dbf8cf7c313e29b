"""What became of a plan: its versions, and the difference between two of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from todo_agent.plan.plan import Plan, Status, Todo

MAX_VERSIONS = 30
MAX_CHARS = 20_000
"""The most code points that the contents of all versions have together, equal ones counted once."""

Author: TypeAlias = Literal["model", "user", "restore"]


@dataclass(frozen=True, slots=True)
class Version:
    """The plan as somebody left it."""

    plan: Plan
    by: Author
    at: float
    """Seconds since the epoch."""


History: TypeAlias = tuple[Version, ...]
"""The versions in order; the last is the plan of now."""


def with_version(history: History, version: Version) -> History:
    """Return the history with one more version, and without the oldest beyond the bounds.

    A version that equals the last one is not added. The last one always stays.
    """
    if history and history[-1].plan == version.plan:
        return history
    longer = (*history, version)[-MAX_VERSIONS:]
    while len(longer) > 1 and sum(map(len, _contents(longer))) > MAX_CHARS:
        longer = longer[1:]
    return longer


def history_to_json(history: History) -> dict[str, object]:
    """Return the history as JSON; a content that is in many versions is written once."""
    contents = _contents(history)
    index = {content: number for number, content in enumerate(contents)}
    return {
        "contents": list(contents),
        "versions": [
            {
                "by": version.by,
                "at": version.at,
                "todos": [[index[t.content], t.status.value, t.id] for t in version.plan],
            }
            for version in history
        ],
    }


def history_from_json(data: object) -> History:
    """Return the stored history; what is no version is left out."""
    match data:
        case {"contents": list(contents), "versions": list(versions)}:
            read = (_version(contents, item) for item in versions)
            return tuple(version for version in read if version is not None)
        case _:
            return ()


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
    reordered: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped or self.moved or self.reworded or self.reordered)

    def sentences(self) -> tuple[str, ...]:
        """Return the changes in words, for a person or the model."""
        return (
            *(f"added {_quoted(todo.content)}" for todo in self.added),
            *(f"dropped {_quoted(todo.content)}" for todo in self.dropped),
            *(
                f"changed {_quoted(before)} to {_quoted(todo.content)}"
                for todo, before in self.reworded
            ),
            *(f"set {_quoted(todo.content)} to {IN_WORDS[todo.status]}" for todo, _ in self.moved),
            *(("put the todos into another order",) if self.reordered else ()),
        )


IN_WORDS = {Status.PENDING: "pending", Status.ACTIVE: "in progress", Status.DONE: "done"}


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
        reordered=[name for name in old if name in new] != [name for name in new if name in old],
    )


def _by_identity(plan: Plan) -> dict[tuple[str, int], Todo]:
    seen: Counter[str] = Counter()
    named = {}
    for todo in plan:
        name = todo.id or todo.content
        named[name, seen[name]] = todo
        seen[name] += 1
    return named


def _contents(history: History) -> dict[str, None]:
    return dict.fromkeys(todo.content for version in history for todo in version.plan)


def _version(contents: Sequence[object], data: object) -> Version | None:
    match data:
        case {"by": "model" | "user" | "restore" as by, "at": int() | float() as at, **rest}:
            rows = rest.get("todos")
            todos = [_todo(contents, row) for row in rows] if isinstance(rows, list) else [None]
            whole = tuple(todo for todo in todos if todo is not None)
            return Version(Plan(whole), by, at) if len(whole) == len(todos) else None
        case _:
            return None


def _todo(contents: Sequence[object], row: object) -> Todo | None:
    match row:
        case [int(number), str(word), None | str() as id_] if 0 <= number < len(contents):
            content = contents[number]
            status = {status.value: status for status in Status}.get(word)
            return None if status is None else Todo(str(content), status, id_)
        case _:
            return None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
