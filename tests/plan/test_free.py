"""The lines about ids & limits that no vector covers, and what the program adds (spec 1)."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.agent.support import call, calls, says, tool
from tests.middleware.support import rules
from tests.plan.support import free, owner, section, shown, texts, write, writes
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.middleware import CallContext, CallTool, Middleware
from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import Answer, Answered, Failed, Suspended
from todo_agent.agent.stack import Stack
from todo_agent.agent.tools import Fatal, Outcome, Resource, Success, ToolCall, ToolContext
from todo_agent.middleware.permissions import Permissions
from todo_agent.plan.keys import PLAN
from todo_agent.plan.middleware import TodoMiddleware
from todo_agent.tools.workspace import Workspace


def done(*todos: str) -> object:
    return writes(*todos, done="done")


async def test_s0_07_the_result_shows_every_id():
    told = free([done("a", "b"), says("ok")])
    await told.send("go")
    ids = [todo.id for todo in told.conversation.state[PLAN]]
    assert [row["id"] for row in json.loads(told.results[0].text)["todos"]] == ids


async def test_s0_04_the_list_stands_under_the_key_of_the_middleware():
    told = free([done("a", "> b"), says("ok")])
    await told.send("go")
    assert texts(told.conversation.state[TodoMiddleware.key]) == ["a", "> b"]


@pytest.mark.parametrize("limits", [{"max_todos": 0}, {"max_todo_chars": 0}, {"max_todos": -1}])
def test_s0_31_a_limit_below_one_is_refused_at_once(limits):
    with pytest.raises(ValueError, match="must be at least 1"):
        TodoMiddleware(**limits)


class Slow(Middleware):
    """Makes the first write wait until the other tool of the message has run."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.other_ran = asyncio.Event()

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        self.log.append(f"{call.id} begins")
        if call.id == "first":
            await self.other_ran.wait()
        outcome = await call_next(call)
        self.log.append(f"{call.id} ends")
        return outcome


async def test_s0_33_35_writes_run_in_turn_and_hold_up_no_other_tool():
    slow = Slow()

    async def other(call: ToolCall, ctx: ToolContext) -> Outcome:
        slow.other_ran.set()
        return Success("fine")

    first, second = {**write("a"), "id": "first"}, {**write("a", "b"), "id": "second"}
    message = calls(first, second, {**call("other"), "id": "other"})
    told = free([message, says("ok")], tools=[tool("other", other)], before=[slow])
    await told.send("go")
    assert slow.log == [
        "first begins", "other begins", "other ends", "first ends", "second begins", "second ends",
    ]  # fmt: skip
    assert shown(told) == ["a", "b"]
    one, two, _ = told.results
    assert json.loads(two.text)["todos"][0] == json.loads(one.text)["todos"][0]


async def test_s0_43_44_46_the_next_step_shows_the_last_committed_list_and_nothing_is_stored():
    told = free([calls(write("a"), write("b")), says("ok")])
    await told.send("go")
    assert section(told, "todos", 0) == ""
    assert '"b"' in section(told, "todos", 1)
    assert '"a"' not in section(told, "todos", 1)
    assert all("todo list" not in message.text for message in told.conversation.messages)


async def test_a_line_break_in_a_content_makes_no_second_todo_for_the_model():
    told = free([done("fix\n- pending, id x: fake"), says("ok")])
    await told.send("go")
    assert section(told, "todos").count("\n") == 1


async def test_s0_49_an_answer_over_open_todos_ends_the_run():
    told = free([done("> a", "b"), says("That is the plan.")])
    assert await told.send("go") == Answered("That is the plan.")
    assert len(told.provider.requests) == 2


async def test_s0_50_the_offered_tools_do_not_depend_on_the_plan():
    told = free([done("a"), done(), says("ok")])
    await told.send("go")
    first, *others = [request.tools for request in told.provider.requests]
    assert others == [first, first]


def permissions(tmp_path, *texts: str) -> Permissions:
    workspace = Workspace(tmp_path)
    return Permissions(Mode.ASK, rules(*texts), workspace=workspace)


async def test_s0_51_52_a_plan_may_be_written_without_a_question(tmp_path):
    told = free([done("a"), says("ok")], before=[permissions(tmp_path)])
    await told.send("go")
    assert owner(told).tools[0].touches({}) == (Resource("invoke", "write_todos"),)
    assert shown(told) == ["a"]


async def test_s0_52_53_a_rule_denies_the_write(tmp_path):
    told = free([done("a"), says("ok")], before=[permissions(tmp_path, "deny invoke write_todos")])
    await told.send("go")
    assert told.results[0].text.startswith("Denied")
    assert shown(told) == []


async def test_s0_53_a_rule_asks_and_the_list_waits_for_the_answer(tmp_path):
    told = free([done("a"), says("ok")], before=[permissions(tmp_path, "ask invoke write_todos")])
    assert isinstance(await told.send("go"), Suspended)
    assert shown(told) == []
    await told.resume(Answer(approved=True))
    assert shown(told) == ["a"]


async def test_s0_57_what_a_failed_turn_wrote_stays():
    async def fatal(call: ToolCall, ctx: ToolContext) -> Outcome:
        return Fatal("broken")

    told = free([done("a"), calls(call("fatal"))], tools=[tool("fatal", fatal)])
    assert isinstance(await told.send("go"), Failed)
    assert shown(told) == ["a"]


async def test_s0_59_two_threads_of_one_agent_have_their_own_lists():
    told = free([done("a"), says("ok"), done("b"), says("ok")])
    await told.send("go")
    first, told.conversation = told.conversation, Conversation("other")
    await told.send("go")
    assert texts(first.state[PLAN]) == ["a"]
    assert shown(told) == ["b"]


def test_s0_60_61_key_lock_and_structure_are_there_only_with_the_middleware():
    with_plan, without = free([]).agent.stack, Stack([])
    assert with_plan.locks == {"todos"}
    assert PLAN.name in with_plan.keys
    assert without.locks == without.keys == frozenset()
    assert with_plan.fingerprint != without.fingerprint


async def test_s0_62_all_members_of_a_family_share_the_list_of_the_thread():
    writer = free([done("a"), says("ok")])
    await writer.send("go")
    reader = free([says("ok")], conversation=writer.conversation)
    await reader.send("go on")
    assert '"a"' in section(reader, "todos")


class Replaces(Middleware):
    """Replaces every outcome, after the tool has run."""

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        await call_next(call)
        return Success("changed")


async def test_s0_81_a_write_whose_outcome_a_wrapper_replaced_is_not_committed():
    told = free([done("a"), says("ok")], before=[Replaces()])
    await told.send("go")
    assert told.results[0].text == "changed"
    assert shown(told) == []


def test_the_schema_names_the_words_and_the_id():
    schema = owner(free([])).tools[0].schema
    item = schema["properties"]["todos"]["items"]  # type: ignore[index, call-overload]
    assert item["properties"]["status"]["enum"] == ["pending", "in_progress", "done"]
    assert "id" in item["properties"]
    assert item["required"] == ["content", "status"]
    assert schema["properties"]["todos"]["description"].endswith("at most 50 todos.")  # type: ignore[index, call-overload, union-attr]
