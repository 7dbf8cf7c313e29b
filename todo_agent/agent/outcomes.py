"""How a run ends, and what it may ask a person on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from todo_agent.agent.messages import Display


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person: a call's approval, or a middleware's or tool's own."""

    id: str
    text: str
    """The reason for an approval, or the question itself."""
    kind: Literal["approval", "question"] = "approval"
    tool: str = ""
    title: str = ""
    """The object of the call: a path, a command."""
    preview: Display | None = None
    rule: str = ""
    """What "always allow" would store; empty where it is not offered."""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person said. For a question that is no approval only `text` counts."""

    approved: bool = False
    always: bool = False
    """Store the question's rule."""
    text: str = ""
    """The answer, or with a refusal: words for the model."""
    unattended: bool = False
    """Nobody is there to answer."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The model answered, and the turn is stored."""

    text: str
    stop: str = "end_turn"
    """The API's stop reason, or `stopped` when a middleware ended the run."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A middleware refused the input or the answer; the turn is undone (S0-55)."""

    by: str
    reason: str
    edge: Literal["input", "output"]


@dataclass(frozen=True, slots=True)
class Failed:
    """Something broke; what was committed stays, and the thread can go on (S0-57)."""

    message: str
    kind: str = "error"
    """A `ProviderError`'s kind, `refusal`, `limit`, `middleware`, `fatal` or `error`."""
    by: str = ""
    """The middleware, tool or `model` that failed."""
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Suspended:
    """The run waits for a person; `Agent.resume` goes on with the answer."""

    question: Question


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A person stopped the run."""


class LimitReached(Exception):  # noqa: N818 -- a limit is no error of the program
    """Raised by a middleware's hook to end the run as `Failed` of kind `limit`."""


RunEnd: TypeAlias = Answered | Blocked | Failed | Suspended | Interrupted
