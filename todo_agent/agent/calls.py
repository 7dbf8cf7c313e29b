"""The calls of one answer: settled, scheduled, wrapped, approved, committed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from uuid import uuid4

from todo_agent.agent.conversation import Commit
from todo_agent.agent.events import MessageAdded, ToolFinished, ToolOutput, ToolStarted
from todo_agent.agent.messages import Display, Message, Text, ToolResult, ToolUse
from todo_agent.agent.middleware import CallTool, Middleware
from todo_agent.agent.outcomes import Answer, Failed, Question, RunEnd
from todo_agent.agent.run import Ask, Run
from todo_agent.agent.scheduling import run_together
from todo_agent.agent.stack import OwnedTool, UndeclaredKeyError, check_update, guarded
from todo_agent.agent.state import NO_UPDATE, Update
from todo_agent.agent.tools import (
    NO_LOCKS,
    Error,
    Fatal,
    Locks,
    NeedsApproval,
    Outcome,
    Success,
    Tool,
    ToolCall,
    ToolContext,
)

DENIED = "Denied by the user."


class Stopped(Exception):  # noqa: N818 -- not an error: it carries how the run ends
    """Ends the run from inside a step."""

    def __init__(self, end: RunEnd) -> None:
        super().__init__(str(end))
        self.end = end


@dataclass(kw_only=True)
class CallRun(Run):
    """A run as the wrappers of one call see it (`CallContext`)."""

    tool: Tool
    approved: bool

    @classmethod
    def of(cls, run: Run, tool: Tool, *, approved: bool) -> CallRun:
        """Return the view of a run that belongs to one call."""
        shared = {f.name: getattr(run, f.name) for f in fields(run)}
        return cls(**shared, tool=tool, approved=approved)


@dataclass
class Calls:
    """Runs the calls of one assistant message; every call gets exactly one result (S0-36).

    `settled` holds the errors known before anything runs: a call was refused, cut off, or
    is not valid. A call that waits for a person who is not there ends up in `questions`,
    and so do the later ones that share a lock with it.
    """

    run: Run
    calls: tuple[ToolUse, ...]
    settled: Mapping[str, Error]
    clock: Callable[[], float] = time.monotonic
    questions: dict[str, Question] = field(default_factory=dict)

    async def execute(self) -> tuple[ToolResult, ...]:
        """Run them and return their results in the order of the calls.

        Raises:
            Stopped: a wrapper or a tool ended the run.
            MiddlewareError, UndeclaredKeyError: a wrapper broke.
        """
        await run_together([self._locks(call) for call in self.calls], self._one)
        if self.questions or not self.calls:
            return ()
        results, index = self._committed()
        self.run.emit(MessageAdded(Message("user", results), index))
        return results

    def _committed(self) -> tuple[tuple[ToolResult, ...], int]:
        wanted = {call.id for call in self.calls}
        for index in range(len(self.run.messages) - 1, -1, -1):
            results = self.run.messages[index].results
            if any(result.tool_use_id in wanted for result in results):
                return results, index
        raise AssertionError("every call has a committed result")

    def _locks(self, call: ToolUse) -> Locks:
        return NO_LOCKS if call.id in self.settled else self.run.locks(call)

    async def _one(self, index: int) -> None:
        call = self.calls[index]
        if self._waits_behind_a_question(index):
            return
        started = self.clock()
        outcome = await self._outcome(call)
        match outcome:
            case NeedsApproval():
                return
            case Fatal(message):
                raise Stopped(Failed(message, kind="fatal", by=call.name))
            case Success() | Error():
                await self._commit(call, outcome, seconds=self.clock() - started)

    def _waits_behind_a_question(self, index: int) -> bool:
        locks = self._locks(self.calls[index])
        return any(
            earlier.id in self.questions and self._locks(earlier).conflicts(locks)
            for earlier in self.calls[:index]
        )

    async def _outcome(self, call: ToolUse) -> Outcome:
        if call.id in self.settled:
            return self.settled[call.id]
        arguments = self.run.arguments(call)
        if isinstance(arguments, Error):
            return arguments
        owned = self.run.tools[call.name]
        valid = ToolCall(call.id, call.name, arguments)
        title = owned.tool.title(arguments)
        self.run.emit(ToolStarted(call.id, call.name, title, arguments))
        answer = self.run.answers.pop(call.id, None)
        if answer is None:
            outcome = await self._through_stack(valid, owned, approved=False)
            if not isinstance(outcome, NeedsApproval):
                return outcome
            question = Question(
                id=uuid4().hex,
                text=outcome.reason,
                tool=call.name,
                title=title,
                preview=outcome.preview or await _preview(owned.tool, valid),
                rule=outcome.rule,
            )
            if self.run.ask is None:
                self.questions[call.id] = question
                return outcome
            answer = await self.run.put(question, self.run.ask)
        if not answer.approved:
            return Error(_denial(answer))
        outcome = await self._through_stack(valid, owned, approved=True)
        if isinstance(outcome, NeedsApproval):
            return Error(f"{call.name} was approved and asked for approval again: not run.")
        return outcome

    async def _through_stack(self, call: ToolCall, owned: OwnedTool, *, approved: bool) -> Outcome:
        ctx = CallRun.of(self.run, owned.tool, approved=approved)

        async def innermost(call: ToolCall) -> Outcome:
            outcome = await _run_tool(call, owned.tool, self._tool_context(call, approved=approved))
            undeclared = _update(outcome).names - owned.keys
            if undeclared:
                raise UndeclaredKeyError(owned.tool.name, undeclared)
            return outcome

        chain: CallTool = innermost
        for item in reversed(self.run.stack.middleware):
            chain = _wrapped(item, chain, ctx)
        return await chain(call)

    def _tool_context(self, call: ToolCall, *, approved: bool) -> ToolContext:
        run = self.run
        return ToolContext(
            conversation_id=run.conversation_id,
            state=run.state,
            approved=approved,
            output=lambda text: run.emit(ToolOutput(call.id, text)),
            ask=None if run.ask is None else partial(_ask, run, run.ask, call.name),
        )

    async def _commit(self, call: ToolUse, outcome: Success | Error, *, seconds: float) -> None:
        result = _result(call, outcome)
        message = Message("user", (result,))
        finished = ToolFinished(call.id, call.name, result, round(seconds, 3))
        commit = Commit((message,), _update(outcome))
        await self.run.commit(commit, with_events=(finished,))


def _wrapped(item: Middleware, call_next: CallTool, ctx: CallRun) -> CallTool:
    async def wrapped(call: ToolCall) -> Outcome:
        passed: frozenset[str] = frozenset()

        async def inner(call: ToolCall) -> Outcome:
            nonlocal passed
            outcome = await call_next(call)
            passed |= _update(outcome).names
            return outcome

        outcome = await guarded(item, item.wrap_tool_call, call, inner, ctx)
        check_update(item, _update(outcome), besides=passed)
        return outcome

    return wrapped


async def _run_tool(call: ToolCall, tool: Tool, ctx: ToolContext) -> Outcome:
    try:
        return await tool.run(call, ctx)
    except Exception as error:  # noqa: BLE001 -- whatever a tool raises is its call's error (S0-89)
        return Error(f"{tool.name} failed: {type(error).__name__}: {error}", cause=error)


async def _ask(run: Run, ask: Ask, tool: str, text: str, choices: tuple[str, ...]) -> str | None:
    question = Question(uuid4().hex, text, "question", tool, choices=choices)
    answer = await run.put(question, ask)
    return None if answer.unattended else answer.text


async def _preview(tool: Tool, call: ToolCall) -> Display | None:
    return await asyncio.to_thread(tool.preview, call.args)


def _denial(answer: Answer) -> str:
    return f"{DENIED} They said: {answer.text}" if answer.text.strip() else DENIED


def _update(outcome: Outcome) -> Update:
    return outcome.update if isinstance(outcome, Success) else NO_UPDATE


def _result(call: ToolUse, outcome: Success | Error) -> ToolResult:
    if isinstance(outcome, Error):
        return ToolResult(call.id, (Text(outcome.message),), is_error=True, display=outcome.display)
    content = outcome.content
    blocks = (Text(content),) if isinstance(content, str) else content
    return ToolResult(call.id, blocks, display=outcome.display)
