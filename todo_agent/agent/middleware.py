"""The middleware contract: one base class, every hook optional, pass-through by default."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from todo_agent.agent.events import Event
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message, ToolResult, ToolUse
from todo_agent.agent.outcomes import RunEnd
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.state import NO_UPDATE, Key, State, Update
from todo_agent.agent.tools import Error, Locks, Outcome, Tool, ToolCall

CallModel: TypeAlias = Callable[[ModelRequest], Awaitable[ModelResponse]]
CallTool: TypeAlias = Callable[[ToolCall], Awaitable[Outcome]]
Decision: TypeAlias = Literal["natural", "again", "stop"]


class RunContext(Protocol):
    """What every hook may know and do. One lives for one run."""

    @property
    def conversation_id(self) -> str:
        """The thread this run belongs to."""
        ...

    @property
    def agent_name(self) -> str:
        """The agent that runs; two agents may share a middleware."""
        ...

    @property
    def run_id(self) -> str:
        """Unique to this run."""
        ...

    @property
    def model(self) -> str:
        """The model that the agent had chosen when the run began."""
        ...

    @property
    def step(self) -> int:
        """The number of the model step, from 1; 0 before the first."""
        ...

    @property
    def state(self) -> State:
        """The committed state."""
        ...

    @property
    def messages(self) -> tuple[Message, ...]:
        """The committed conversation."""
        ...

    @property
    def context_tokens(self) -> int:
        """How full the context was after the last answer, in tokens; 0 where that is unknown."""
        ...

    @property
    def extra(self) -> dict[str, Json]:
        """A live dict of the conversation, saved with every commit (S1-48…60)."""
        ...

    @property
    def steering_waits(self) -> bool:
        """Whether a person has typed something that the next step will deliver."""
        ...

    def emit(self, event: Event) -> None:
        """Show an event to the front end."""
        ...

    def fault(self, call: ToolUse) -> str | None:
        """Return why a requested call cannot run (unknown tool, bad arguments), or None."""
        ...

    def locks(self, call: ToolUse) -> Locks:
        """Return what a requested call shares and needs for itself while it runs."""
        ...

    async def append(self, message: Message) -> None:
        """Commit a message at the end of the conversation, at once."""
        ...

    async def ask_aside(self, messages: tuple[Message, ...]) -> ModelResponse:
        """Ask the model about these messages, in place of the conversation's.

        The request goes through every middleware, marked as an `aside`. Its answer is not
        shown and not added to the conversation; what it cost, and the updates that came
        with it, are committed.

        Raises:
            ProviderError: the call failed.
        """
        ...

    async def change(self, update: Update, *, context_tokens: int) -> None:
        """Commit an update at once, with how full the context is from now on.

        Raises:
            UndeclaredKeyError: no middleware of the stack declares one of the keys (S0-85).
        """
        ...


class CallContext(RunContext, Protocol):
    """What a wrapper of one call knows besides."""

    @property
    def tool(self) -> Tool:
        """The tool that is called."""
        ...

    @property
    def approved(self) -> bool:
        """A person agreed to this call; asking again is an error (S0-78)."""
        ...


@dataclass(frozen=True, slots=True)
class Proceed:
    """Go on with this input or answer, and commit the update with it."""

    message: Message
    update: Update = NO_UPDATE


@dataclass(frozen=True, slots=True)
class Block:
    """Refuse the input or the answer; the turn is undone (S0-55)."""

    reason: str


@dataclass(frozen=True, slots=True)
class Suspend:
    """Stop here and put a question; only an `AskingMiddleware` may (S0-73)."""

    question: str


@dataclass(frozen=True, slots=True)
class Directive:
    """What should follow from a model's answer.

    `again` calls the model once more where the run would have ended, `stop` ends it where
    it would have gone on. `inject` is committed after the round's tool results. A call in
    `refuse` gets that error and does not run.
    """

    decision: Decision = "natural"
    inject: tuple[Message, ...] = ()
    refuse: Mapping[str, Error] = field(default_factory=dict)
    update: Update = NO_UPDATE
    reason: str = ""
    """Why it ends or goes on, for the person; shown as a warning."""


NATURAL = Directive()


class Middleware:
    """A piece of behaviour around the loop.

    The first in the stack is the outermost: it sees an input first and an answer last.
    A hook that raises fails the run, which then names the middleware (S0-87).
    """

    name: str = ""
    """Unique within a stack; the class name where it is empty."""
    writes: frozenset[Key[Any]] = frozenset()
    """The only state keys that its hooks and its tools may update (S0-83…85)."""
    fingerprint: str = ""
    """Anything besides name, keys and tools that makes two stacks different."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools it contributes."""
        return ()

    async def prompt_sections(self, ctx: RunContext) -> Sequence[PromptSection]:
        """Return what to add to the prompt of the coming step; never stored (S0-43…48)."""
        return ()

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        """See an input before anything else does; pass it on, changed or not, or block it."""
        return Proceed(message)

    async def on_resume(self, ctx: RunContext) -> None:
        """Take up a suspended run, which has no `before_agent` of its own."""

    async def before_turn(self, ctx: RunContext) -> None:
        """Open a step, before its sections and its request are made."""

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """Surround one model call: rewrite, repeat, replace, or just pass it on (S0-68…74)."""
        return await call_next(request)

    async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
        """See the committed answer before its calls run, and say what should follow."""
        return NATURAL

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        """Surround one valid call: deny, ask, repeat, answer in its place (S0-76…82)."""
        return await call_next(call)

    async def after_turn(self, ctx: RunContext, results: tuple[ToolResult, ...]) -> None:
        """Close a step: its answer and all results are committed."""

    async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
        """See the final answer before it is handed out; in reverse stack order (S0-86)."""
        return Proceed(answer)

    async def on_message(self, ctx: RunContext, message: Message) -> None:
        """Learn that a message was committed."""

    async def on_end(self, ctx: RunContext, end: RunEnd) -> None:
        """Learn how the run ended; always called, whatever another middleware raised."""


class AskingMiddleware(Middleware):
    """A middleware that may suspend the run with a question to a person (S0-73)."""

    async def ask_or_call_model(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext, answer: str | None
    ) -> ModelResponse | Suspend:
        """Surround one model call, or suspend; `answer` is the reply after a suspension."""
        return await call_next(request)
