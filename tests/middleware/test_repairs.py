"""Requests whose content is refused are repaired, sent again, and stay repaired."""

from __future__ import annotations

from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import Event, Warned
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import (
    Block,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from todo_agent.agent.outcomes import Answered, Failed, RunEnd
from todo_agent.middleware.repairs import KEPT, Repairs
from todo_agent.providers.scripted import Reply, ScriptedProvider

OK = {"text": "ok"}
SIGNATURE = "messages.1.content.0: Invalid `signature` in `thinking` block."
PICTURE = Image("image/png", "QUFBQQ==")
IMAGE_GONE = Text("(an image stood here; the service refused it)")


def refuses(message: str, *, kind: str = "invalid_request") -> Reply:
    return {"error": {"kind": kind, "message": f"The request was refused. (x: 400, {message})"}}


class Told:
    """A conversation with repairs."""

    def __init__(self, *replies: Reply) -> None:
        self.events: list[Event] = []
        self.conversation = Conversation()
        self.provider = ScriptedProvider(replies)
        self.agent = Agent(self.provider, middleware=[Repairs()])

    async def begin(self, *messages: Message) -> None:
        await self.conversation.commit(Commit(messages))

    async def send(self, text: str) -> RunEnd:
        return await self.agent.run(text, self.events.append, conversation=self.conversation)

    @property
    def warnings(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Warned)]

    def sent(self, request: int) -> list[tuple[Block, ...]]:
        return [message.content for message in self.provider.requests[request].messages]


async def test_reasoning_that_is_refused_is_left_out_and_stays_out():
    told = Told(refuses(SIGNATURE), {"thinking": "new", "text": "ok"}, OK)
    hidden = Opaque({"type": "redacted_thinking", "data": "x"})
    await told.begin(user("a"), assistant(Thinking("old", "s"), hidden, Text("one")))
    assert await told.send("b") == Answered("ok")
    assert await told.send("c") == Answered("ok")
    assert told.sent(1)[1] == (Text("one"),)
    assert told.sent(2)[1] == (Text("one"),)
    assert told.sent(2)[3] == (Thinking("new", "signature-2"), Text("ok"))
    assert told.warnings == [
        "The service refused the request; it is sent again without the model's earlier reasoning."
    ]
    assert told.conversation.messages[1].content[0] == Thinking("old", "s")


async def test_a_refusal_of_the_way_of_thinking_takes_no_reasoning():
    told = Told(refuses("adaptive thinking is not supported on this model"))
    await told.begin(user("a"), assistant(Thinking("old", "s"), Text("one")))
    assert isinstance(await told.send("b"), Failed)
    assert len(told.provider.requests) == 1


async def test_an_image_that_is_refused_becomes_a_note_and_the_thread_goes_on():
    told = Told(
        refuses("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum"), OK, OK
    )
    await told.begin(Message("user", (Text("look"), PICTURE)), assistant(Text("one")))
    assert [await told.send(text) for text in "bc"] == [Answered("ok")] * 2
    assert [told.sent(i)[0] for i in (1, 2)] == [(Text("look"), IMAGE_GONE)] * 2
    assert len(told.warnings) == 1


async def test_an_image_in_a_result_becomes_a_note_beside_its_text():
    place = "messages.2.content.0.tool_result.content.1.image.source: Could not process image"
    told = Told(refuses(place), OK)
    result = ToolResult("t", (Text("a.png"), PICTURE))
    await told.begin(user("a"), assistant(ToolUse("t", "read", {})), Message("user", (result,)))
    await told.send("b")
    assert told.sent(1)[2][0] == ToolResult("t", (Text("a.png"), IMAGE_GONE))


async def test_a_document_is_named_by_its_kind():
    told = Told(refuses("messages.0.content.0.document.source: The PDF is not valid"), OK)
    pdf = Opaque({"type": "document", "source": {"type": "base64", "data": "x"}})
    await told.begin(Message("user", (pdf,)), assistant(Text("one")))
    await told.send("b")
    note = Text("(a document stood here; the service refused it)")
    assert told.sent(1)[0] == (note,)


async def test_a_place_that_holds_no_image_is_not_repaired():
    told = Told(*[refuses(f"messages.{i}.content.0: image") for i in (0, 7)])
    await told.begin(user("a"), assistant(Text("one")))
    assert [type(await told.send(text)) for text in "bc"] == [Failed, Failed]
    assert len(told.provider.requests) == 2


async def test_a_request_that_is_too_large_goes_without_its_oldest_large_results():
    told = Told(refuses("too large", kind="too_large"), OK)
    calls = tuple(ToolUse(f"t{i}", "read", {}) for i in range(4))
    texts = ("small", *(letter * 50_000 for letter in "abc"))
    results = tuple(
        ToolResult(call.id, (Text(text),)) for call, text in zip(calls, texts, strict=True)
    )
    await told.begin(user("a"), assistant(*calls), Message("user", results))
    assert await told.send("b") == Answered("ok")
    lengths = [len(block.text) for block in told.sent(1)[2] if isinstance(block, ToolResult)]
    cut = KEPT + len("\n(cut: the whole was too large to be sent again)")
    assert lengths == [5, cut, cut, 50_000]
    assert told.warnings == [
        "The service refused the request; it is sent again without its oldest large results."
    ]


async def test_a_request_that_stays_too_large_ends_with_a_message():
    told = Told(*[refuses("too large", kind="too_large")] * 9)
    await told.begin(user("a"), assistant(ToolUse("t", "read", {})))
    await told.begin(Message("user", (ToolResult("t", (Text("x" * 50_000),)),)))
    end = await told.send("b")
    assert isinstance(end, Failed)
    assert (end.kind, len(told.provider.requests)) == ("too_large", 2)


async def test_several_faults_of_one_request_are_repaired_one_by_one():
    told = Told(
        refuses("messages.0.content.0.image.source: image exceeds 5 MB maximum"),
        refuses(SIGNATURE),
        OK,
    )
    await told.begin(Message("user", (PICTURE,)), assistant(Thinking("old", "s"), Text("one")))
    assert await told.send("b") == Answered("ok")
    assert told.sent(2)[:2] == [(IMAGE_GONE,), (Text("one"),)]
