"""One input, from the first step to the end of the run."""

from __future__ import annotations

import asyncio

from tests.agent.support import BROKEN, ECHO, call, calls, hanging, run, says, story, tool
from todo_agent.agent.control import Control
from todo_agent.agent.events import (
    Event,
    MessageAdded,
    RunFinished,
    RunStarted,
    StepStarted,
    TextDelta,
    ToolFinished,
    Warned,
)
from todo_agent.agent.history import sendable
from todo_agent.agent.messages import Message, Text, ToolUse, assistant, user
from todo_agent.agent.outcomes import Answered, Failed, Interrupted
from todo_agent.agent.provider import Usage
from todo_agent.agent.tools import Fatal, Locks, Outcome, Success, ToolCall, ToolContext


class Listening(list[Event]):
    """Keeps events, and tells when one of a kind has come."""

    def __init__(self, kind: type[Event], heard: asyncio.Event) -> None:
        self.kind, self.heard = kind, heard

    def append(self, event: Event) -> None:
        super().append(event)
        if isinstance(event, self.kind):
            self.heard.set()


async def test_an_answer_ends_the_run_and_is_stored():
    done = await run([says("hello")])
    assert done.end == Answered("hello")
    assert done.conversation.messages == (user("go"), assistant(Text("hello")))


async def test_calls_are_run_and_their_results_sent_until_the_model_answers():
    done = await run([calls(call("echo", text="one")), calls(call("echo", text="two")), says("ok")])
    assert [result.text for result in done.results] == ["one", "two"]
    assert done.provider.requests[2].messages == done.conversation.messages[:5]
    assert done.end == Answered("ok")


async def test_every_call_gets_one_result_in_call_order_though_a_later_one_is_faster():
    first_may_end = asyncio.Event()

    async def slow(call: ToolCall, ctx: ToolContext) -> Outcome:
        await first_may_end.wait()
        return Success("slow")

    async def fast(call: ToolCall, ctx: ToolContext) -> Outcome:
        first_may_end.set()
        return Success("fast")

    done = await run(
        [calls(call("slow"), call("fast"), call("broken")), says("ok")],
        tools=[tool("slow", slow), tool("fast", fast), BROKEN],
    )
    (message,) = [m for m in done.conversation.messages if m.results]
    assert [result.text for result in message.results] == [
        "slow",
        "fast",
        "broken failed: RuntimeError: it broke",
    ]


async def test_calls_that_share_a_lock_run_in_turn_and_others_do_not_wait():
    log: list[str] = []
    other_ran = asyncio.Event()

    async def locked(call: ToolCall, ctx: ToolContext) -> Outcome:
        log.append(f"{call.args['n']} in")
        await other_ran.wait()
        log.append(f"{call.args['n']} out")
        return Success("")

    async def free(call: ToolCall, ctx: ToolContext) -> Outcome:
        log.append("free")
        other_ran.set()
        return Success("")

    lock = Locks(exclusive=frozenset({"it"}))
    await run(
        [calls(call("locked", n=1), call("locked", n=2), call("free")), says("ok")],
        tools=[tool("locked", locked, lock), tool("free", free)],
    )
    assert log == ["1 in", "free", "1 out", "2 in", "2 out"]


async def test_an_unknown_tool_is_an_error_that_names_the_real_ones_and_its_sibling_runs():
    done = await run([calls(call("TodoWrite"), call("echo", text="x")), says("ok")])
    assert [(result.text, result.is_error) for result in done.results] == [
        ("There is no tool named 'TodoWrite'. The tools are: broken, echo.", True),
        ("x", False),
    ]


async def test_arguments_are_checked_before_the_tool_runs():
    done = await run([calls(call("echo", text=3), call("echo", text="x")), says("ok")])
    wrong, right = done.results
    assert wrong.is_error
    assert "text is the number 3, expected a string" in wrong.text
    assert right.text == "x"


async def test_a_fatal_outcome_fails_the_run_without_a_result_and_the_thread_goes_on():
    async def fatal(call: ToolCall, ctx: ToolContext) -> Outcome:
        return Fatal("the disk is gone")

    done = await run([calls(call("fatal")), says("again")], tools=[tool("fatal", fatal)])
    assert done.end == Failed("the disk is gone", kind="fatal", by="fatal")
    assert done.results == []
    assert await done.send("go on") == Answered("again")
    assert [result.is_error for result in done.results] == [True]


async def test_an_interrupt_in_a_tool_answers_every_call_and_the_thread_goes_on():
    hang, begun = hanging()
    done = story(
        [calls(call("echo", text="a"), call("hang"), call("hang")), says("fine")],
        tools=[ECHO, hang],
    )
    control = Control()
    running = asyncio.create_task(done.send("go", control=control))
    await begun.wait()
    control.interrupt()
    assert await running == Interrupted()
    assert [(result.text, result.is_error) for result in done.results] == [
        ("a", False),
        ("Interrupted by the user before it finished.", True),
        ("Interrupted by the user before it finished.", True),
    ]
    assert len(done.seen(ToolFinished)) == 3
    assert await done.send("go on") == Answered("fine")
    roles = [message.role for message in sendable(done.conversation.messages)]
    assert roles == ["user", "assistant", "user", "assistant"]


async def test_an_interrupt_while_the_model_writes_keeps_what_was_written_as_partial():
    heard = asyncio.Event()
    done = story([{"text": "half an ans", "hang": True}, says("whole")])
    done.events = Listening(TextDelta, heard)
    control = Control()
    running = asyncio.create_task(done.send("go", control=control))
    await heard.wait()
    control.interrupt()
    assert await running == Interrupted()
    last = done.conversation.messages[-1]
    assert last.partial
    assert "half an ans".startswith(last.text)
    assert last.text


async def test_an_interrupt_before_the_run_starts_stops_it():
    control = Control()
    control.interrupt()
    done = story([says("never")])
    assert await done.send("go", control=control) == Interrupted()
    assert done.provider.requests == []


async def test_a_cancelled_caller_is_cancelled_after_the_run_was_closed():
    hang, begun = hanging()
    done = story([calls(call("hang"))], tools=[hang])
    running = asyncio.create_task(done.send("go"))
    await begun.wait()
    running.cancel()
    (outcome,) = await asyncio.gather(running, return_exceptions=True)
    assert isinstance(outcome, asyncio.CancelledError)
    assert [result.is_error for result in done.results] == [True]
    assert isinstance(done.events[-1], RunFinished)


async def test_what_is_typed_meanwhile_is_delivered_at_the_next_step():
    control = Control()

    async def steering(call: ToolCall, ctx: ToolContext) -> Outcome:
        control.steer(user("also the docs"))
        return Success("done")

    done = story([calls(call("steering")), says("ok")], tools=[tool("steering", steering)])
    await done.send("go", control=control)
    assert [message.text for message in done.provider.requests[1].messages] == [
        "go",
        "",
        "",
        "also the docs",
    ]


async def test_what_is_typed_during_the_answer_goes_on_with_the_run():
    control = Control()

    def typed_meanwhile(request: object) -> dict[str, str]:
        control.steer(user("and more"))
        return {"text": "first"}

    done = story([typed_meanwhile, says("second")])
    assert await done.send("go", control=control) == Answered("second")
    assert done.texts == [
        ("user", "go"),
        ("assistant", "first"),
        ("user", "and more"),
        ("assistant", "second"),
    ]


async def test_a_call_cut_off_by_the_output_limit_does_not_run():
    ran: list[str] = []

    async def record(call: ToolCall, ctx: ToolContext) -> Outcome:
        ran.append(call.id)
        return Success("")

    cut = {"calls": [call("record")], "stop": "max_tokens"}
    done = await run([cut, says("smaller")], tools=[tool("record", record)])
    assert ran == []
    assert [result.is_error for result in done.results] == [True]
    assert done.end == Answered("smaller")


async def test_a_pause_is_sent_back_as_it_is():
    done = await run([{"text": "searching", "stop": "pause_turn"}, says("found")])
    assert done.provider.requests[1].messages[-1] == assistant(Text("searching"))
    assert done.end == Answered("found")


async def test_a_refusal_fails_the_run_by_name():
    done = await run([{"text": "", "stop": "refusal"}])
    assert done.end == Failed("The model declined to answer.", kind="refusal", by="model")


async def test_an_unknown_stop_reason_ends_the_run_by_its_name_and_runs_no_call():
    done = await run([{"text": "hm", "stop": "some_future_reason"}])
    assert done.end == Answered("hm", stop="some_future_reason")
    done = await run(
        [{"calls": [call("echo", text="x")], "stop": "some_future_reason"}, says("ok")]
    )
    assert [result.text for result in done.results] == [
        "Not run: the answer ended with some_future_reason, so the call may be incomplete."
    ]


async def test_the_step_limit_ends_the_run():
    done = await run([calls(call("echo", text="x"))] * 3, max_steps=2)
    assert done.end == Failed("Stopped after 2 model steps.", kind="limit")


async def test_an_empty_answer_is_not_stored_and_ends_the_run():
    done = await run([says("")])
    assert done.end == Answered("")
    assert done.conversation.messages == (user("go"),)
    assert done.seen(Warned) == []


async def test_the_events_of_a_step_come_in_order_and_after_the_commit():
    done = await run([calls(call("echo", text="x")), says("ok")])
    order = [
        type(event).__name__
        for event in done.events
        if isinstance(event, RunStarted | StepStarted | MessageAdded | ToolFinished | RunFinished)
    ]
    assert order == [
        "RunStarted", "MessageAdded",
        "StepStarted", "MessageAdded", "ToolFinished", "MessageAdded",
        "StepStarted", "MessageAdded", "RunFinished",
    ]  # fmt: skip


async def test_without_a_message_the_run_goes_on_from_the_conversation():
    done = story([{"error": {"kind": "server", "message": "down"}}, says("up")])
    await done.send("go")
    assert done.end.message == "down"
    assert await done.send(None) == Answered("up")
    assert done.texts == [("user", "go"), ("assistant", "up")]


async def test_one_agent_serves_two_conversations_at_a_time():
    gate = asyncio.Event()

    async def meet(call: ToolCall, ctx: ToolContext) -> Outcome:
        if ctx.conversation_id == "a":
            await gate.wait()
        gate.set()
        return Success(ctx.conversation_id)

    reply = lambda request: calls(call("meet")) if len(request.messages) == 1 else says("ok")  # noqa: E731
    a, b = (story([reply] * 4, tools=[tool("meet", meet)]) for _ in "ab")
    a.conversation.id, b.conversation.id = "a", "b"
    b.agent = a.agent
    await asyncio.gather(a.send("go"), b.send("go"))
    assert [a.results[0].text, b.results[0].text] == ["a", "b"]


async def test_usage_is_that_of_all_calls_and_the_context_that_of_the_last():
    first = {"calls": [call("echo", text="x")], "usage": {"input_tokens": 10, "output_tokens": 5}}
    second = {"text": "ok", "usage": {"input_tokens": 20, "output_tokens": 1}}
    done = await run([first, second])
    assert done.conversation.usage == Usage(30, 6)
    assert done.conversation.context_tokens == 21


def test_messages_of_foreign_threads_become_sendable():
    broken = (
        assistant(Text("hi"), ToolUse("a", "echo", {}), ToolUse("b", "echo", {})),
        user("and?"),
        Message("assistant", (Text(" \n"),)),
        assistant(ToolUse("c", "echo", {})),
    )
    roles = [message.role for message in sendable(broken)]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    pairs = [
        ([c.id for c in m.calls], [r.tool_use_id for r in n.results])
        for m, n in zip(sendable(broken), sendable(broken)[1:], strict=False)
        if m.calls
    ]
    assert pairs == [(["a", "b"], ["a", "b"]), (["c"], ["c"])]
