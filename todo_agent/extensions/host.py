"""One middleware that runs all extensions of an agent; the loop never learns of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace

from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import Event, Warned
from todo_agent.agent.messages import Message, Text, ToolResult, ToolUse
from todo_agent.agent.middleware import (
    NATURAL,
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
from todo_agent.agent.stack import MiddlewareError, Stack
from todo_agent.agent.tools import Error, Outcome, Tool, ToolCall
from todo_agent.extensions.base import Compaction, Extension, MessageAppended, Request, Settled
from todo_agent.extensions.serving import Passing, Serving

SKIPPED = "Refused (skipped_by_steering): not run, because the person intervened."


class RequestBusyError(RuntimeError):
    """The session has a request already (S2-55)."""


class RequestFailedError(Exception):
    """A request failed and nothing was raised: a limit was hit, or the model declined."""


class ExtensionHost(Middleware):
    """Runs extensions with their barriers and priorities (spec 3.3).

    It belongs first into a stack: it sees the input first, and its `on_success` comes
    when every other middleware has agreed to the answer. Agents that share one host have
    different names.

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
        self.fingerprint = ", ".join(extension.name for extension in self.extensions)
        self._serving: dict[str, Serving] = {}
        self._current: ContextVar[str] = ContextVar("run_id", default="")

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools registered for the request of the task that asks."""
        serving = self._serving.get(self._current.get())
        return () if serving is None else tuple(serving.request.tools)

    def accept(self, config: object | None, event: object) -> tuple[str, ...]:
        """Ask every extension about an external event; return the names that accept it (S2-48)."""
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
            RequestBusyError: a request of it is under way.
            Exception: what a hook raised, after every `on_error`.
        """
        run = Run(conversation, Stack([self]), agent_name, emit, Control(), None, "", _no_model)
        if conversation.running:
            raise RequestBusyError(f"session {conversation.id!r} has a request already")
        serving = self._begin(run, Compaction(run, conversation=conversation))
        conversation.running = True
        try:
            await self._compact(serving)
            await run.commit(Commit())
        finally:
            conversation.running = False
            self._release(run.run_id)

    async def _compact(self, serving: Serving) -> None:
        try:
            await serving.set_up()
            await serving.open_history()
            await serving.each(lambda e: e.on_compact)
        except asyncio.CancelledError:
            await serving.cancel()
            raise
        except Exception as error:  # noqa: BLE001 -- they are told first, then it goes on
            raised = error.error if isinstance(error, MiddlewareError) else error
            await serving.fail(raised)
            raise raised from None

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        """Open a request: tools, state, input."""
        serving = self._begin(ctx, Request(ctx, message))
        await serving.set_up()
        await serving.each(lambda e: e.on_message)
        return Proceed(serving.request.message or message)

    async def on_resume(self, ctx: RunContext) -> None:
        """Open a request that goes on after a suspension; nothing in memory is left (S2-29)."""
        serving = self._begin(ctx, Request(ctx))
        serving.has_begun = True
        await serving.set_up()

    async def on_message(self, ctx: RunContext, message: Message) -> None:
        """Tell of an appended message."""
        serving = self._serving.get(ctx.run_id)
        if serving is None:
            return
        await serving.tell(MessageAppended(message))
        for result in message.results:
            if result.tool_use_id in serving.skipped:
                ctx.emit(Warned("A call was skipped: you intervened.", code="tool_skipped"))

    async def before_turn(self, ctx: RunContext) -> None:
        """Open the run with its first turn, and every turn."""
        serving = self._serving[ctx.run_id]
        if not serving.has_begun:
            serving.has_begun = True
            await serving.each(lambda e: e.before_run)
        await serving.each(lambda e: e.before_turn)

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """Show the request to each extension, made anew, and wrap the call.

        What is asked beside the conversation is none of theirs.
        """
        if request.aside:
            return await call_next(request)
        serving, seen = self._serving[ctx.run_id], len(ctx.messages)

        def made_anew() -> ModelRequest:
            return replace(request, messages=(*request.messages, *ctx.messages[seen:]))

        await serving.before_model(made_anew)
        return await serving.around_model(call_next)(made_anew())

    async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
        """Announce the answer and its calls, or skip the calls where the person intervened."""
        serving, calls = self._serving[ctx.run_id], response.message.calls
        await serving.each(lambda e: e.after_model, response)
        if not calls:
            return NATURAL
        if ctx.steering_waits:
            serving.skipped |= {call.id for call in calls}
            return Directive(refuse={call.id: Error(SKIPPED) for call in calls})
        faults = {call.id: response.faults.get(call.id) or ctx.fault(call) for call in calls}
        for call in _without_waiting(calls, faults, ctx):
            await serving.announce(call)
        refused: dict[str, Error] = {}
        for call in calls:
            fault = faults[call.id]
            if fault is not None:
                refused[call.id] = _error(await serving.after_tool(call, Error(fault)))
        return Directive(refuse=refused)

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        """Wrap the handler, and let every extension see what came of it."""
        serving = self._serving[ctx.run_id]
        if ctx.steering_waits and not ctx.approved:
            serving.skipped.add(call.id)
            return Error(SKIPPED)
        asked = _asked(ctx, call)
        if call.id not in serving.announced:
            await serving.announce(asked)
        outcome: Settled
        try:
            outcome = await serving.around_tool(call_next)(call)
        except Passing as passing:
            return passing.arrived()
        except Exception as error:  # noqa: BLE001 -- what a wrapper raises is the tool failing (S2-39)
            text = f"{call.name} failed: {type(error).__name__}: {error}"
            outcome = Error(text, cause=error)
        return await serving.after_tool(asked, outcome)

    async def after_turn(self, ctx: RunContext, results: tuple[ToolResult, ...]) -> None:
        """Close a turn, with the answer that opened it."""
        answers = (m for m in reversed(ctx.messages) if m.role == "assistant")
        message = next(answers, Message("assistant", ()))
        await self._serving[ctx.run_id].each(lambda e: e.after_turn, message)

    async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
        """Close a successful request."""
        serving = self._serving[ctx.run_id]
        await serving.each(lambda e: e.after_run, answer)
        serving.request.phase = "ready"
        await serving.each(lambda e: e.on_success)
        return Proceed(answer)

    async def on_end(self, ctx: RunContext, end: RunEnd) -> None:
        """Tell of an error or a cancellation, and release the request whatever happens."""
        serving = self._serving.get(ctx.run_id)
        if serving is None:
            return
        error: BaseException | None = None
        try:
            match end:
                case Failed(message, error=raised):
                    error = raised or RequestFailedError(message)
                    await serving.fail(error)
                case Interrupted():
                    await serving.cancel()
                case _:
                    pass
        finally:
            for trouble in self._release(ctx.run_id):
                if error is not None:
                    error.add_note(trouble)

    def _begin(self, ctx: RunContext, request: Request) -> Serving:
        session = (ctx.conversation_id, ctx.agent_name)
        for other in self._serving.values():
            if session == (other.request.session_id, other.request.agent_name):
                raise RequestBusyError(f"session {ctx.conversation_id!r} has a request already")
        serving = Serving(request, self.extensions, opens_history=not ctx.messages)
        self._serving[ctx.run_id] = serving
        self._current.set(ctx.run_id)
        for extension in self.extensions:
            extension.take_part()
        return serving

    def _release(self, run_id: str) -> list[str]:
        return self._serving.pop(run_id).release()


async def _no_model(run: Run, messages: tuple[Message, ...]) -> ModelResponse:
    raise RuntimeError("a compaction by extensions has no model to ask (S2-47)")


def _without_waiting(
    calls: tuple[ToolUse, ...], faults: dict[str, str | None], ctx: RunContext
) -> list[ToolUse]:
    """Return the calls that need not wait for an earlier one of their message."""
    return [
        call
        for index, call in enumerate(calls)
        if faults[call.id] is not None
        or not any(
            faults[earlier.id] is None and ctx.locks(earlier).conflicts(ctx.locks(call))
            for earlier in calls[:index]
        )
    ]


def _error(outcome: Settled) -> Error:
    """Return the outcome of a call that could not run: an error, with the text it was given."""
    if isinstance(outcome, Error):
        return outcome
    if isinstance(outcome.content, str):
        return Error(outcome.content)
    return Error("".join(part.text for part in outcome.content if isinstance(part, Text)))


def _asked(ctx: CallContext, call: ToolCall) -> ToolUse:
    """Return the call as the model asked for it."""
    asked = (use for m in reversed(ctx.messages) for use in m.calls if use.id == call.id)
    return next(asked, ToolUse(call.id, call.name, call.args))
