"""One middleware that runs all extensions of an agent; the loop never learns of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace

from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.events import Event, Warned
from todo_agent.agent.messages import Message, ToolResult, ToolUse
from todo_agent.agent.middleware import (
    Block,
    CallContext,
    CallModel,
    CallTool,
    Directive,
    Middleware,
    Proceed,
    RunContext,
)
from todo_agent.agent.outcomes import Failed, Interrupted, RunEnd
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.run import Run
from todo_agent.agent.stack import Stack
from todo_agent.agent.tools import Error, Fatal, NeedsApproval, Outcome, Success, Tool, ToolCall
from todo_agent.extensions.base import (
    CallHandler,
    CallProvider,
    Extension,
    MessageAppended,
    Notice,
    Request,
    RunCancelled,
)
from todo_agent.extensions.serving import Serving

SKIPPED = "Refused (skipped_by_steering): not run, because the person intervened."


class RequestBusyError(RuntimeError):
    """The session has a request already (S2-55)."""


class ToolFailedError(Exception):
    """A call failed; the message is what the model reads."""


class ExtensionHost(Middleware):
    """Runs extensions with their barriers and priorities (spec 3.3).

    It belongs first into a stack: it sees the input first, and its `on_success` comes
    when every other middleware has agreed to the answer.

    Raises:
        ValueError: an extension's name is blank, or two have the same (S2-50).
    """

    name = "extensions"

    def __init__(self, extensions: Sequence[Extension]) -> None:
        names = [extension.name for extension in extensions]
        for name in names:
            if not name.strip():
                raise ValueError("an extension has a blank name")
            if names.count(name) > 1:
                raise ValueError(f"two extensions are named {name!r}")
        self.extensions = tuple(sorted(extensions, key=lambda extension: extension.priority))
        self.writes = frozenset().union(*(extension.writes for extension in extensions))
        self._serving: dict[str, Serving] = {}
        self._current: ContextVar[Request | None] = ContextVar("request", default=None)

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools registered for the request of the task that asks."""
        request = self._current.get()
        return () if request is None else tuple(request.tools)

    def accept(self, config: object | None, event: object) -> tuple[str, ...]:
        """Ask every extension about an external event; return the names that accept it."""
        return tuple(e.name for e in self.extensions if e.accept(config, event))

    async def compact(
        self,
        conversation: Conversation,
        *,
        agent_name: str = "agent",
        emit: Callable[[Event], None] = lambda _: None,
    ) -> None:
        """Let the extensions compact a conversation: set-up and `on_compact`, no model (S2-47).

        Raises:
            Exception: what a hook raised, after every `on_error`.
        """
        run = Run(conversation, Stack([self]), agent_name, emit, Control(), None, "")
        serving = self._begin(run, None)
        request = serving.request
        try:
            await self._set_up(request)
            await self._hear(request, MessageAppended(None))
            await self._each(lambda e: e.on_compact(request))
        except Exception as error:
            await self._fail(request, error)
            raise
        finally:
            self._release(run.run_id)

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        """Open a request: tools, state, input."""
        request = self._begin(ctx, message).request
        await self._set_up(request)
        await self._each(lambda e: e.on_message(request))
        return Proceed(request.message or message)

    async def on_resume(self, ctx: RunContext) -> None:
        """Open a request that goes on after a suspension; nothing in memory is left (S2-29)."""
        serving = self._begin(ctx, None)
        serving.has_begun = True
        await self._set_up(serving.request)

    async def on_message(self, ctx: RunContext, message: Message) -> None:
        """Tell of an appended message."""
        serving = self._serving.get(ctx.run_id)
        if serving is None:
            return
        if serving.opens_history:
            serving.opens_history = False
            await self._hear(serving.request, MessageAppended(None))
        await self._hear(serving.request, MessageAppended(message))
        for result in message.results:
            if result.tool_use_id in serving.skipped:
                ctx.emit(Warned("A call was skipped: you intervened.", code="tool_skipped"))

    async def before_turn(self, ctx: RunContext) -> None:
        """Open the run with its first turn, and every turn."""
        serving = self._serving[ctx.run_id]
        request = serving.request
        if not serving.has_begun:
            serving.has_begun = True
            await self._each(lambda e: e.before_run(request))
        await self._each(lambda e: e.before_turn(request))

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """Show the request to each extension, made anew, and wrap the call."""
        served = self._serving[ctx.run_id].request
        for extension in self.extensions:
            await extension.before_model(served, _anew(request, ctx))
        chain: CallProvider = call_next
        for extension in reversed(self.extensions):
            chain = _around_model(extension, served, chain)
        return await chain(_anew(request, ctx))

    async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
        """Announce the answer and its calls, or skip the calls where the person intervened."""
        serving = self._serving[ctx.run_id]
        request, calls = serving.request, response.message.calls
        await self._each(lambda e: e.after_model(request, response))
        if calls and ctx.steering_waits:
            serving.skipped |= {call.id for call in calls}
            return Directive(refuse={call.id: Error(SKIPPED) for call in calls})
        for call in calls:
            for extension in self.extensions:
                await extension.before_tool(request, call)
        refused = {}
        for call in calls:
            fault = response.faults.get(call.id) or ctx.fault(call)
            if fault is not None:
                outcome = await self._after_tool(
                    request, call, Error(fault), ToolFailedError(fault)
                )
                refused[call.id] = outcome if isinstance(outcome, Error) else Error(fault)
        return Directive(refuse=refused)

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        """Wrap the handler, and let every extension see what came of it."""
        serving = self._serving[ctx.run_id]
        if ctx.steering_waits:
            serving.skipped.add(call.id)
            return Error(SKIPPED)
        request = serving.request
        chain: CallHandler = call_next
        for extension in reversed(self.extensions):
            chain = _around_tool(extension, request, chain)
        error: Exception | None = None
        try:
            outcome = await chain(call)
        except Exception as raised:  # noqa: BLE001 -- what a wrapper raises is the tool failing (S2-39)
            outcome, error = Error(f"{call.name} failed: {raised}"), raised
        match outcome:
            case NeedsApproval() | Fatal():
                return outcome
            case Error(message=message):
                error = error or ToolFailedError(message)
            case Success():
                pass
        return await self._after_tool(request, _requested(ctx, call), outcome, error)

    async def after_turn(self, ctx: RunContext, results: tuple[ToolResult, ...]) -> None:
        """Close a turn, with the answer that opened it."""
        request = self._serving[ctx.run_id].request
        message = next(
            (m for m in reversed(ctx.messages) if m.role == "assistant"), Message("assistant", ())
        )
        await self._each(lambda e: e.after_turn(request, message))

    async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
        """Close a successful request."""
        request = self._serving[ctx.run_id].request
        await self._each(lambda e: e.after_run(request, answer))
        request.phase = "ready"
        await self._each(lambda e: e.on_success(request))
        return Proceed(answer)

    async def on_end(self, ctx: RunContext, end: RunEnd) -> None:
        """Tell of an error or a cancellation, and release the request whatever happens."""
        serving = self._serving.get(ctx.run_id)
        if serving is None:
            return
        try:
            match end:
                case Failed(error=error, message=message):
                    await self._fail(serving.request, error or RuntimeError(message))
                case Interrupted():
                    await self._hear(serving.request, RunCancelled())
                case _:
                    pass
        finally:
            self._release(ctx.run_id)

    def _begin(self, ctx: RunContext, message: Message | None) -> Serving:
        for other in self._serving.values():
            same = (other.request.session_id, other.request.agent_name)
            if same == (ctx.conversation_id, ctx.agent_name):
                raise RequestBusyError(f"session {ctx.conversation_id} has a request already")
        serving = Serving(Request(ctx, message), opens_history=not ctx.messages)
        self._serving[ctx.run_id] = serving
        self._current.set(serving.request)
        for extension in self.extensions:
            extension.take_part()
        return serving

    async def _set_up(self, request: Request) -> None:
        await self._each(lambda e: e.on_tool(request))
        await self._each(lambda e: e.on_state(request))

    async def _after_tool(
        self, request: Request, call: ToolUse, outcome: Outcome, error: Exception | None
    ) -> Outcome:
        for extension in self.extensions:
            outcome = await extension.after_tool(request, call, outcome, error)
        return outcome

    async def _fail(self, request: Request, error: BaseException) -> None:
        """Tell every extension of an error; one that raises too adds a note to it."""
        request.phase = "failed"
        try:
            await self._each(lambda e: e.on_error(request, error))
        except Exception as second:  # noqa: BLE001 -- the caller gets the original error (S2-45)
            error.add_note(f"on_error failed too: {type(second).__name__}: {second}")

    async def _hear(self, request: Request, notice: Notice) -> None:
        await self._each(lambda e: e.on_event(request, notice))

    async def _each(self, hook: Callable[[Extension], Awaitable[None]]) -> None:
        for extension in self.extensions:
            await hook(extension)

    def _release(self, run_id: str) -> None:
        """Release the request of every extension; their errors come out together."""
        serving = self._serving.pop(run_id)
        errors: list[Exception] = []
        for extension in self.extensions:
            extension.leave()
            try:
                extension.release(serving.request)
            except Exception as error:  # noqa: BLE001 -- the other extensions are released too
                errors.append(error)
        if errors:
            raise ExceptionGroup("extensions could not release a request", errors)


def _anew(request: ModelRequest, ctx: RunContext) -> ModelRequest:
    """Return the request with the history as it is now."""
    return replace(request, messages=ctx.messages)


def _around_model(extension: Extension, request: Request, call_next: CallProvider) -> CallProvider:
    async def around(model_request: ModelRequest) -> ModelResponse:
        return await extension.on_model_request(request, model_request, call_next)

    return around


def _around_tool(extension: Extension, request: Request, call_next: CallHandler) -> CallHandler:
    async def around(call: ToolCall) -> Outcome:
        return await extension.on_tool_call(request, call, call_next)

    return around


def _requested(ctx: CallContext, call: ToolCall) -> ToolUse:
    """Return the call as the model asked for it."""
    asked = (use for m in reversed(ctx.messages) for use in m.calls if use.id == call.id)
    return next(asked, ToolUse(call.id, call.name, call.args))
