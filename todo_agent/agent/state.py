"""The state of a conversation: typed keys, updates, and an immutable mapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from todo_agent.agent.json import Json, JsonObject

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Key(Generic[T]):
    """The name of one value in the state, with its default and its JSON form."""

    name: str
    default: T
    to_json: Callable[[T], Json]
    from_json: Callable[[Json], T]
    """Raises ValueError for JSON that is not such a value."""

    def set(self, value: T) -> Update:
        """Return the update that gives this key a new value."""
        return Update({self.name: (self, value)})


@dataclass(frozen=True)
class Update:
    """New values for some keys. `a | b` joins two, the right one winning."""

    values: Mapping[str, tuple[Key[Any], Any]] = field(default_factory=dict)

    def __or__(self, other: Update) -> Update:
        return Update({**self.values, **other.values})

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def names(self) -> frozenset[str]:
        """The names of the keys it writes."""
        return frozenset(self.values)

    def to_json(self) -> JsonObject:
        """Return the new values as JSON, by key name."""
        return {name: key.to_json(value) for name, (key, value) in self.values.items()}


NO_UPDATE = Update()


def restoring(old: State, new: State) -> Update:
    """Return the update that turns the new state into the old one."""
    before, after = old.to_json(), new.to_json()
    changed = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
    return Update({name: (_raw_key(name), before.get(name)) for name in changed})


def _raw_key(name: str) -> Key[Json]:
    return Key(name, None, to_json=_unchanged, from_json=_unchanged)


def _unchanged(value: Json) -> Json:
    return value


class State:
    """The committed values. `state[KEY]` is the value of a key, or its default.

    A stored null is no value. Values of keys nobody knows here are kept as JSON, so a
    thread may pass through a program with another stack and lose nothing.
    """

    __slots__ = ("_decoded", "_json")

    def __init__(self, values: JsonObject | None = None) -> None:
        self._json: JsonObject = {k: v for k, v in (values or {}).items() if v is not None}
        self._decoded: Mapping[str, tuple[Key[Any], Any]] = {}

    def __getitem__(self, key: Key[T]) -> T:
        """Return the value of a key.

        Raises:
            ValueError: what is stored is not a value of this key.
        """
        known = self._decoded.get(key.name)
        if known is not None and known[0] is key:
            return cast("T", known[1])
        if key.name not in self._json:
            return key.default
        value = key.from_json(self._json[key.name])
        self._decoded = {**self._decoded, key.name: (key, value)}
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._json == other._json

    def __hash__(self) -> int:
        return hash(tuple(self._json))

    def __repr__(self) -> str:
        return f"State({self._json!r})"

    def apply(self, update: Update) -> State:
        """Return a new state with the update's values."""
        state = State({**self._json, **update.to_json()})
        typed = {n: kv for n, kv in self._decoded.items() if n not in update.values}
        state._decoded = typed | {n: kv for n, kv in update.values.items() if kv[1] is not None}
        return state

    def to_json(self) -> JsonObject:
        """Return all values as JSON, by key name."""
        return self._json
