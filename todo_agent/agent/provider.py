"""What the loop asks of a model, and what it gets back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Message
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.state import NO_UPDATE, Update

StopReason: TypeAlias = str
"""`end_turn`, `tool_use`, `max_tokens`, `stop_sequence`, `pause_turn`, `refusal`,
`model_context_window_exceeded`, or whatever else the API says, by its own name."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that were really used. `input_tokens` counts only what no cache served."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )

    @property
    def context_tokens(self) -> int:
        """How full the context was: everything that went in and came out."""
        return (
            self.input_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
            + self.output_tokens
        )


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    schema: JsonObject


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    system: str = ""
    sections: tuple[PromptSection, ...] = ()
    """Prompt sections in stack order. A provider sends the cacheable ones behind the system
    prompt and the others behind the last message, so a changing plan spoils no cache."""
    max_tokens: int = 32_000
    aside: bool = False
    """It asks something beside the conversation: its answer is not shown, nor part of it."""

    def with_note(self, text: str) -> ModelRequest:
        """Return the request with one more section that only this request carries."""
        note = PromptSection("note", text, cacheable=False)
        return replace(self, sections=(*self.sections, note))


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """One complete answer."""

    message: Message
    stop: StopReason
    usage: Usage = NO_USAGE
    faults: Mapping[str, str] = field(default_factory=dict)
    """Why a call must not run, by call id: its input was cut off or is no JSON object."""
    detail: str = ""
    """What the API says about the stop, such as the explanation of a refusal."""
    update: Update = NO_UPDATE

    def add_update(self, update: Update) -> ModelResponse:
        """Return the response with a state update that is committed with it (S0-71)."""
        return replace(self, update=self.update | update)


@dataclass(frozen=True, slots=True)
class ModelDelta:
    """A piece of an answer while it streams."""

    kind: Literal["text", "thinking", "tool_input"]
    text: str
    call_id: str = ""
    name: str = ""


OVERFLOW = ("context_window", "too_large")
"""Kinds of failure that a shorter conversation would not have: it no longer fits into the
model's window, or its request is more than the service takes."""


class ProviderError(Exception):
    """A model call that failed. The message is complete and safe to show.

    `kind` says what went wrong: `auth`, `billing`, `permission`, `invalid_request`,
    `not_found`, `redirect`, `context_window`, `too_large`, `rate_limit`, `overloaded`,
    `server`, `connection`, `timeout`, `stream`. Those of `OVERFLOW` ask for less.
    `partial` holds what had arrived of the answer, without calls, if anything did;
    `usage` what was reported before the failure.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        retriable: bool = False,
        retry_after: float | None = None,
        partial: Message | None = None,
        usage: Usage = NO_USAGE,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retriable = retriable
        self.retry_after = retry_after
        """Seconds the server asked to wait."""
        self.partial = partial
        self.usage = usage

    @property
    def overflow(self) -> bool:
        """Whether the same call would get through with a shorter conversation."""
        return self.kind in OVERFLOW


class Provider(Protocol):
    """A source of model answers."""

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Send one request, report the answer's pieces as they come, and return it whole.

        Raises:
            ProviderError: the call failed; nothing is retried here.
        """
        ...
