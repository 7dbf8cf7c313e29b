"""Everything a front end can see of a run: one closed union, each with a JSON form."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Display, Message, ToolResult, block_to_api, message_to_json
from todo_agent.agent.outcomes import (
    Answered,
    Blocked,
    Failed,
    Interrupted,
    Question,
    RunEnd,
    Suspended,
)
from todo_agent.agent.provider import Usage
from todo_agent.agent.state import State


@dataclass(frozen=True, kw_only=True)
class _Stamped:
    seq: int = 0
    """Position in the session's stream, from 1."""
    at: float = 0.0
    """Seconds since the epoch."""


@dataclass(frozen=True)
class RunStarted(_Stamped):
    """An input was taken up."""

    input: Message


@dataclass(frozen=True)
class StepStarted(_Stamped):
    """The model is asked; `step` counts from 1 within the run."""

    step: int


@dataclass(frozen=True)
class TextDelta(_Stamped):
    """A piece of the answer."""

    text: str


@dataclass(frozen=True)
class ThinkingDelta(_Stamped):
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True)
class ToolInputDelta(_Stamped):
    """A piece of a call's arguments, as JSON text."""

    call_id: str
    name: str
    text: str


@dataclass(frozen=True)
class MessageAdded(_Stamped):
    """A message is in the thread and on disk."""

    message: Message
    index: int
    """Its position in the conversation."""


@dataclass(frozen=True)
class ToolStarted(_Stamped):
    """A call begins to run."""

    call_id: str
    name: str
    title: str
    """The object of the call: a path, a command."""
    args: JsonObject


@dataclass(frozen=True)
class ToolOutput(_Stamped):
    """A piece of output of a running call."""

    call_id: str
    text: str


@dataclass(frozen=True)
class ToolFinished(_Stamped):
    """A call has its result, and the result is on disk. It also comes for calls that never ran."""

    call_id: str
    name: str
    result: ToolResult
    seconds: float


@dataclass(frozen=True)
class StateChanged(_Stamped):
    """The committed state has new values."""

    state: State
    keys: frozenset[str]
    by: Literal["model", "user", "restore"]


@dataclass(frozen=True)
class QuestionAsked(_Stamped):
    """A question of a tool or a middleware waits for an answer."""

    question: Question


@dataclass(frozen=True)
class ApprovalRequested(_Stamped):
    """A call waits for a person's yes or no."""

    question: Question


@dataclass(frozen=True)
class QuestionClosed(_Stamped):
    """A question needs no answer any more: it was answered, or the run ended."""

    question_id: str


@dataclass(frozen=True)
class RetryScheduled(_Stamped):
    """A model call failed and is repeated after `seconds`; pieces of it are void."""

    attempt: int
    seconds: float
    reason: str


@dataclass(frozen=True)
class CompactionStarted(_Stamped):
    """The conversation is being shortened, which may take as long as an answer."""


@dataclass(frozen=True)
class Compacted(_Stamped):
    """What is sent of the conversation was shortened; the conversation itself is whole."""

    before_tokens: int
    after_tokens: int
    summarised: int
    """How many of its messages a summary stands for; 0 where clearing old results was enough."""


@dataclass(frozen=True)
class Warned(_Stamped):
    """Something a person should know; the run goes on."""

    text: str
    code: str = ""


@dataclass(frozen=True)
class UsageChanged(_Stamped):
    """A model call was paid for."""

    total: Usage
    """Of the whole thread."""
    context_tokens: int
    """How full the last call's context was."""
    model: str = ""


@dataclass(frozen=True)
class SteeringQueued(_Stamped):
    """The texts that wait for the next step, in order; all of them."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class RunFinished(_Stamped):
    """The run is over."""

    end: RunEnd


Event: TypeAlias = (
    RunStarted
    | StepStarted
    | TextDelta
    | ThinkingDelta
    | ToolInputDelta
    | MessageAdded
    | ToolStarted
    | ToolOutput
    | ToolFinished
    | StateChanged
    | QuestionAsked
    | ApprovalRequested
    | QuestionClosed
    | RetryScheduled
    | CompactionStarted
    | Compacted
    | Warned
    | UsageChanged
    | SteeringQueued
    | RunFinished
)


def event_to_json(event: Event) -> JsonObject:
    """Return the event as one JSON object: `type` (its class in snake case) and its fields."""
    data: dict[str, Json] = {"type": _snake(type(event).__name__)}
    for field in fields(event):
        data[field.name] = _value(getattr(event, field.name))
    return data


def end_to_json(end: RunEnd) -> JsonObject:
    """Return how a run ended as JSON: `status` and its fields."""
    match end:
        case Answered(text, stop):
            return {"status": "answered", "text": text, "stop": stop}
        case Blocked(by, reason, edge):
            return {"status": "blocked", "by": by, "reason": reason, "edge": edge}
        case Failed(message, kind, by):
            return {"status": "failed", "message": message, "kind": kind, "by": by}
        case Suspended(question):
            return {"status": "suspended", "question": _value(question)}
        case Interrupted():
            return {"status": "interrupted"}


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _value(value: object) -> Json:
    match value:
        case Message():
            return message_to_json(value)
        case ToolResult():
            return block_to_api(value)
        case State():
            return value.to_json()
        case Answered() | Blocked() | Failed() | Suspended() | Interrupted():
            return end_to_json(value)
        case Question() | Usage() | Display():
            return {field.name: _value(getattr(value, field.name)) for field in fields(value)}
        case frozenset():
            return sorted(str(item) for item in value)
        case tuple() | list():
            return [_value(item) for item in value]
        case dict():
            return {str(name): _value(item) for name, item in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)
