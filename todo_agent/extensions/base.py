"""The extension contract: every moment of a request is a hook, whose default does nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import Event
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message, ToolUse
from todo_agent.agent.middleware import RunContext
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.state import Key, State
from todo_agent.agent.tools import Error, Outcome, Success, Tool, ToolCall

Settled: TypeAlias = Success | Error
CallProvider: TypeAlias = Callable[[ModelRequest], Awaitable[ModelResponse]]
CallHandler: TypeAlias = Callable[[ToolCall], Awaitable[Settled]]
Phase: TypeAlias = Literal["running", "ready", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class MessageAppended:
    """A message is in the history. `message` is None for the system prompt, which opens it.

    Results of calls come one by one, as they are settled.
    """

    message: Message | None


@dataclass(frozen=True, slots=True)
class RunCancelled:
    """The request was cancelled; its open calls have failed results by now."""


Notice: TypeAlias = MessageAppended | RunCancelled


@dataclass(eq=False)
class Request:
    """One request of one session, as its extensions see it.

    It is the key for what an extension remembers about a request: no two are equal, even
    where sessions or agents are.
    """

    ctx: RunContext
    message: Message | None = None
    """The input before it is appended; `on_message` may replace it. None where there is none."""
    phase: Phase = "running"
    """How it stands: `ready` once it succeeded, `failed` in `on_error`."""
    tools: list[Tool] = field(default_factory=list)
    """The tools that extensions registered for this request."""

    @property
    def session_id(self) -> str:
        """The session, that is, the conversation."""
        return self.ctx.conversation_id

    @property
    def agent_name(self) -> str:
        """The agent that serves it."""
        return self.ctx.agent_name

    @property
    def state(self) -> State:
        """The committed state."""
        return self.ctx.state

    @property
    def extra(self) -> dict[str, Json]:
        """The conversation's live dict, saved with it."""
        return self.ctx.extra

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history."""
        return self.ctx.messages

    def add_tool(self, tool: Tool) -> None:
        """Register a tool for this request; belongs into `on_tool`.

        Raises:
            ValueError: another tool has this name (S2-30).
            RuntimeError: the model was asked already.
        """
        if self.ctx.step > 0:
            raise RuntimeError(f"{tool.name!r} comes too late: tools are registered in on_tool")
        if any(tool.name == other.name for other in self.tools):
            raise ValueError(f"two extensions register a tool named {tool.name!r}")
        self.tools.append(tool)

    async def append(self, message: Message) -> None:
        """Append a message to the history at once; the next model request carries it.

        Not while calls wait for their results, which stand next to them: from `after_model`
        to `after_tool`, and for what `on_event` tells of in between.
        """
        await self.ctx.append(message)

    def emit(self, event: Event) -> None:
        """Show an event to the front end."""
        self.ctx.emit(event)


@dataclass(eq=False, kw_only=True)
class Compaction(Request):
    """A pass that shortens a history; it has no input and no model call (S2-47)."""

    conversation: Conversation

    async def replace_messages(self, messages: tuple[Message, ...]) -> None:
        """Put these messages in place of the whole history, in one commit.

        Raises:
            OSError: it could not be recorded; nothing changed.
        """
        await self.conversation.commit(Commit(messages, keep=0))


class Extension:
    """Takes part in every request of the agents it is given to.

    A request is everything that one input sets off. Its hooks run in this order; `*` is
    every extension by ascending `priority`, equal ones as they were listed, and `{}` is
    around a call, the first extension outermost:

        on_tool* → on_state* → on_message* → [input appended] → before_run*
        → ( before_turn* → before_model* → on_model_request{the model} → [answer appended]
            → after_model*
            → for calls: before_tool* → on_tool_call{the tool} → after_tool* → [result appended]
            → after_turn* )+
        → after_run* → on_success*

    All extensions finish a hook before one begins the next. A hook that raises ends its
    broadcast and fails the request, except where a hook says otherwise (S2-51). A request
    that fails ends with `on_error*`, a cancelled one with `on_event*`, and every one with
    `release*`. A call that is skipped because the person intervened has no tool hooks (S2-53).

    One instance may serve many sessions and agents at the same time.
    """

    name: str = ""
    """Unique among an agent's extensions; the class name unless it is set (S2-50)."""
    priority: int = 100
    """The lower, the earlier, and of wrappers the further outside."""
    writes: frozenset[Key[Any]] = frozenset()
    """The state keys that its tools and the model answers it returns may update."""
    _open = 0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    @property
    def pending(self) -> bool:
        """Whether it takes part in a request of any agent or session right now (S2-49)."""
        return self._open > 0

    def take_part(self) -> None:
        """Count a request that begins. The host calls this."""
        self._open += 1

    def leave(self) -> None:
        """Count a request that has ended. The host calls this."""
        self._open -= 1

    def accept(self, config: object | None, event: object) -> bool:
        """Return whether an external event is for this extension (S2-48).

        Every extension is asked, also after another one accepted. `config` may be None.
        """
        return False

    async def on_tool(self, request: Request) -> None:
        """Register tools. All extensions do before the first `on_state` (S2-30)."""

    async def on_state(self, request: Request) -> None:
        """Restore history and set up state, before there is any input (S2-31)."""

    async def on_message(self, request: Request) -> None:
        """See the pending input and perhaps replace `request.message` (S2-32).

        What is there after the last extension is appended, once.
        """

    async def before_run(self, request: Request) -> None:
        """The input is appended and published (S2-33).

        A request that waited for a person and goes on, perhaps in another process, passes
        `on_tool` and `on_state` again but not this.
        """

    async def before_turn(self, request: Request) -> None:
        """A turn opens; what is appended here reaches the provider (S2-34)."""

    async def before_model(self, request: Request, model_request: ModelRequest) -> None:
        """See the request as it stands; what should change is changed through the history.

        The request is made anew for every further extension and for the provider (S2-35).
        """

    async def on_model_request(
        self, request: Request, model_request: ModelRequest, call_next: CallProvider
    ) -> ModelResponse:
        """Surround one provider request with all its stream; may pass on another (S2-36).

        A cancellation comes out of `call_next`; let it through.
        """
        return await call_next(model_request)

    async def after_model(self, request: Request, response: ModelResponse) -> None:
        """The complete answer is appended (S2-37)."""

    async def before_tool(self, request: Request, call: ToolUse) -> None:
        """A call was requested, be it of an unknown tool or with undecodable arguments.

        Of calls that run side by side all come here before the first handler runs; one
        that has to wait for another comes when it is its turn (S2-38). A call that a
        middleware refuses has no further hooks.
        """

    async def on_tool_call(
        self, request: Request, call: ToolCall, call_next: CallHandler
    ) -> Outcome:
        """Surround one handler: other arguments, another result, or none of the handler.

        What it raises counts as the tool failing; the request goes on (S2-39). Where the
        person has to agree to the call, it is surrounded again once they did.
        """
        return await call_next(call)

    async def after_tool(
        self, request: Request, call: ToolUse, outcome: Settled, error: Exception | None
    ) -> Settled:
        """Return the outcome to append, perhaps another one (S2-40).

        `error` is what made the call fail: what was raised, else a `ToolFailedError`; None
        for a success. A call that could not run stays an error, whose text may be changed.
        Raising here keeps the result from being appended and fails the request.
        """
        return outcome

    async def after_turn(self, request: Request, message: Message) -> None:
        """The turn that this answer opened is settled, with all its results (S2-41).

        Steering that interrupted its calls is appended; steering that came while a final
        answer was written is looked for after this (S2-42).
        """

    async def after_run(self, request: Request, answer: Message) -> None:
        """The final answer is there (S2-43)."""

    async def on_success(self, request: Request) -> None:
        """The request has succeeded; once, after every `after_run` (S2-44).

        What it raises still fails the request, by way of `on_error`.
        """

    async def on_error(self, request: Request, error: BaseException) -> None:
        """The request ends with an error, before its caller learns of it; not on cancel (S2-45).

        It comes to every extension. What one raises here is shown as a warning and noted
        on the error, which stays the caller's.
        """

    async def on_event(self, request: Request, notice: Notice) -> None:
        """Hear of an appended message or of the cancellation, in order (S2-46).

        The cancellation comes to every extension; what one raises then is shown as a warning.
        """

    async def on_compact(self, request: Compaction) -> None:
        """Compact the history; the whole of a compaction pass (S2-47)."""

    def release(self, request: Request) -> None:
        """Let go of what belongs to the request.

        Called for every extension when a request ends, however it ended and whatever
        another extension raised; there is no other call after it. What it raises is shown
        as a warning.
        """
