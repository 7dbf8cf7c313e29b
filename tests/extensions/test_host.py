"""One host, many extensions, sessions and agents."""

from __future__ import annotations

import asyncio

import pytest

from tests.agent.support import ECHO, call, calls, hanging, says
from tests.extensions.support import Watching, hosted, raised
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Text, assistant, user
from todo_agent.agent.outcomes import Answered, Failed
from todo_agent.agent.stack import Stack
from todo_agent.agent.tools import Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.extensions.base import Compaction, Extension, Request
from todo_agent.extensions.host import ExtensionHost, RequestBusyError
from todo_agent.providers.scripted import ScriptedProvider


def test_s2_50_a_name_is_the_class_name_unless_the_class_or_the_instance_sets_one():
    class Plain(Extension):
        pass

    class Named(Extension):
        name = "mine"

    own = Plain()
    own.name = "own"
    assert (Plain().name, Named().name, own.name) == ("Plain", "mine", "own")
    assert ExtensionHost([Plain(), Named(), own]).extensions[1].name == "mine"


@pytest.mark.parametrize(("names", "message"), [(["a", "a"], "two extensions"), ([" "], "blank")])
def test_s2_50_two_of_one_name_and_a_blank_one_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        ExtensionHost([Watching(name) for name in names])


def test_extensions_stand_by_priority_and_equal_ones_as_they_were_listed():
    extensions = [
        Watching("c", priority=3),
        Watching("a"),
        Watching("b"),
        Watching("z", priority=1),
    ]
    assert [e.name for e in ExtensionHost(extensions).extensions] == ["z", "c", "a", "b"]


def test_s2_48_every_extension_is_asked_about_an_event_also_after_one_accepted():
    asked: list[tuple[str, object]] = []

    class Picks(Extension):
        def __init__(self, name: str, wants: str, priority: int) -> None:
            self.name, self.wants, self.priority = name, wants, priority

        def accept(self, config: object | None, event: object) -> bool:
            asked.append((self.name, config))
            return event == self.wants

    host = ExtensionHost(
        [Picks("late", "push", 9), Picks("early", "push", 1), Picks("no", "tag", 5)]
    )
    assert host.accept(None, "push") == ("early", "late")
    assert host.accept({"repo": "x"}, "tag") == ("no",)
    assert [name for name, _ in asked[:3]] == ["early", "no", "late"]
    assert asked[3][1] == {"repo": "x"}


async def test_s2_49_pending_holds_from_the_first_request_to_the_end_of_the_last():
    hang, begun = hanging()
    idle, control = Watching(), Control()
    slow = hosted([calls(call("hang"))], idle, tools=[hang])
    quick = hosted([says("ok")], idle)
    assert not idle.pending
    running = asyncio.ensure_future(slow.send("go", control=control))
    await begun.wait()
    assert await quick.send("go") == Answered("ok")
    assert idle.pending
    control.interrupt()
    await running
    assert not idle.pending


async def test_s2_49_a_request_that_failed_in_its_first_hook_is_over():
    watching = Watching(on_tool=RuntimeError("no"))
    await hosted([], watching).send("go")
    assert not watching.pending


async def test_s2_55_a_second_request_of_a_session_is_refused_without_any_hook():
    hang, begun = hanging()
    watching, control = Watching(), Control()
    told = hosted([calls(call("hang")), says("ok")], watching, tools=[hang])
    running = asyncio.ensure_future(told.send("go", control=control))
    await begun.wait()
    log, messages = list(watching.log), told.conversation.messages
    assert await told.agent.run("me too", conversation=told.conversation) == Failed(
        "A run of this conversation is under way. Steer it, or wait for its end.", kind="usage"
    )
    twin = Conversation(told.conversation.id)
    assert isinstance(raised(await told.agent.run("me too", conversation=twin)), RequestBusyError)
    assert (watching.log, told.conversation.messages) == (log, messages)
    control.interrupt()
    await running
    assert watching.log.count("release") == 1
    assert await told.send("again") == Answered("ok")


class Counts(Extension):
    """Counts the calls of each request with a tool that is bound to it."""

    def __init__(self, arrived: asyncio.Barrier) -> None:
        self.counts: dict[Request, int] = {}
        self.ended: list[tuple[str, str, int]] = []
        self.arrived = arrived

    async def on_tool(self, request: Request) -> None:
        self.counts[request] = 0

        async def count(call: ToolCall, ctx: ToolContext) -> Outcome:
            await self.arrived.wait()
            self.counts[request] += 1
            return Success(f"{request.agent_name} in {request.session_id}")

        request.add_tool(Tool("count", "", {"type": "object"}, count))

    def release(self, request: Request) -> None:
        count = self.counts.pop(request)
        self.ended.append((request.agent_name, request.session_id, count))


@pytest.mark.parametrize("shared", ["host", "extension"])
async def test_agents_and_sessions_that_share_an_instance_have_their_own_requests(shared):
    counts = Counts(asyncio.Barrier(3))
    host = ExtensionHost([counts])

    async def serve(agent: str, session: str, times: int) -> list[str]:
        replies = [*[calls(call("count"))] * times, says("ok")]
        stack = [host if shared == "host" else ExtensionHost([counts])]
        serving = Agent(ScriptedProvider(replies), name=agent, middleware=stack)
        conversation = Conversation(session)
        assert await serving.run("go", conversation=conversation) == Answered("ok")
        return [result.text for message in conversation.messages for result in message.results]

    texts = await asyncio.gather(serve("a", "1", 2), serve("a", "2", 2), serve("b", "1", 2))
    assert texts == [["a in 1"] * 2, ["a in 2"] * 2, ["b in 1"] * 2]
    assert sorted(counts.ended) == [("a", "1", 2), ("a", "2", 2), ("b", "1", 2)]
    assert counts.counts == {}


async def test_s2_47_a_compaction_sets_up_and_may_replace_the_history():
    class Shortens(Watching):
        async def on_compact(self, request: Compaction) -> None:
            await super().on_compact(request)
            await request.replace_messages((user("in short", synthetic=True),))
            request.extra["compacted"] = True

    watching, idle = Shortens(), Watching("idle")
    conversation = Conversation(messages=(user("go"), assistant(Text("a long answer"))))
    await ExtensionHost([watching, idle]).compact(conversation)
    assert watching.log == idle.log == ["on_tool", "on_state", "on_compact", "release"]
    assert conversation.messages == (user("in short", synthetic=True),)
    assert conversation.state.to_json() == {"extra": {"compacted": True}}
    assert not watching.pending


async def test_s2_47_a_compaction_that_fails_raises_the_original_and_changes_nothing():
    error = RuntimeError("no")
    watching = Watching(on_compact=error)
    conversation = Conversation(messages=(user("go"),))
    with pytest.raises(RuntimeError) as raises:
        await ExtensionHost([watching]).compact(conversation)
    assert raises.value is error
    assert watching.errors == [error]
    assert watching.log[-1] == "release"
    assert conversation.messages == (user("go"),)


async def test_a_compaction_and_a_request_of_one_session_exclude_each_other():
    hang, begun = hanging()
    watching, control = Watching(), Control()
    told = hosted([calls(call("hang"))], watching, tools=[hang])
    running = asyncio.ensure_future(told.send("go", control=control))
    await begun.wait()
    with pytest.raises(RequestBusyError):
        await ExtensionHost([watching]).compact(told.conversation)
    control.interrupt()
    await running
    await ExtensionHost([watching]).compact(told.conversation)
    assert watching.log[-2:] == ["on_compact", "release"]


async def test_a_cancelled_compaction_is_told_and_released():
    class Hangs(Watching):
        async def on_compact(self, request: Compaction) -> None:
            begun.set()
            await asyncio.Event().wait()

    begun, watching = asyncio.Event(), Hangs()
    conversation = Conversation()
    running = asyncio.ensure_future(ExtensionHost([watching]).compact(conversation))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert watching.log[-2:] == ["cancelled", "release"]
    assert not conversation.running


async def test_the_tools_of_a_request_are_gone_with_it_and_no_part_of_the_structure():
    class Offers(Extension):
        async def on_tool(self, request: Request) -> None:
            request.add_tool(ECHO)

    host = ExtensionHost([Offers()])
    before = Stack([host]).fingerprint
    await host.compact(Conversation())
    assert host.tools == ()
    assert Stack([host]).fingerprint == before
    assert Stack([ExtensionHost([Watching()])]).fingerprint != before
