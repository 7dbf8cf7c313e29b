"""Turns what older versions stored into records of the current format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from todo_agent.agent.history import repair_message
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Message, message_from_json
from todo_agent.threads.records import CommitRecord, Header, HeaderRecord, Record, check_time
from todo_agent.threads.titles import clean_title, title_of


@dataclass(frozen=True, slots=True)
class Upgraded:
    """An old thread in the current format."""

    schema: int
    """The version it had."""
    records: tuple[Record, ...]
    unreadable: int = 0
    """Messages that are none, and were left out."""


def upgrade(data: Json) -> Upgraded | None:
    """Return what an old thread.json says; None if it is not of an old version."""
    if not isinstance(data, Mapping):
        return None
    schema = data.get("schema", 0)
    step = UPGRADES.get(schema) if isinstance(schema, int) else None
    return None if step is None else step(data)


def _from_0(data: JsonObject) -> Upgraded | None:
    """Version 0 had no journal: all messages stood in thread.json."""
    stored = data.get("messages")
    if not isinstance(stored, Sequence) or isinstance(stored, str):
        return None
    read = [_message(item) for item in stored]
    messages = tuple(message for message in read if message is not None)
    at = _time(data.get("updated"))
    header = Header(
        clean_title(_text(data.get("title"))) or title_of(messages),
        _text(data.get("cwd")),
        _text(data.get("model")),
        _text(data.get("mode")) or "ask",
        _time(data.get("created")),
    )
    state = data.get("state")
    commit = CommitRecord(2, at, messages, state if isinstance(state, Mapping) else {})
    return Upgraded(0, (HeaderRecord(1, at, header), commit), read.count(None))


UPGRADES: Mapping[Json, Callable[[JsonObject], Upgraded | None]] = {
    0: _from_0,
}
"""How each old version becomes the current one."""


def _message(data: Json) -> Message | None:
    if not isinstance(data, Mapping):
        return None
    try:
        return repair_message(message_from_json(data))
    except ValueError:
        return None


def _text(data: Json) -> str:
    return data if isinstance(data, str) else ""


def _time(data: Json) -> float:
    try:
        return check_time(data) if isinstance(data, int | float) else 0.0
    except ValueError:
        return 0.0
