"""thread.json: all there is to say of a thread without its messages. Rebuilt at need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.provider import NO_USAGE, Usage
from todo_agent.threads.files import replace_file
from todo_agent.threads.journal import Replay
from todo_agent.threads.records import (
    SCHEMA,
    Header,
    check_time,
    header_from_json,
    header_to_json,
    to_bytes,
    usage_from_json,
    usage_to_json,
)

PLAN = "plan"
"""The one value of the state that lists of threads show."""
DONE = "done"


@dataclass(frozen=True, slots=True)
class Summary:
    """A thread.json."""

    id: str
    header: Header
    updated: float
    """Seconds since 1970, of the last change of the state or the header."""
    seq: int
    """The number of the last record that is in here."""
    messages: int = 0
    usage: Usage = NO_USAGE
    context_tokens: int = 0
    state: JsonObject = field(default_factory=dict)
    schema: int = SCHEMA

    @classmethod
    def of(cls, thread_id: str, replay: Replay) -> Summary:
        """Return the summary of what was replayed."""
        return cls(
            thread_id,
            replay.header,
            replay.updated,
            replay.seq,
            len(replay.messages),
            replay.usage,
            replay.context_tokens,
            replay.values,
        )

    def to_json(self) -> JsonObject:
        """Return the content of the file."""
        return {
            "schema": self.schema,
            "id": self.id,
            **header_to_json(self.header),
            "updated": self.updated,
            "seq": self.seq,
            "messages": self.messages,
            "usage": usage_to_json(self.usage),
            "context_tokens": self.context_tokens,
            "state": self.state,
        }

    @classmethod
    def from_json(cls, data: Json) -> Summary:
        """Return the summary.

        Raises:
            ValueError: the JSON is something else.
        """
        if not isinstance(data, Mapping):
            raise ValueError("a thread.json is an object")
        match data:
            case {
                "schema": int(schema),
                "id": str(id_),
                "updated": int() | float() as updated,
                "seq": int(seq),
                "messages": int(messages),
                "usage": usage,
                "context_tokens": int(context_tokens),
                "state": dict(state),
            }:
                header = header_from_json(data)
                return cls(
                    id_,
                    header,
                    check_time(updated),
                    seq,
                    messages,
                    usage_from_json(usage),
                    context_tokens,
                    state,
                    schema,
                )
            case _:
                raise ValueError("this is no summary of a thread")


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread in a list."""

    id: str
    title: str = ""
    cwd: str = ""
    updated: float = 0.0
    """Seconds since 1970."""
    created: float = 0.0
    model: str = ""
    messages: int = 0
    plan: Json = None
    """The plan as it is stored."""
    damaged: bool = False
    """Its thread.json cannot be read; opening the thread makes a new one of the journal."""

    @classmethod
    def of(cls, thread_id: str, summary: Summary) -> ThreadInfo:
        """Return what a list shows of a summary."""
        header = summary.header
        return cls(
            thread_id,
            header.title,
            header.cwd,
            summary.updated,
            header.created,
            header.model,
            summary.messages,
            summary.state.get(PLAN),
        )

    @property
    def total(self) -> int:
        """How many todos the plan has."""
        return len(_todos(self.plan))

    @property
    def done(self) -> int:
        """How many of them are done."""
        return sum(todo.get("status") == DONE for todo in _todos(self.plan))


def write_summary(path: Path, summary: Summary) -> None:
    """Replace a thread.json.

    Raises:
        OSError: it could not be done; the old one is as it was.
    """
    replace_file(path, to_bytes(summary.to_json()) + b"\n")


def _todos(plan: Json) -> list[JsonObject]:
    todos = plan.get("todos") if isinstance(plan, Mapping) else None
    if not isinstance(todos, Sequence):
        return []
    return [todo for todo in todos if isinstance(todo, Mapping)]
