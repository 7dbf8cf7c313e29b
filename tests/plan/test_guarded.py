"""The lines about the guarded list that no vector covers, and what the program adds (spec 2)."""

from __future__ import annotations

import json

import pytest

from tests.agent.support import call, calls, hanging, says, tool
from tests.plan.support import guarded, section, shown, write, writes
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import Warned
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import user
from todo_agent.agent.middleware import CallContext, CallTool, Middleware
from todo_agent.agent.outcomes import Answered, Failed
from todo_agent.agent.tools import Error, Outcome, Success, ToolCall, ToolContext
from todo_agent.plan.middleware import TodoListMiddleware
from todo_agent.providers.scripted import ScriptedProvider

SIX = {
    "todos",
    "todo_guard_retries",
    "todo_guard_blocked",
    "todo_guard_suppressed",
    "todo_stale_iterations",
    "todo_finalization_correction",
}


async def _fine(call: ToolCall, ctx: ToolContext) -> Outcome:
    return Success("fine")


OTHER = tool("other", _fine)


async def test_s1_13_the_result_is_the_list_as_json():
    told = guarded([writes("> a", "b"), writes("x a", "x b"), says("ok")])
    await told.send("go")
    assert json.loads(told.results[0].text) == [
        {"content": "a", "status": "in_progress"},
        {"content": "b", "status": "pending"},
    ]
    assert json.loads(told.results[1].text)[1] == {"content": "b", "status": "completed"}


async def test_s1_13_three_finished_todos_remind_of_a_last_check():
    told = guarded([writes("x a", "x b", "x c"), says("ok")])
    await told.send("go")
    listed, _, reminder = told.results[0].text.partition("\n\n")
    assert len(json.loads(listed)) == 3
    assert reminder == "All todos are completed. Check the result once more before you answer."


async def test_s1_32_a_run_is_stopped_after_so_many_forced_rounds():
    replies = [writes("> a"), *[says("Done."), calls(call("other"))] * 9]
    told = guarded(replies, tools=[OTHER], max_forced_rounds=3)
    assert await told.send("go") == Answered("Done.", "stopped")
    assert len(told.provider.requests) == 8
    assert [event.text for event in told.seen(Warned)] == ["Stopped with 1 of 1 todos open."]
    assert told.conversation.extra["todo_guard_retries"] == {}


async def test_s1_32_a_blocked_model_that_only_calls_tools_is_stopped_and_the_next_run_is_free():
    replies = [writes("> a"), *[says("Done.")] * 3, *[calls(call("other"))] * 9]
    told = guarded(replies, tools=[OTHER], max_forced_rounds=5)
    await told.send("go")
    assert len(told.provider.requests) == 7
    assert told.conversation.extra["todo_guard_blocked"] is None
    assert told.conversation.extra["todo_guard_suppressed"] is True


async def test_s1_41_45_46_prompt_and_list_are_sent_and_not_stored():
    told = guarded([writes("> a"), says("Done."), says("Done."), says("Done."), says("Why.")])
    await told.send("go")
    last = told.provider.requests[-1]
    assert [(s.name, s.cacheable) for s in last.sections] == [
        ("todos-guide", True),
        ("todos", False),
    ]
    assert section(told, "todos").endswith('\n[{"content": "a", "status": "in_progress"}]')
    assert section(told, "todos", 0) == ""
    assert all("todo list, shown" not in m.text for m in told.conversation.messages)


async def test_s1_46_a_reminder_is_stored_as_a_synthetic_message_behind_the_results():
    told = guarded(
        [writes("> a"), calls(call("other")), says("Which one?"), says("I stop."), says("x")],
        tools=[OTHER],
        stale_threshold=1,
    )
    await told.send("go")
    results, reminder = told.conversation.messages[4:6]
    assert [result.text for result in results.results] == ["fine"]
    assert (reminder.role, reminder.synthetic) == ("user", True)
    assert reminder.text.startswith("The todo list was not updated for 1 rounds;")


async def test_s1_42_43_44_both_texts_have_defaults_and_can_be_replaced():
    thread = Conversation()
    own = TodoListMiddleware(
        extra_ref=lambda: thread.extra, tool_description="My tool.", system_prompt="My words."
    )
    assert own.tools[0].description == "My tool."
    default = TodoListMiddleware(extra_ref=lambda: thread.extra)
    assert "in_progress" in default.tools[0].description
    told = guarded([says("ok")], system_prompt="My words.")
    await told.send("go")
    assert section(told, "todos-guide") == "My words."


def test_s1_48_extra_ref_is_required():
    with pytest.raises(TypeError, match="extra_ref"):
        TodoListMiddleware()  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["stale_threshold", "stale_interval", "max_forced_rounds"])
def test_s1_40_a_number_below_one_is_refused_at_once(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1"):
        TodoListMiddleware(extra_ref=dict, **{name: 0})


async def test_s1_49_the_dict_is_found_anew_at_every_use():
    threads: list[Conversation] = []
    middleware = TodoListMiddleware(extra_ref=lambda: threads[-1].extra)
    provider = ScriptedProvider([writes("x a"), says("ok"), writes("x b"), says("ok")])
    agent = Agent(provider, middleware=[middleware])
    for name in ("one", "two"):
        threads.append(Conversation(name))
        await agent.run("go", conversation=threads[-1])
    assert [thread.extra["todos"] for thread in threads] == [
        [{"content": "a", "status": "completed"}],
        [{"content": "b", "status": "completed"}],
    ]


async def test_s1_50_another_dict_than_the_saved_one_fails_the_run_loudly():
    agent = Agent(ScriptedProvider([]), middleware=[TodoListMiddleware(extra_ref=dict)])
    end = await agent.run("go")
    assert isinstance(end, Failed)
    assert end.by == "TodoListMiddleware"
    assert "pass extra_ref=lambda: conversation.extra" in end.message


async def test_s1_57_61_only_the_six_keys_are_written():
    double = calls(write("> a"), write("> b"))
    told = guarded([writes("> a"), double, *[says("Done.")] * 4, says("x")])
    await told.send("go")
    assert told.conversation.extra.keys() == SIX


class Journal:
    """Keeps every commit."""

    def __init__(self) -> None:
        self.commits: list[Commit] = []

    async def __call__(self, commit: Commit) -> None:
        self.commits.append(commit)

    @property
    def extra(self) -> dict[str, object]:
        updates = [commit.update.to_json() for commit in self.commits]
        return [u["extra"] for u in updates if "extra" in u][-1]  # type: ignore[return-value]


async def test_s1_60_the_guards_state_is_saved_after_every_round():
    journal, seen = Journal(), []

    def reply(request: object) -> object:
        seen.append(dict(journal.extra) if journal.commits[1:] else {})
        return replies.pop(0)

    replies = [writes("> a"), writes("a"), calls(call("other")), says("Done."), says("Done.")]
    thread = Conversation("thread", record=journal)
    told = guarded([reply] * 5, tools=[OTHER], conversation=thread)
    await told.send("go")
    kept = [(s.get("todo_stale_iterations", 0), s.get("todo_guard_retries", {})) for s in seen[1:]]
    assert kept == [(0, {}), (0, {}), (1, {}), (1, {"finalization": 1})]


async def test_s1_62_a_chat_without_writes_has_no_state():
    told = guarded([says("hello"), calls(call("other")), says("ok")], tools=[OTHER])
    await told.send("hi")
    await told.send("go")
    assert told.conversation.extra == {}


async def test_what_a_person_typed_meanwhile_comes_before_any_correction():
    control = Control()

    def reply(request: object) -> object:
        control.steer(user("And the docs?"))
        return says("Done.")

    told = guarded([writes("> a"), reply, writes("x a"), says("ok")])
    await told.send("go", control=control)
    assert [m.text for m in told.conversation.messages if m.role == "user" and m.text] == [
        "go",
        "And the docs?",
    ]


class TurnsDown(Middleware):
    """Turns the second write into an error, after the tool has run."""

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        outcome = await call_next(call)
        return Error("no") if ctx.step == 2 else outcome


async def test_a_write_that_a_wrapper_turned_into_an_error_did_not_happen():
    told = guarded([writes("> a"), writes("x a"), says("Which one?")], before=[TurnsDown()])
    await told.send("go")
    assert told.results[1].text == "no"
    assert told.conversation.extra["todos"] == [{"content": "a", "status": "in_progress"}]
    assert shown(told) == ["> a"]


class Repeats(Middleware):
    """Runs every call twice."""

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        await call_next(call)
        return await call_next(call)


async def test_s0_81_a_call_that_a_wrapper_repeats_is_judged_by_the_same_list():
    told = guarded([writes("> a"), writes("x a"), writes(), says("ok")], before=[Repeats()])
    await told.send("go")
    assert [result.is_error for result in told.results] == [False, False, False]
    assert shown(told) == []


async def test_a_write_that_an_interrupt_kept_from_the_thread_did_not_happen():
    control = Control()

    class Waits(Middleware):
        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            await call_next(call)
            control.interrupt()
            _, begun = hanging()
            await begun.wait()
            raise AssertionError

    told = guarded([writes("> a")], before=[Waits()])
    await told.send("go", control=control)
    assert told.conversation.extra["todos"] is None
    assert shown(told) == []
