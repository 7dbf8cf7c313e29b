"""The extension contract: every boundary of a request is a hook, whose default does nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from todo_agent.agent.events import Event
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message, ToolUse
from todo_agent.agent.middleware import RunContext
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.state import Key, State
from todo_agent.agent.tools import Outcome, Tool, ToolCall

CallProvider: TypeAlias = Callable[[ModelRequest], Awaitable[ModelResponse]]
CallHandler: TypeAlias = Callable[[ToolCall], Awaitable[Outcome]]
Phase: TypeAlias = Literal["running", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class MessageAppended:
    """A message is in the history. `message` is None for the system prompt, which opens it."""

    message: Message | None


@dataclass(frozen=True, slots=True)
class RunCancelled:
    """The request was cancelled; its open calls have failed results by now."""


Notice: TypeAlias = MessageAppended | RunCancelled


@dataclass
class Request:
    """One request of one session, as its extensions see it."""

    ctx: RunContext
    message: Message | None = None
    """The input before it is appended; `on_message` may replace it. None in a compaction."""
    phase: Phase = "running"
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
        """
        if any(tool.name == other.name for other in self.tools):
            raise ValueError(f"two extensions register a tool named {tool.name!r}")
        self.tools.append(tool)

    async def append(self, message: Message) -> None:
        """Append a message to the history at once; the next model request carries it."""
        await self.ctx.append(message)

    def emit(self, event: Event) -> None:
        """Show an event to the front end."""
        self.ctx.emit(event)


class Extension:
    """Takes part in every request of the agents it is given to.

    Extensions run by ascending `priority`, equal ones in the order they were registered;
    of wrappers the first is the outermost. A hook that raises ends its broadcast and fails
    the request, except where a hook says otherwise (S2-51).
    """

    name: str = ""
    """Unique among an agent's extensions; the class name unless it is set (S2-50)."""
    priority: int = 100
    writes: frozenset[Key[Any]] = frozenset()
    """The state keys that its tools may update."""
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
        """See the pending input and perhaps replace `request.message` (S2-32)."""

    async def before_run(self, request: Request) -> None:
        """The input is appended and published (S2-33)."""

    async def before_turn(self, request: Request) -> None:
        """A turn opens; what is appended here reaches the provider (S2-34)."""

    async def before_model(self, request: Request, model_request: ModelRequest) -> None:
        """See the request as it stands; what should change is changed through the history.

        The request is made anew for every further extension and for the provider (S2-35).
        """

    async def on_model_request(
        self, request: Request, model_request: ModelRequest, call_next: CallProvider
    ) -> ModelResponse:
        """Surround one provider request with all its stream; may pass on another (S2-36)."""
        return await call_next(model_request)

    async def after_model(self, request: Request, response: ModelResponse) -> None:
        """The complete answer is appended (S2-37)."""

    async def before_tool(self, request: Request, call: ToolUse) -> None:
        """A call was requested, be it of an unknown tool or with undecodable arguments.

        All calls of a message come here before the first handler runs (S2-38).
        """

    async def on_tool_call(
        self, request: Request, call: ToolCall, call_next: CallHandler
    ) -> Outcome:
        """Surround one handler: other arguments, another result, or none of the handler.

        What it raises counts as the tool failing; the request goes on (S2-39).
        """
        return await call_next(call)

    async def after_tool(
        self, request: Request, call: ToolUse, outcome: Outcome, error: Exception | None
    ) -> Outcome:
        """Return the outcome to append, perhaps another one (S2-40).

        `error` is what made the call fail, None where it did not. Raising here keeps the
        result from being appended and fails the request.
        """
        return outcome

    async def after_turn(self, request: Request, message: Message) -> None:
        """The turn that this answer opened is settled, with all its results (S2-41)."""

    async def after_run(self, request: Request, answer: Message) -> None:
        """The final answer is there (S2-43)."""

    async def on_success(self, request: Request) -> None:
        """The request has succeeded; once, after every `after_run` (S2-44)."""

    async def on_error(self, request: Request, error: BaseException) -> None:
        """The request ends with an error, before its caller learns of it; not on cancel (S2-45)."""

    async def on_event(self, request: Request, notice: Notice) -> None:
        """Hear of an appended message or of the cancellation, in order (S2-46)."""

    async def on_compact(self, request: Request) -> None:
        """Compact the history; the whole of a compaction pass (S2-47)."""

    def release(self, request: Request) -> None:
        """Let go of what belongs to the request.

        Called for every extension when a request ends, however it ended and whatever
        another extension raised; there is no other call after it.
        """
