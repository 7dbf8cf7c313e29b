"""One request under way, and the ways to bring its hooks to the extensions."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from todo_agent.agent.events import Warned
from todo_agent.agent.messages import ToolUse
from todo_agent.agent.middleware import CallTool
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.stack import MiddlewareError, guarded_as
from todo_agent.agent.tools import Error, Fatal, NeedsApproval, Outcome, ToolCall
from todo_agent.extensions.base import (
    CallHandler,
    CallProvider,
    Extension,
    MessageAppended,
    Notice,
    Request,
    RunCancelled,
    Settled,
)

Hook: TypeAlias = Callable[..., Coroutine[Any, Any, None]]


class ToolFailedError(Exception):
    """A call failed and nothing was raised; the message is what the model reads."""


class Passing(BaseException):
    """Carries out of a call's wrappers what is not theirs: a question, or what broke the run.

    Not an `Exception`, so that no extension on the way out takes it for a failed tool.
    """

    def __init__(self, what: NeedsApproval | Fatal | Exception) -> None:
        super().__init__(str(what))
        self._what = what

    def arrived(self) -> Outcome:
        """Return the outcome it carried, or raise the exception."""
        if isinstance(self._what, Exception):
            raise self._what
        return self._what


@dataclass
class Serving:
    """One request that is under way, with those who take part in it."""

    request: Request
    extensions: tuple[Extension, ...]
    opens_history: bool
    """Nothing was appended before it."""
    has_begun: bool = False
    """`before_run` was called."""
    announced: set[str] = field(default_factory=set)
    """Calls that `before_tool` was called for."""
    skipped: set[str] = field(default_factory=set)
    """Calls that did not run because the person intervened."""

    async def each(self, hook: Callable[[Extension], Hook], *args: object) -> None:
        """Bring a hook to every extension in turn.

        Raises:
            MiddlewareError: one raised; it names the extension. The others miss the hook.
        """
        for extension in self.extensions:
            await guarded_as(extension.name, hook(extension), self.request, *args)

    async def set_up(self) -> None:
        """Collect the tools, then let state be set up."""
        await self.each(lambda e: e.on_tool)
        await self.each(lambda e: e.on_state)

    async def tell(self, notice: Notice) -> None:
        """Tell every extension; the first message of a history comes after the system prompt."""
        await self.open_history()
        await self.each(lambda e: e.on_event, notice)

    async def open_history(self) -> None:
        """Tell of the system prompt where nothing stands behind it yet."""
        if self.opens_history:
            self.opens_history = False
            await self.each(lambda e: e.on_event, MessageAppended(None))

    async def announce(self, call: ToolUse) -> None:
        """Tell of a call that is about to run, or that cannot."""
        self.announced.add(call.id)
        await self.each(lambda e: e.before_tool, call)

    async def before_model(self, made_anew: Callable[[], ModelRequest]) -> None:
        """Show each extension the request as it is by then."""
        for extension in self.extensions:
            await guarded_as(extension.name, extension.before_model, self.request, made_anew())

    def around_model(self, call_next: CallProvider) -> CallProvider:
        """Return the model call with every extension around it."""
        chain = call_next
        for extension in reversed(self.extensions):
            chain = self._around_model(extension, chain)
        return chain

    def around_tool(self, call_next: CallTool) -> CallHandler:
        """Return the call of a tool with every extension around it.

        Raises:
            Passing: what comes out is neither a success nor the tool's error.
        """

        async def innermost(call: ToolCall) -> Settled:
            try:
                outcome = await call_next(call)
            except Exception as error:
                raise Passing(error) from error
            return _settled(outcome)

        chain: CallHandler = innermost
        for extension in reversed(self.extensions):
            chain = self._around_tool(extension, chain)
        return chain

    async def after_tool(self, call: ToolUse, outcome: Settled) -> Settled:
        """Let every extension see and change what becomes of a call."""
        error = None
        if isinstance(outcome, Error):
            error = outcome.cause or ToolFailedError(outcome.message)
        for extension in self.extensions:
            outcome = await guarded_as(
                extension.name, extension.after_tool, self.request, call, outcome, error
            )
        return outcome

    async def fail(self, error: BaseException) -> None:
        """Tell every extension of the error the request ends with, whatever one raises."""
        self.request.phase = "failed"
        for trouble in await self._everyone(lambda e: e.on_error, error):
            error.add_note(trouble)

    async def cancel(self) -> None:
        """Tell every extension of the cancellation, whatever one raises."""
        self.request.phase = "cancelled"
        await self._everyone(lambda e: e.on_event, RunCancelled())

    def release(self) -> list[str]:
        """Release the request everywhere; return, and show, what could not be."""
        troubles: list[str] = []
        for extension in self.extensions:
            extension.leave()
            try:
                extension.release(self.request)
            except Exception as error:  # noqa: BLE001 -- the other extensions release it too
                troubles.append(str(MiddlewareError(extension.name, "release", error)))
        self._warn(troubles)
        return troubles

    async def _everyone(self, hook: Callable[[Extension], Hook], *args: object) -> list[str]:
        troubles: list[str] = []
        for extension in self.extensions:
            try:
                await guarded_as(extension.name, hook(extension), self.request, *args)
            except Exception as error:  # noqa: BLE001 -- the request has ended; all hear of it
                troubles.append(str(error))
        self._warn(troubles)
        return troubles

    def _warn(self, troubles: list[str]) -> None:
        for trouble in troubles:
            self.request.emit(Warned(trouble, code="extension"))

    def _around_model(self, extension: Extension, call_next: CallProvider) -> CallProvider:
        async def around(model_request: ModelRequest) -> ModelResponse:
            return await guarded_as(
                extension.name, extension.on_model_request, self.request, model_request, call_next
            )

        return around

    def _around_tool(self, extension: Extension, call_next: CallHandler) -> CallHandler:
        async def around(call: ToolCall) -> Settled:
            return _settled(await extension.on_tool_call(self.request, call, call_next))

        return around


def _settled(outcome: Outcome) -> Settled:
    match outcome:
        case NeedsApproval() | Fatal():
            raise Passing(outcome)
        case _:
            return outcome
