"""However a request ends, its extensions learn of it and let go of it."""

from __future__ import annotations

import asyncio

import pytest

from tests.agent.support import ECHO, call, calls, hanging, says
from tests.extensions.support import Watching, hosted, raised, served
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import RunFinished, Warned
from todo_agent.agent.messages import Message
from todo_agent.agent.middleware import (
    Block,
    CallContext,
    CallTool,
    Middleware,
    Proceed,
    RunContext,
)
from todo_agent.agent.outcomes import Answer, Answered, Blocked, Failed, Interrupted, Suspended
from todo_agent.agent.tools import Error, NeedsApproval, Outcome, Success, ToolCall
from todo_agent.extensions.base import CallHandler, Extension, Request, Settled
from todo_agent.extensions.host import RequestFailedError

FAILING_HOOKS = [
    "on_tool", "on_state", "on_message", "on_event", "before_run", "before_turn", "before_model",
    "on_model_request", "after_model", "before_tool", "after_tool", "after_turn", "after_run",
    "on_success",
]  # fmt: skip


@pytest.mark.parametrize("hook", FAILING_HOOKS)
async def test_s2_45_51_a_hook_that_raises_fails_the_request_and_all_hear_of_the_original(hook):
    error = RuntimeError("no")
    first, last = Watching("first", priority=1, **{hook: error}), Watching("last", priority=2)
    told = await served([calls(call("echo", text="a")), says("ok")], last, first)
    assert told.end == Failed(
        f"first.{hook} failed: RuntimeError: no", "middleware", "first", error
    )
    assert first.errors == last.errors == [error]
    assert last.log.count(hook) == first.log.count(hook) - 1
    assert last.log[-1] == first.log[-1] == "release"


async def test_s2_45_a_failing_model_is_the_error_that_everybody_gets():
    watching = Watching()
    told = await served([{"error": {"kind": "auth", "message": "wrong key"}}], watching)
    assert watching.errors == [raised(told.end)]
    assert str(watching.errors[0]) == "wrong key"
    assert "after_turn" not in watching.log


async def test_s2_45_a_limit_is_an_error_too():
    watching = Watching()
    told = await served([calls(call("echo", text="a"))], watching, max_steps=1)
    assert told.end == Failed("Stopped after 1 model steps.", kind="limit")
    (error,) = watching.errors
    assert isinstance(error, RequestFailedError)
    assert str(error) == "Stopped after 1 model steps."


async def test_z1_an_extension_that_raises_in_on_error_keeps_nobody_from_hearing_and_releasing():
    error = RuntimeError("first of all")
    first = Watching("first", priority=1, on_error=RuntimeError("me too"))
    last = Watching("last", priority=2, before_turn=error)
    told = await served([], last, first)
    assert raised(told.end) is error
    assert error.__notes__ == ["first.on_error failed: RuntimeError: me too"]
    assert told.seen(Warned) == [
        Warned("first.on_error failed: RuntimeError: me too", code="extension")
    ]
    assert first.log[-2:] == last.log[-2:] == ["on_error", "release"]


async def test_z2_an_extension_that_raises_at_the_cancellation_keeps_nobody_from_releasing():
    hang, begun = hanging()
    first = Watching("first", priority=1, cancelled=RuntimeError("no"))
    last = Watching("last", priority=2)
    control = Control()
    told = hosted([calls(call("hang"))], last, first, tools=[hang])
    running = asyncio.ensure_future(told.send("go", control=control))
    await begun.wait()
    control.interrupt()
    assert await running == Interrupted()
    assert told.seen(Warned) == [
        Warned("first.on_event failed: RuntimeError: no", code="extension")
    ]
    assert first.log[-2:] == last.log[-2:] == ["cancelled", "release"]


async def test_z3_a_store_that_fails_while_calls_are_closed_keeps_nobody_from_releasing():
    hang, begun = hanging()
    control, watching, full = Control(), Watching(), OSError("disk full")

    async def record(commit: Commit) -> None:
        if begun.is_set():
            raise full

    told = hosted([calls(call("hang"))], watching, tools=[hang])
    told.conversation = Conversation("s", record=record)
    running = asyncio.ensure_future(told.send("go", control=control))
    await begun.wait()
    control.interrupt()
    assert raised(await running) is full
    assert watching.errors == [full]
    assert watching.log[-1] == "release"


async def test_a_release_that_raises_is_noted_and_keeps_nobody_from_releasing():
    error = RuntimeError("first of all")
    first = Watching("first", priority=1, release=RuntimeError("stuck"))
    last = Watching("last", priority=2, before_turn=error)
    await served([], last, first)
    assert error.__notes__ == ["first.release failed: RuntimeError: stuck"]
    assert last.log[-1] == "release"
    assert not first.pending


async def test_a_release_that_raises_after_a_success_is_a_warning():
    told = await served([says("ok")], Watching(release=RuntimeError("stuck")))
    assert told.end == Answered("ok")
    assert told.events[-2:] == [
        Warned("x.release failed: RuntimeError: stuck", code="extension"),
        RunFinished(Answered("ok")),
    ]


async def test_a_blocked_answer_is_neither_a_success_nor_an_error():
    class Strict(Middleware):
        async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
            return Block("not like this")

    watching = Watching()
    told = await served([says("ok")], watching, inside=[Strict()])
    assert told.end == Blocked("Strict", "not like this", "output")
    assert watching.log[-2:] == ["after_turn", "release"]


class AsksFirst(Middleware):
    """Wants a person's word for every call."""

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        return await call_next(call) if ctx.approved else NeedsApproval("may I?")


class Retries(Extension):
    """Calls again after whatever it takes for a failure."""

    def __init__(self) -> None:
        self.seen: list[Settled | Exception] = []

    async def on_tool_call(
        self, request: Request, call: ToolCall, call_next: CallHandler
    ) -> Outcome:
        try:
            self.seen.append(await call_next(call))
        except Exception as error:  # noqa: BLE001 -- as an extension might
            self.seen.append(error)
        return self.seen[-1] if isinstance(self.seen[-1], Success) else Error("gave up")


async def test_an_approval_is_no_extensions_business_and_its_result_is_seen_once():
    retries, watching = Retries(), Watching()
    told = hosted(
        [calls(call("echo", text="a")), says("ok")], retries, watching, inside=[AsksFirst()]
    )

    async def agree(question: object) -> Answer:
        return Answer(approved=True)

    await told.send("go", ask=agree)
    assert retries.seen == [Success("a")]
    assert [hook for hook in watching.log if "tool" in hook] == [
        "on_tool", "before_tool", "on_tool_call", "on_tool_call", "after_tool",
    ]  # fmt: skip


async def test_a_broken_middleware_is_no_failure_of_the_tool():
    class Broken(Middleware):
        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            raise RuntimeError("broken")

    retries = Retries()
    told = await served([calls(call("echo", text="a"))], retries, inside=[Broken()])
    assert isinstance(told.end, Failed)
    assert (told.end.by, str(told.end.error)) == ("Broken", "broken")
    assert retries.seen == []


async def test_s2_29_a_resumed_request_sets_up_again_and_its_own_tools_go_on():
    class Remembers(Watching):
        def __init__(self) -> None:
            super().__init__()
            self.kept: dict[Request, str] = {}

        async def on_tool(self, request: Request) -> None:
            await super().on_tool(request)
            request.add_tool(ECHO)

        async def before_run(self, request: Request) -> None:
            await super().before_run(request)
            self.kept[request] = "something"

        def release(self, request: Request) -> None:
            super().release(request)
            self.kept.pop(request, None)

    watching = Remembers()
    told = hosted(
        [calls(call("echo", text="a")), says("ok")], watching, tools=(), inside=[AsksFirst()]
    )
    assert isinstance(await told.send("go"), Suspended)
    assert watching.log[-2:] == ["on_tool_call", "release"]
    assert watching.kept == {}
    watching.log.clear()
    assert await told.resume(Answer(approved=True)) == Answered("ok")
    assert watching.log[:6] == [
        "on_tool", "on_state", "before_tool", "on_tool_call", "after_tool", "on_event",
    ]  # fmt: skip
    assert watching.log.count("before_run") == 0
    assert [result.text for result in told.results] == ["a"]
