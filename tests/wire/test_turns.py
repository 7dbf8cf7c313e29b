"""Whole turns: the real agent and the real SDK against the loopback server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from tests.wire.replies import answer, status, text, thinking, tool_use
from tests.wire.server import Play, WireServer
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.events import Event, RetryScheduled, TextDelta
from todo_agent.agent.loop import Agent
from todo_agent.agent.outcomes import Answered, Failed, Interrupted, RunEnd
from todo_agent.agent.tools import Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.middleware.repairs import Repairs
from todo_agent.middleware.retries import Retries
from todo_agent.plan.keys import PLAN
from todo_agent.plan.middleware import TodoMiddleware
from todo_agent.plan.plan import Status
from todo_agent.providers.anthropic import AnthropicProvider

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


async def _read(call: ToolCall, ctx: ToolContext) -> Outcome:
    return Success(f"content of {call.args['path']}")


async def _broken(call: ToolCall, ctx: ToolContext) -> Outcome:
    raise OSError("no such device")


class Interrupting(list[Event]):
    """Interrupts a run at its first piece of text."""

    def __init__(self, control: Control) -> None:
        self.control = control

    def append(self, event: Event) -> None:
        super().append(event)
        if isinstance(event, TextDelta):
            self.control.interrupt()


async def _no_wait(seconds: float) -> None:
    """Take no time at all."""


@dataclass
class Turns:
    """An agent on a server, with everything that came of it."""

    server: WireServer
    conversation: Conversation = field(default_factory=Conversation)
    events: list[Event] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ran: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        provider = AnthropicProvider(api_key="k", base_url=self.server.url)
        self.agent = Agent(
            provider,
            model="claude-sonnet-5-5",
            system="You help.",
            tools=[
                Tool("read", "Reads.", PATH, _read),
                Tool("write", "Writes.", PATH, self._write),
                Tool("broken", "Breaks.", {"type": "object"}, _broken),
                Tool("hang", "Hangs.", {"type": "object"}, self._hang),
            ],
            middleware=[TodoMiddleware(), Retries(sleep=_no_wait), Repairs()],
        )

    async def send(self, message: str, control: Control | None = None) -> RunEnd:
        return await self.agent.run(
            message, self.events.append, conversation=self.conversation, control=control
        )

    async def _write(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self.ran.append(str(call.args["path"]))
        return Success("written")

    async def _hang(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self.begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    @property
    def results(self) -> list[tuple[str, bool]]:
        messages = self.conversation.messages
        return [(r.text, r.is_error) for message in messages for r in message.results]

    @property
    def plan(self) -> list[tuple[str, Status]]:
        return [(todo.content, todo.status) for todo in self.conversation.state[PLAN]]


async def play(replies: Sequence[Play], *messages: str) -> tuple[Turns, list[RunEnd]]:
    with WireServer(replies) as server:
        turns = Turns(server)
        ends = [await turns.send(message) for message in messages]
    assert server.violations == []
    assert server.replies == []
    return turns, ends


def todos(*contents: str, done: int = 0) -> dict[str, object]:
    rows = [
        {"content": content, "status": "done" if index < done else "pending"}
        for index, content in enumerate(contents)
    ]
    return {"todos": rows}


async def test_text_only():
    _, ends = await play([answer(text("hello")), answer(text("again"))], "hi", "and?")
    assert ends == [Answered("hello"), Answered("again")]


async def test_a_plan_of_four_whose_calls_come_byte_by_byte():
    steps = ("read", "change", "test", "report")
    turns, ends = await play(
        [
            answer(thinking("hm", "s1"), tool_use("t0", "write_todos", todos(*steps)), piece=1),
            answer(
                thinking("then", "s2"),
                tool_use("t1", "read", {"path": "a.py"}),
                tool_use("t2", "write_todos", todos(*steps, done=1)),
                piece=1,
                one_byte=True,
            ),
            answer(tool_use("t3", "write_todos", todos(*steps, done=4)), piece=1),
            answer(text("done")),
        ],
        "go",
    )
    assert ends == [Answered("done")]
    assert turns.plan == [(step, Status.DONE) for step in steps]
    ids = {todo.id for todo in turns.conversation.state[PLAN]}
    assert len(ids) == 4


async def test_two_writes_in_one_message_run_in_turn():
    turns, _ = await play(
        [
            answer(
                tool_use("t1", "write_todos", todos("a", "b")),
                tool_use("t2", "read", {"path": "x"}),
                tool_use("t3", "write_todos", todos("a", "b", "c", done=1)),
            ),
            answer(text("ok")),
        ],
        "go",
    )
    assert [is_error for _, is_error in turns.results] == [False, False, False]
    assert [content for content, _ in turns.plan] == ["a", "b", "c"]


async def test_a_tool_that_fails_and_a_tool_that_is_not_there():
    turns, ends = await play(
        [
            answer(
                tool_use("t1", "broken", {}),
                tool_use("t2", "TodoWrite", {}),
                tool_use("t3", "read", {"path": "x"}),
            ),
            answer(text("ok")),
        ],
        "go",
    )
    (broken, _), (unknown, _), (read, _) = turns.results
    assert broken == "broken failed: OSError: no such device"
    assert unknown.startswith("There is no tool named 'TodoWrite'")
    assert read == "content of x"
    assert ends == [Answered("ok")]


async def test_a_refused_plan_leaves_the_plan_alone():
    bad = {"todos": [{"content": " ", "status": "pending"}]}
    turns, _ = await play(
        [
            answer(tool_use("t1", "write_todos", todos("a"))),
            answer(tool_use("t2", "write_todos", bad)),
            answer(tool_use("t3", "write_todos", {"todos": '[{"content":"b","status":"done"}]'})),
            answer(text("ok")),
        ],
        "go",
    )
    assert turns.results[1][1]
    assert "todos[0].content is empty" in turns.results[1][0]
    assert turns.plan == [("b", Status.DONE)]


async def test_an_interrupt_in_a_tool_and_a_further_message():
    calls = [
        tool_use("t1", "read", {"path": "x"}),
        tool_use("t2", "hang", {}),
        tool_use("t3", "hang", {}),
    ]
    with WireServer([answer(thinking("", "s1"), *calls), answer(text("fine"))]) as server:
        turns = Turns(server)
        control = Control()
        running = asyncio.create_task(turns.send("go", control))
        await turns.begun.wait()
        control.interrupt()
        assert await running == Interrupted()
        assert await turns.send("go on") == Answered("fine")
    assert server.violations == []
    assert [is_error for _, is_error in turns.results] == [False, True, True]


async def test_an_interrupt_while_the_model_writes_and_a_further_message():
    with WireServer([answer(text("half"), hang=True), answer(text("fine"))]) as server:
        turns = Turns(server)
        control = Control()
        turns.events = Interrupting(control)
        running = asyncio.create_task(turns.send("go", control))
        assert await running == Interrupted()
        assert await turns.send("go on") == Answered("fine")
    assert server.violations == []


@pytest.mark.parametrize("code", [429, 500, 529])
async def test_a_busy_service_is_asked_again(code):
    turns, ends = await play([status(code), status(code), answer(text("ok"))], "go")
    assert ends == [Answered("ok")]
    retries = [event for event in turns.events if isinstance(event, RetryScheduled)]
    assert [retry.attempt for retry in retries] == [1, 2]


async def test_an_error_in_the_middle_of_an_answer_keeps_its_text_and_the_thread_goes_on():
    turns, (first, second) = await play(
        [
            answer(text("half"), tool_use("t1", "write", "{"), end="error:overloaded_error"),
            answer(text("whole")),
        ],
        "go",
        "go on",
    )
    assert isinstance(first, Failed)
    assert (first.kind, second) == ("overloaded", Answered("whole"))
    assert [m.text for m in turns.conversation.messages if m.partial] == ["half"]


async def test_a_call_that_was_cut_off_by_the_output_limit_does_not_run():
    cut = answer(tool_use("t1", "write", '{"path": "a.py'), stop="max_tokens")
    turns, ends = await play(
        [cut, answer(tool_use("t2", "write", {"path": "b"})), answer(text("ok"))], "go"
    )
    assert turns.ran == ["b"]
    assert "smaller pieces" in turns.results[0][0]
    assert ends == [Answered("ok")]


async def test_an_answer_that_is_cut_off_again_and_again_ends_the_run():
    cuts = [
        answer(tool_use(f"t{number}", "write", '{"path": "a.py'), stop="max_tokens")
        for number in range(5)
    ]
    with WireServer(cuts) as server:
        turns = Turns(server)
        end = await turns.send("go")
    assert isinstance(end, Failed)
    assert end.kind == "limit"
    assert turns.ran == []


async def test_blank_answers_never_reach_the_wire_again():
    blanks = [answer(), answer(text("")), answer(text("\n\n")), answer(text("ok"))]
    _, ends = await play(blanks, "a", "b", "c", "d")
    assert [end.text.strip() for end in ends if isinstance(end, Answered)] == ["", "", "", "ok"]


async def test_thinking_that_the_service_refuses_is_left_out_once():
    refused = status(
        400,
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        kind="invalid_request_error",
    )
    turns, ends = await play(
        [answer(thinking("hm", "s1"), text("one")), refused, answer(text("two"))], "a", "b"
    )
    assert ends == [Answered("one"), Answered("two")]
    sent = turns.server.requests[-1]["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["text"]


async def test_a_pause_goes_back_unchanged_and_the_turn_goes_on():
    turns, ends = await play(
        [answer(text("searching"), stop="pause_turn"), answer(text("done"))], "go"
    )
    last = turns.server.requests[1]["messages"][-1]
    assert (last["role"], last["content"][0]["text"]) == ("assistant", "searching")
    assert ends == [Answered("done")]


def thoughtful(number: int, name: str, input_: object) -> Play:
    """An answer of reasoning and one call."""
    return answer(thinking("hm", f"s{number}"), tool_use(f"t{number}", name, input_))


async def test_a_plan_that_changes_at_every_step_costs_no_reasoning():
    replies = [
        *(thoughtful(i, "write_todos", todos("a", "b", "c", done=i)) for i in range(4)),
        thoughtful(4, "read", {"path": "x"}),
        answer(text("ok")),
        answer(text("again")),
    ]
    with WireServer(replies, binds=True) as server:
        turns = Turns(server)
        ends = [await turns.send("go"), await turns.send("and?")]
    assert ends == [Answered("ok"), Answered("again")]
    assert server.violations == []
    kept = [b["type"] for m in server.requests[-1]["messages"] for b in m["content"]]
    assert kept.count("thinking") == 5


async def test_after_a_restart_the_thread_goes_on_without_its_old_reasoning():
    replies = [
        thoughtful(0, "write_todos", todos("a")),
        thoughtful(1, "read", {"path": "x"}),
        answer(text("ok")),
        thoughtful(2, "read", {"path": "x"}),
        answer(text("again")),
    ]
    with WireServer(replies, binds=True) as server:
        before = Turns(server)
        await before.send("go")
        after = Turns(server, before.conversation)
        assert await after.send("and?") == Answered("again")
    assert [violation.rpartition(". ")[2] for violation in server.violations] == [
        "The block is bound to a different conversation."
    ]
    kept = [b.get("signature") for m in server.requests[-1]["messages"] for b in m["content"]]
    assert list(filter(None, kept)) == ["s2"]


async def test_a_call_id_that_comes_again_does_not_harm_the_thread():
    replies = [answer(tool_use("call_0", "read", {"path": p})) for p in "abc"]
    turns, ends = await play([*replies, answer(text("ok"))], "go")
    assert ends == [Answered("ok")]
    assert turns.results == [(f"content of {p}", False) for p in "abc"]


async def test_results_too_large_to_send_are_shortened_and_the_thread_goes_on():
    turns, ends = await play(
        [
            *(answer(tool_use(f"t{i}", "read", {"path": "x" * 20_000})) for i in range(3)),
            status(413, "Request exceeds the maximum size", kind="request_too_large"),
            answer(text("ok")),
            answer(text("again")),
        ],
        "go",
        "and?",
    )
    assert ends == [Answered("ok"), Answered("again")]
    lengths = [
        [len(b["content"][0]["text"]) for m in request["messages"] for b in m["content"]
         if b["type"] == "tool_result"]
        for request in turns.server.requests[-3:]
    ]  # fmt: skip
    assert [all(n > 20_000 for n in row) for row in lengths] == [True, False, False]
    assert lengths[1] == lengths[2]
