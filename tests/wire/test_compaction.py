"""A conversation that outgrows the model's context goes on, and loses nothing."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire.replies import Reply, answer, refused, status, text, thinking, tool_use
from tests.wire.rules import violations
from tests.wire.server import WireServer
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import (
    Compacted,
    CompactionStarted,
    Event,
    RetryScheduled,
    TextDelta,
    Warned,
)
from todo_agent.agent.history import append
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import (
    Image,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from todo_agent.agent.middleware import Middleware
from todo_agent.agent.outcomes import Answered, Failed, Interrupted, RunEnd
from todo_agent.agent.provider import ModelRequest, ProviderError, Usage
from todo_agent.agent.tools import Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.assemble import Place, Workshop
from todo_agent.middleware.budget import COST, Budget
from todo_agent.middleware.compaction import FULL, MAX_COMPACTIONS, Compaction, CountTokens
from todo_agent.middleware.digest import CLEARED, DIGEST, Digest, cut_at, sent
from todo_agent.middleware.repairs import Repairs
from todo_agent.middleware.retries import Retries
from todo_agent.paths import Paths
from todo_agent.plan.disciplines import FREE
from todo_agent.plan.keys import PLAN
from todo_agent.plan.middleware import TodoMiddleware
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.providers.anthropic import AnthropicProvider
from todo_agent.providers.asides import Asides
from todo_agent.providers.request import Options, lay_out
from todo_agent.settings import Config

WINDOW = 10_000
FULL_USAGE = {"input_tokens": 8_500, "output_tokens": 5}
TOO_LONG = refused("prompt is too long: 210000 tokens > 200000 maximum")
SUMMARY = "The person wants cheese. The shop is closed on Mondays."
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


async def _read(call: ToolCall, ctx: ToolContext) -> Outcome:
    return Success(f"{call.args['path']}: " + "line\n" * 6_000)


async def _no_wait(seconds: float) -> None:
    """Take no time at all."""


@dataclass
class Talk:
    """A conversation on a server, with everything that came of it."""

    server: WireServer
    window: int = WINDOW
    count: CountTokens | None = None
    conversation: Conversation = field(default_factory=Conversation)
    events: list[Event] = field(default_factory=list)
    carrying: Middleware = field(default_factory=TodoMiddleware)

    def __post_init__(self) -> None:
        provider = AnthropicProvider(api_key="k", base_url=self.server.url)
        self.compaction = Compaction(lambda model: self.window, count=self.count)
        self.agent = Agent(
            provider,
            model="claude-sonnet-5-5",
            system="You help.",
            tools=[Tool("read", "Reads.", PATH, _read)],
            middleware=[
                self.compaction,
                self.carrying,
                Retries(sleep=_no_wait),
                Repairs(),
                Budget(lambda usage, model: 0.5),
            ],
            max_tokens=1_000,
        )

    async def send(self, message: str, control: Control | None = None) -> RunEnd:
        return await self.agent.run(
            message, self.events.append, conversation=self.conversation, control=control
        )

    async def compact(self, focus: str = "") -> RunEnd:
        async def job(ctx: Any) -> None:
            if not await self.compaction.compact(ctx, focus):
                ctx.emit(Warned("nothing to do"))

        return await self.agent.perform(job, self.events.append, conversation=self.conversation)

    @property
    def requests(self) -> list[dict[str, Any]]:
        return self.server.requests

    @property
    def compacted(self) -> list[Compacted]:
        return [event for event in self.events if isinstance(event, Compacted)]


def texts(request: dict[str, Any]) -> list[str]:
    """Return all texts of a request's messages, those in results too."""
    blocks = [block for message in request["messages"] for block in message["content"]]
    inner = [part for block in blocks for part in block.get("content", [])]
    return [block["text"] for block in [*blocks, *inner] if "text" in block]


def asks_for_summary(request: dict[str, Any]) -> bool:
    return any(said.startswith("The context is nearly full") for said in texts(request))


async def test_before_the_context_is_full_older_turns_are_summed_up_and_the_newest_stay(wire):
    server = wire(
        answer(text("Brie or Gouda? " + "x" * 9_000), usage=FULL_USAGE),
        answer(text(SUMMARY), usage={"input_tokens": 8_600}),
        answer(text("Gouda it is.")),
    )
    talk = Talk(server)
    await talk.send("I want cheese.")
    assert await talk.send("Gouda.") == Answered("Gouda it is.")
    first, asking, after = talk.requests
    assert [asks_for_summary(request) for request in talk.requests] == [False, True, False]
    assert asking["messages"][:1] == [
        {**first["messages"][0], "content": asking["messages"][0]["content"]}
    ]
    assert SUMMARY in texts(after)[0]
    assert "I want cheese." in texts(after)[0]
    assert "Gouda." in texts(after)
    assert not any("x" * 9_000 in said for said in texts(after))
    assert [message.text[:14] for message in talk.conversation.messages] == [
        "I want cheese.", "Brie or Gouda?", "Gouda.", "Gouda it is.",
    ]  # fmt: skip


async def test_the_summary_is_neither_shown_nor_a_message_but_it_is_paid_for(wire):
    server = wire(
        answer(text("x" * 9_000), usage=FULL_USAGE),
        answer(text(SUMMARY), usage={"input_tokens": 100, "output_tokens": 7}),
        answer(text("yes"), usage={"input_tokens": 200, "output_tokens": 1}),
    )
    talk = Talk(server)
    await talk.send("a")
    talk.events.clear()
    await talk.send("b")
    shown = "".join(event.text for event in talk.events if isinstance(event, TextDelta))
    assert shown == "yes"
    assert talk.conversation.usage == Usage(8_500 + 100 + 200, 5 + 7 + 1)
    assert talk.conversation.state[COST].usd == 1.5
    assert talk.conversation.context_tokens == 201
    kinds = [e for e in talk.events if isinstance(e, CompactionStarted | Compacted)]
    assert [type(event) for event in kinds] == [CompactionStarted, Compacted]
    (compacted,) = talk.compacted
    assert compacted.summarised == 2
    assert (compacted.before_tokens, compacted.after_tokens) == (8_506, 6_335)


async def test_the_plan_stands_word_for_word_in_the_first_request_after_a_compaction(wire):
    todos = [Todo(f"step {n}: check «{n}»", Status.DONE if n < 4 else Status.PENDING, f"t{n}")
             for n in range(12)]  # fmt: skip
    todos[4] = Todo(todos[4].content, Status.ACTIVE, "t4")
    conversation = Conversation()
    await conversation.commit(Commit(update=PLAN.set(Plan(tuple(todos)))))
    server = wire(
        answer(text("x" * 9_000), usage=FULL_USAGE),
        answer(text("No word of it.")),
        answer(text("ok")),
    )
    talk = Talk(server, conversation=conversation)
    await talk.send("a")
    await talk.send("b")
    shown = texts(talk.requests[2])[-1]
    for todo in todos:
        word = FREE.shape.words.word(todo.status)
        row = f"- {word}, id {todo.id}: {json.dumps(todo.content, ensure_ascii=False)}"
        assert row in shown
    assert conversation.state[PLAN] == Plan(tuple(todos))


async def test_a_plan_that_is_all_done_is_shown_as_one_that_asks_for_nothing(wire):
    conversation = Conversation()
    done = Plan(tuple(Todo(f"old {n}", Status.DONE, f"t{n}") for n in range(3)))
    await conversation.commit(Commit(update=PLAN.set(done)))
    server = wire(
        answer(text("x" * 9_000), usage=FULL_USAGE), answer(text(SUMMARY)), answer(text("ok"))
    )
    talk = Talk(server, conversation=conversation)
    await talk.send("a")
    await talk.send("something else")
    assert "all of it is done and asks for nothing" in texts(talk.requests[2])[-1]
    assert "It is history and asks for nothing." in texts(talk.requests[2])[0]


async def test_old_large_results_are_cleared_first_without_asking_the_model(wire):
    server = wire(
        answer(tool_use("r1", "read", {"path": "old"})),
        answer(text("read it"), usage=FULL_USAGE),
        answer(text("ok")),
    )
    talk = Talk(server)
    await talk.send("read old")
    await talk.send("and now?")
    assert not any(asks_for_summary(request) for request in talk.requests)
    assert CLEARED in texts(talk.requests[2])
    assert [event.summarised for event in talk.compacted] == [0]
    assert "line\n" * 6_000 in talk.conversation.messages[2].results[0].text


@pytest.mark.parametrize(
    "refusal", [TOO_LONG, status(413, "too big", kind="request_too_large")], ids=["400", "413"]
)
async def test_a_request_that_is_refused_as_too_long_is_sent_again_shortened(wire, refusal):
    server = wire(answer(text("x" * 9_000)), refusal, answer(text(SUMMARY)), answer(text("ok")))
    talk = Talk(server)
    await talk.send("a")
    assert await talk.send("b") == Answered("ok")
    assert SUMMARY in texts(talk.requests[3])[0]
    assert [message.role for message in talk.conversation.messages] == [
        "user", "assistant", "user", "assistant",
    ]  # fmt: skip


async def test_what_never_fits_ends_with_what_is_too_big_and_the_next_message_tries_again(wire):
    never = [TOO_LONG] * 20
    server = wire(answer(text("x" * 9_000)), *never)
    talk = Talk(server)
    await talk.send("a")
    end = await talk.send("b")
    assert isinstance(end, Failed)
    assert end.kind == "context_window"
    assert "the system prompt and what is added to it about" in end.message
    assert len(talk.compacted) <= MAX_COMPACTIONS
    server.replies[:] = [answer(text("it fits now"))]
    assert await talk.send("c") == Answered("it fits now")
    assert [m.text for m in talk.conversation.messages if m.role == "user"] == ["a", "b", "c"]


async def test_a_huge_result_of_the_newest_step_does_not_block_the_thread(wire):
    server = wire(
        answer(tool_use("r1", "read", {"path": "huge"})),
        TOO_LONG, answer(text(SUMMARY)), TOO_LONG,
        answer(text("it was too much")),
    )  # fmt: skip
    talk = Talk(server)
    assert await talk.send("read it") == Answered("it was too much")
    assert CLEARED in texts(talk.requests[-1])


@pytest.mark.parametrize("reply", ["", "  \n"], ids=["empty", "blank"])
async def test_a_blank_summary_is_replaced_by_what_the_person_said(wire, reply: str):
    blocks = [text(reply)] if reply else []
    server = wire(answer(text("x" * 9_000), usage=FULL_USAGE), answer(*blocks), answer(text("ok")))
    talk = Talk(server)
    await talk.send("I want cheese.")
    assert await talk.send("b") == Answered("ok")
    summary = talk.conversation.state[DIGEST].summary
    assert summary == "No summary could be made. The person said, oldest first:\n- I want cheese."


async def test_an_answer_that_fills_the_context_goes_on_after_a_compaction(wire):
    server = wire(
        answer(text("x" * 9_000)),
        answer(text("The first half "), stop=FULL, usage=FULL_USAGE),
        answer(text(SUMMARY)),
        answer(text("and the second.")),
    )
    talk = Talk(server)
    await talk.send("a")
    assert await talk.send("tell") == Answered("and the second.")
    assert [(m.text, m.partial) for m in talk.conversation.messages[-2:]] == [
        ("The first half ", True), ("and the second.", False),
    ]  # fmt: skip


async def test_reasoning_is_left_out_where_what_it_was_made_for_has_changed(wire):
    server = wire(
        answer(thinking("hm", "S1"), text("x" * 9_000)),
        answer(thinking("hm hm", "S2"), text("y"), usage=FULL_USAGE),
        answer(text(SUMMARY)),
        answer(thinking("ah", "S3"), text("z")),
        answer(text("end")),
        binds=True,
    )
    talk = Talk(server)
    for message in "abcd":
        await talk.send(message)
    kinds = [b["type"] for m in talk.requests[3]["messages"] for b in m["content"]]
    assert "thinking" not in kinds
    last = [b for m in talk.requests[4]["messages"] for b in m["content"]]
    assert [b["signature"] for b in last if b["type"] == "thinking"] == ["S3"]


async def test_an_interrupt_while_summing_up_changes_nothing(wire):
    server = wire(answer(text("x" * 9_000), usage=FULL_USAGE), answer(text("The per"), hang=True))
    talk = Talk(server)
    await talk.send("a")
    control = Control()

    class Interrupting(list[Event]):
        def append(self, event: Event) -> None:
            super().append(event)
            if isinstance(event, CompactionStarted):
                asyncio.get_running_loop().call_later(0.1, control.interrupt)

    talk.events = Interrupting()
    assert await talk.send("b", control) == Interrupted()
    assert talk.conversation.state[DIGEST] == Digest()
    assert [message.text[:1] for message in talk.conversation.messages] == ["a", "x", "b"]
    server.replies[:] = [answer(text(SUMMARY)), answer(text("ok"))]
    assert await talk.send("go on") == Answered("ok")


async def test_a_passing_fault_while_summing_up_is_waited_out_and_a_lasting_one_is_told(wire):
    server = wire(
        answer(text("x" * 9_000), usage=FULL_USAGE),
        status(529, "busy", kind="overloaded_error"), answer(text(SUMMARY)), answer(text("ok")),
        answer(text("y" * 9_000), usage=FULL_USAGE),
        status(401, "bad key", kind="authentication_error"),
    )  # fmt: skip
    talk = Talk(server)
    await talk.send("a")
    assert await talk.send("b") == Answered("ok")
    assert any(isinstance(event, RetryScheduled) for event in talk.events)
    await talk.send("c")
    end = await talk.send("d")
    assert isinstance(end, Failed)
    assert end.kind == "auth"
    assert talk.conversation.messages[-1] == user("d")


async def test_a_person_compacts_and_says_what_to_keep(wire):
    server = wire(answer(text("x" * 30_000)), answer(text(SUMMARY)), answer(text("ok")))
    talk = Talk(server, window=1_000_000)
    await talk.send("a")
    assert await talk.compact("the shop's hours") == Answered("", "performed")
    assert texts(talk.requests[1])[-1].endswith("kept in particular: the shop's hours")
    assert talk.conversation.state[DIGEST] == Digest(2, 2, SUMMARY, 2)
    assert talk.conversation.context_tokens < 1_000
    await talk.send("b")
    assert [message["role"] for message in talk.requests[2]["messages"]] == ["user"]
    assert "b" in texts(talk.requests[2])


async def test_a_short_conversation_is_not_compacted(wire):
    talk = Talk(wire(answer(text("hi"))))
    await talk.send("a")
    await talk.compact()
    assert [e.text for e in talk.events if isinstance(e, Warned)] == ["nothing to do"]
    assert len(talk.requests) == 1


async def test_a_second_compaction_sums_up_the_first_summary_as_well(wire):
    server = wire(
        answer(text("x" * 9_000), usage=FULL_USAGE),
        answer(text("first summary")), answer(text("y" * 9_000), usage=FULL_USAGE),
        answer(text("second summary")), answer(text("ok")),
    )  # fmt: skip
    talk = Talk(server)
    for message in "abc":
        await talk.send(message)
    assert "first summary" in texts(talk.requests[3])[0]
    assert "second summary" in texts(talk.requests[4])[0]
    assert not any("first summary" in said for said in texts(talk.requests[4]))


async def test_much_that_is_new_is_counted_exactly_before_it_causes_a_compaction(wire):
    counted: list[ModelRequest] = []

    async def count(request: ModelRequest) -> int:
        counted.append(request)
        return 79_000

    server = wire(answer(text("hi")), answer(text("ok")))
    talk = Talk(server, window=100_000, count=count)
    await talk.send("a")
    assert await talk.send("x" * 360_000) == Answered("ok")
    assert [len(request.messages) for request in counted] == [3]
    assert talk.compacted == []


async def test_an_estimate_decides_where_nothing_can_be_counted(wire):
    server = wire(answer(text("x" * 9_000)), answer(text(SUMMARY)), answer(text("ok")))
    talk = Talk(server, window=100_000, count=failing_count)
    await talk.send("a")
    assert await talk.send("x" * 360_000) == Answered("ok")
    assert [event.summarised for event in talk.compacted] == [2]


async def failing_count(request: ModelRequest) -> int:
    raise ProviderError("this server cannot count", kind="not_found")


async def test_a_message_that_mixes_results_and_words_keeps_its_words(wire):
    messages = (
        user("a"),
        assistant(ToolUse("t1", "read", {"path": "x"})),
        Message("user", (ToolResult("t1", (Text("long"),)), Text("and hurry"))),
        assistant(Text("done")),
    )
    digest = Digest(made_at=4, upto=2, summary="s", cleared=2)
    body = body_of((*sent(messages, digest), user("b")))
    assert violations(body) == []
    assert "and hurry" in texts(body)


def test_a_digest_of_messages_that_are_gone_again_does_not_count():
    messages = (user("a"), assistant(Text("b")))
    assert sent(messages, Digest(made_at=3, upto=2, summary="s")) is messages


def body_of(messages: tuple[Message, ...]) -> dict[str, Any]:
    request = ModelRequest("claude-sonnet-5-5", messages)
    return {**lay_out(request, Asides(), Options()).arguments, "stream": True}


WORDS = st.sampled_from(["a", "b" * 3_000, " ", "", "汉" * 900, "</summary>", "\ud83d"])


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Anything a conversation may have come to: turns, steps, steering, results in any order."""
    messages: tuple[Message, ...] = ()
    count = 0
    for kind in draw(
        st.lists(st.sampled_from(["user", "answer", "calls", "media", "steer"]), max_size=14)
    ):
        match kind:
            case "user":
                messages = append(messages, user(draw(WORDS), synthetic=draw(st.booleans())))
            case "answer":
                block = Text(draw(WORDS))
                partial = draw(st.booleans())
                messages = append(messages, Message("assistant", (block,), partial=partial))
            case "media":
                messages = append(messages, Message("user", (Image("image/png", "aGk="),)))
            case "calls" | "steer":
                ids = [f"c{count}", f"c{count + 1}"]
                count += 2
                calls = [ToolUse(id_, "read", {"path": draw(WORDS)}) for id_ in ids]
                messages = append(messages, assistant(Thinking("hm", "sig"), *calls))
                for id_ in draw(st.permutations(ids)):
                    result = ToolResult(id_, (Text(draw(WORDS)),))
                    messages = append(messages, Message("user", (result,)))
                if kind == "steer":
                    messages = append(messages, user(draw(WORDS)))
    return append(messages, user("go on"))


@settings(max_examples=150, deadline=None)
@given(histories(), st.integers(0, 4_000), st.integers(0, 40))
def test_any_history_compacted_to_any_size_is_a_request_that_is_accepted(
    messages: tuple[Message, ...], keep: int, earlier: int
):
    first = min(earlier, len(messages) - 1)
    cut = cut_at(messages, after=first, keep_tokens=keep)
    if cut is None:
        return
    digest = Digest(made_at=len(messages), upto=cut, summary="what happened", cleared=cut)
    body = body_of(sent(messages, digest))
    assert violations(body) == []
    assert violations(body_of(sent((*messages, assistant(Text("ok")), user("b")), digest))) == []
    cleared = Digest(made_at=len(messages), cleared=len(messages))
    assert violations(body_of(sent(messages, cleared))) == []


def workshop(directory: Path, server: WireServer, discipline: str) -> Workshop:
    paths = Paths(directory / "config", directory / "data", directory / "state")
    config = Config(
        api_key="sk-ant-TESTSECRET",
        base_url=server.url,
        discipline=discipline,
        context_window=WINDOW,
        max_tokens=1_000,
        sandbox="off",
    )
    return Workshop(config, paths, Place(cwd=directory, environ={"PATH": os.environ["PATH"]}))


TOOLS = {"free": "write_todos", "guarded": "write_todos", "sequential": "todo_write"}
BRIE = {"todos": [{"content": "buy brie", "status": "in_progress"}]}


def asked_or_said(body: dict[str, Any]) -> Reply:
    """Sum up where that is asked for, and answer at length where it is not."""
    if asks_for_summary(body):
        return answer(text(SUMMARY))
    return answer(text("Which shop? " + "x" * 30_000), usage=FULL_USAGE)


@pytest.mark.parametrize("discipline", TOOLS)
async def test_a_compacted_thread_comes_back_with_its_plan_and_all_its_messages(
    wire, tmp_path: Path, discipline: str
):
    server = wire(answer(tool_use("t1", TOOLS[discipline], BRIE)), *[asked_or_said] * 8)
    first = await workshop(tmp_path, server, discipline).open(None)
    first.send("I want cheese.")
    await first.finished()
    first.compact()
    assert await first.finished() == Answered("", "performed")
    messages, plan, thread = first.messages, first.plan, first.id
    assert [todo.content for todo in plan] == ["buy brie"]
    await first.close()

    again = await workshop(tmp_path, server, discipline).open(thread)
    assert (again.messages, again.plan) == (messages, plan)
    assert again.context_tokens == first.context_tokens < WINDOW
    server.replies[:] = [answer(text("Is it open?"), stop="max_tokens")]
    again.send("go on")
    await again.finished()
    said = texts(server.requests[-1])
    assert SUMMARY in said[0]
    assert not any("x" * 9_000 in line for line in said)
    await again.close()


@pytest.mark.parametrize("discipline", TOOLS)
async def test_the_list_in_force_is_shown_when_the_result_that_held_it_is_summed_up(
    wire, tmp_path: Path, discipline: str
):
    (tmp_path / "long.txt").write_text("line\n" * 3_000)
    server = wire(
        answer(tool_use("t1", TOOLS[discipline], BRIE)),
        answer(text("x" * 9_000), tool_use("t2", "read", {"path": "long.txt"}), usage=FULL_USAGE),
        answer(text(SUMMARY)),
        *[answer(text("Is it open?"))] * 8,
    )
    session = await workshop(tmp_path, server, discipline).open(None)
    session.send("I want cheese.")
    await session.finished()
    last = server.requests[3]
    assert not any(block["type"] == "tool_use" and block["id"] == "t1"
                   for message in last["messages"] for block in message["content"])  # fmt: skip
    assert any("buy brie" in line and "in_progress" in line for line in texts(last))
    await session.close()
