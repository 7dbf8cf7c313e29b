"""The lines about the sequential list that no vector covers, and what the program adds (spec 3)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.agent.support import Story, call, calls, hanging, says, tool
from tests.plan.arguments import MESSAGES
from tests.plan.support import First, Meeting, plan, section, shown, texts, write, writes
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.events import Event, RunFinished, ToolFinished
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Message
from todo_agent.agent.middleware import CallContext, CallModel, CallTool, Middleware, RunContext
from todo_agent.agent.outcomes import Answer, Answered, Failed, Interrupted, Suspended
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.tools import Error, NeedsApproval, Outcome, Success, Tool, ToolCall
from todo_agent.extensions.base import Extension, Notice, Request, RunCancelled
from todo_agent.extensions.host import ExtensionHost
from todo_agent.plan.extension import TodoWriteExtension
from todo_agent.plan.keys import PLAN, PLAN_HISTORY, is_interrupted
from todo_agent.plan.middleware import TodoMiddleware
from todo_agent.plan.plan import Plan, Status
from todo_agent.providers.scripted import ScriptedProvider


def step(*todos: str) -> object:
    return writes(*todos, tool="todo_write")


class SequentialStory(Story):
    extension: TodoWriteExtension


def sequential(
    replies: Sequence[object],
    *others: Extension,
    conversation: Conversation | None = None,
    extension: TodoWriteExtension | None = None,
    tools: Sequence[Tool] = (),
    before: Sequence[Middleware] = (),
    outermost: Sequence[Middleware] = (),
    name: str = "agent",
) -> SequentialStory:
    extension = extension or TodoWriteExtension()
    provider = ScriptedProvider(list(replies))  # type: ignore[arg-type]
    stack = [ExtensionHost([extension, *others]), *outermost, extension.notes, *before]
    agent = Agent(provider, middleware=stack, tools=tools, name=name)
    told = SequentialStory(agent, provider, conversation or Conversation("session"))
    told.extension = extension
    return told


async def test_s2_01_the_tool_is_offered_to_every_request_of_an_instance():
    one = sequential([says("ok")])
    two = sequential([says("ok")], extension=one.extension, conversation=Conversation("two"))
    for told in (one, two):
        await told.send("go")
        assert [spec.name for spec in told.provider.requests[0].tools] == ["todo_write"]


class Reads(Extension):
    """Notes what is left of the list at each place of the end."""

    priority = 1

    def __init__(self, lists: TodoWriteExtension) -> None:
        self.lists = lists
        self.seen: dict[str, Plan | None] = {}

    async def after_turn(self, request: Request, message: Message) -> None:
        self.seen["after_turn"] = self.lists.todos(request.session_id)

    async def on_success(self, request: Request) -> None:
        self.seen["on_success"] = self.lists.todos(request.session_id)


async def test_s2_21_the_list_is_there_in_every_turn_and_gone_in_on_success():
    lists = TodoWriteExtension()
    reads = Reads(lists)
    told = sequential([step("> a"), says("ok")], reads, extension=lists)
    at: dict[str, Plan | None] = {}

    def emit(event: Event) -> None:
        if isinstance(event, ToolFinished | RunFinished):
            at[type(event).__name__] = lists.todos("session")

    await told.agent.run("go", emit, conversation=told.conversation)
    assert reads.seen == {"after_turn": plan("> a"), "on_success": None}
    assert at == {"ToolFinished": plan("> a"), "RunFinished": None}


async def test_the_copy_of_the_list_stays_to_be_looked_at_until_the_next_first_write():
    told = sequential([step("> a"), step("x a"), says("ok"), says("hm"), step("> b"), says("ok")])
    await told.send("go")
    assert told.extension.todos("session") is None
    assert shown(told) == ["x a"]
    await told.send("and?")
    assert shown(told) == ["x a"]
    await told.send("more")
    assert shown(told) == ["> b"]
    assert [texts(v.plan) for v in told.conversation.state[PLAN_HISTORY]] == [
        ["> a"],
        ["x a"],
        ["> b"],
    ]


class Asks(Middleware):
    """Asks before the other tool runs."""

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        if call.name == "hang" and not ctx.approved:
            return NeedsApproval("really?")
        return Error("fine") if call.name == "hang" else await call_next(call)


async def test_s2_29_a_resumed_request_has_no_list():
    hang, _ = hanging()
    told = sequential(
        [step("> a", "b"), calls(call("hang")), step("x a", "> b"), step("> b"), says("ok")],
        tools=[hang],
        before=[Asks()],
    )
    assert isinstance(await told.send("go"), Suspended)
    assert told.extension.todos("session") is None
    await told.resume(Answer(approved=True))
    assert [result.is_error for result in told.results] == [False, True, True, False]
    assert told.results[2].text.startswith("Refused (completed_on_first_write)")


class Raises(Extension):
    """Raises at one place, before the list's extension hears of it."""

    priority = 1

    def __init__(self, where: str) -> None:
        self.where = where

    async def on_error(self, request: Request, error: BaseException) -> None:
        if self.where == "on_error":
            raise RuntimeError("on_error broke")

    async def on_event(self, request: Request, notice: Notice) -> None:
        if self.where == "on_event" and isinstance(notice, RunCancelled):
            raise RuntimeError("on_event broke")

    async def after_run(self, request: Request, answer: Message) -> None:
        if self.where == "after_run":
            raise RuntimeError("after_run broke")

    def release(self, request: Request) -> None:
        if self.where == "release":
            raise RuntimeError("release broke")


@pytest.mark.parametrize("where", ["on_error", "on_event", "after_run", "release"])
async def test_s2_17_18_19_the_list_is_released_whatever_another_extension_raises(where):
    control, (hang, begun) = Control(), hanging()
    last = says("ok") if where == "after_run" else calls(call("hang"))
    told = sequential([step("> a"), last], Raises(where), tools=[hang])
    running = asyncio.ensure_future(told.send("go", control=control))
    if where != "after_run":
        await begun.wait()
        control.interrupt()
    assert isinstance(await running, Failed | Interrupted)
    assert told.extension.todos("session") is None
    assert not told.extension.pending


async def test_s2_18_a_failed_model_call_clears_the_list_whatever_on_error_raises():
    told = sequential([step("> a")], Raises("on_error"))
    assert isinstance(await told.send("go"), Failed)
    assert told.extension.todos("session") is None


@pytest.mark.parametrize("session", ["", " \t", None, 3])
def test_s2_26_a_blank_session_or_none_at_all_is_an_error(session):
    extension = TodoWriteExtension()
    for look in (extension.todos, extension.clear):
        with pytest.raises(ValueError, match="session id"):
            look(session)


async def test_s2_16_two_writes_of_one_message_run_in_order_even_when_a_wrapper_awaits():
    message = calls(write("> a", "b", tool="todo_write"), write("x a", "> b", tool="todo_write"))
    told = sequential([message, says("ok")], before=[First()])
    await told.send("go")
    assert [result.is_error for result in told.results] == [False, False]
    assert shown(told) == ["x a", "> b"]


async def test_two_agents_of_one_session_on_one_instance_have_their_own_lists():
    extension, meeting = TodoWriteExtension(), Meeting(2)
    one = sequential(
        [step("> a"), step("x a"), says("ok")], extension=extension, name="one", before=[meeting]
    )
    two = sequential(
        [step("> b", "c"), step("x b", "> c"), says("ok")],
        extension=extension,
        name="two",
        before=[meeting],
    )
    await asyncio.gather(one.send("go"), two.send("go"))
    assert [result.is_error for result in (*one.results, *two.results)] == [False] * 4
    assert (shown(one), shown(two)) == (["x a"], ["x b", "> c"])
    assert extension.todos("session") is None


async def test_the_first_agent_to_finish_clears_nothing_of_the_other():
    extension, (hang, begun) = TodoWriteExtension(), hanging()
    control = Control()
    slow = sequential(
        [step("> a"), calls(call("hang"))], extension=extension, name="slow", tools=[hang]
    )
    quick = sequential([step("> b"), says("ok")], extension=extension, name="quick")
    running = asyncio.ensure_future(slow.send("go", control=control))
    await begun.wait()
    await quick.send("go")
    assert extension.todos("session") == plan("> a")
    control.interrupt()
    await running
    assert extension.todos("session") is None


class TurnsDown(Middleware):
    """Turns the second write into an error, after the tool has run."""

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        outcome = await call_next(call)
        return Error("no") if ctx.step == 2 else outcome


async def test_a_write_that_a_wrapper_turned_into_an_error_did_not_happen():
    told = sequential(
        [step("> a", "b"), step("x a", "> b"), step("x a", "> b"), says("ok")], before=[TurnsDown()]
    )
    await told.send("go")
    assert [result.is_error for result in told.results] == [False, True, False]
    assert shown(told) == ["x a", "> b"]


async def test_a_person_changes_the_list_of_a_running_request_and_the_model_goes_on_from_it():
    async def edits(call: ToolCall, ctx: object) -> Outcome:
        wanted = plan("> a", "b", "x c", "new")
        refused = await told.extension.user_edit(told.conversation, wanted)
        return Error(str(refused))

    told = sequential(
        [
            step("> a", "b", "c"),
            calls(call("edits")),
            step("x c", "x a", "> b", "new"),
            says("ok"),
        ],
        tools=[tool("edits", edits)],
    )
    await told.send("go")
    assert section(told, "plan-note", 2) == (
        'The person changed the plan: added "new"; set "c" to done; put the todos into another '
        "order. Their version counts."
    )
    assert json.loads(section(told, "todos", 2).partition("\n")[2])["todos"] == [
        {"content": "c", "status": "completed"},
        {"content": "a", "status": "in_progress"},
        {"content": "b", "status": "pending"},
        {"content": "new", "status": "pending"},
    ]
    assert section(told, "todos", 3) == ""
    assert shown(told) == ["x c", "x a", "> b", "new"]


async def test_a_person_empties_the_list_and_the_model_starts_afresh():
    async def empties(call: ToolCall, ctx: object) -> Outcome:
        return Error(str(await told.extension.user_edit(told.conversation, Plan())))

    told = sequential(
        [step("> a"), calls(call("empties")), step("> other", "thing"), says("ok")],
        tools=[tool("empties", empties)],
    )
    await told.send("go")
    assert shown(told) == ["> other", "thing"]


async def test_a_person_changes_the_list_between_requests():
    told = sequential([step("> a", "b"), says("ok"), says("ok")])
    await told.send("go")
    assert await told.extension.user_edit(told.conversation, plan("x a", "b")) is None
    assert shown(told) == ["x a", "> b"]
    await told.send("go on")
    assert 'set "a" to done' in section(told, "plan-note")
    assert '"in_progress": "b"' in section(told, "todos")


class Forgets(Middleware):
    """Sends nothing of the conversation but its last message."""

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        return await call_next(replace(request, messages=request.messages[-1:]))


async def test_a_list_whose_results_are_no_longer_sent_is_shown():
    async def fine(call: ToolCall, ctx: object) -> Outcome:
        return Success("fine")

    replies = [step("> a"), calls(call("other")), calls(call("other")), says("ok")]
    told = sequential(replies, tools=[tool("other", fine)], outermost=[Forgets()])
    await told.send("go")
    assert [section(told, "todos", number) != "" for number in range(4)] == [
        False,
        False,
        True,
        True,
    ]


async def test_an_interrupted_request_is_told_to_the_next_one():
    control, (hang, begun) = Control(), hanging()
    told = sequential([step("> a"), calls(call("hang")), says("ok")], tools=[hang])
    running = asyncio.ensure_future(told.send("go", control=control))
    await begun.wait()
    control.interrupt()
    await running
    assert is_interrupted(told.conversation.state)
    assert await told.send("go on") == Answered("ok")
    assert 'in progress: "a"' in section(told, "plan-note")
    assert not is_interrupted(told.conversation.state)


async def test_a_free_plan_is_shown_in_order_and_replaced_by_the_first_list():
    thread = Conversation("session")
    free = Agent(
        ScriptedProvider([writes("a", "> b", "x c", done="done"), says("ok")]),
        middleware=[TodoMiddleware()],
    )
    await free.run("go", conversation=thread)
    told = sequential([step("> new"), says("ok")], conversation=thread)
    assert await told.extension.take_over(thread) == (
        "The todos were reordered: done, in progress, pending.",
        "The todos have no ids any more.",
    )
    assert shown(told) == ["x c", "> b", "a"]
    await told.send("go")
    assert shown(told) == ["> new"]


async def test_without_its_notes_the_extension_speaks_by_its_results_alone():
    extension = TodoWriteExtension()
    provider = ScriptedProvider([step("> a"), says("ok")])  # type: ignore[list-item]
    agent = Agent(provider, middleware=[ExtensionHost([extension])])
    thread = Conversation("session")
    await agent.run("go", conversation=thread)
    assert [request.sections for request in provider.requests] == [(), ()]
    assert texts(thread.state[PLAN]) == ["> a"]


@given(MESSAGES)
@settings(max_examples=120, deadline=None)
def test_whatever_is_sent_the_list_keeps_its_form_and_its_texts(messages):
    lists: list[Plan | None] = []

    def look(reply: object) -> object:
        def replied(request: object) -> object:
            now, results = told.extension.todos("session"), told.conversation.messages[-1].results
            if results and all(result.is_error for result in results):
                assert now == lists[-1]
            lists.append(now)
            return reply

        return replied

    replies = [
        look(calls(*({"name": "todo_write", "input": args} for args in message)))
        for message in messages
    ]
    told = sequential([*replies, look(says("ok"))])
    end = asyncio.run(told.send("go"))
    assert isinstance(end, Answered), end
    accepted = [todos for todos in lists if todos is not None]
    for todos in accepted:
        statuses = [todo.status for todo in todos]
        done = statuses.count(Status.DONE)
        active = [Status.ACTIVE] if done < len(statuses) else []
        rest = [Status.PENDING] * (len(statuses) - done - len(active))
        assert statuses == [Status.DONE] * done + active + rest
        assert [t.content for t in todos] == [t.content for t in accepted[0]]
        assert all(t.content == t.content.strip() != "" and t.content.encode() for t in todos)
    assert [t.done for t in accepted] == sorted(t.done for t in accepted)
