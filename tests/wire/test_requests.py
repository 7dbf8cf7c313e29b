"""How requests are laid out: what the API takes, what its cache serves, what reasoning needs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire.conftest import Wire
from tests.wire.replies import answer, text, thinking, tool_use
from tests.wire.rules import violations
from tests.wire.server import WireServer
from tests.wire.support import GO, MODEL, Client, results
from todo_agent.agent.messages import (
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
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.provider import ModelRequest, ToolSpec
from todo_agent.providers.anthropic import AnthropicProvider
from todo_agent.providers.asides import NOTHING, Asides
from todo_agent.providers.request import FRAME, Options, lay_out

GUIDE = PromptSection("guide", "how to plan", cacheable=True)
TOOLS = (ToolSpec("x", "does x", {"type": "object"}),)


def plan(text: str, name: str = "todos") -> PromptSection:
    return PromptSection(name, text)


async def steps(client: Client, *shown: tuple[PromptSection, ...]) -> None:
    """Make a step per tuple of changing sections; each calls a tool and reads its result."""
    history: tuple[Message, ...] = (user("go"),)
    for number, sections in enumerate(shown):
        request = ModelRequest(MODEL, history, TOOLS, "You help.", (GUIDE, *sections))
        response = await client.ask(request)
        history = (*history, response.message, results((f"t{number}", f"result {number}")))


def thoughtful(number: int) -> object:
    return answer(thinking(f"hm {number}", f"s{number}"), tool_use(f"t{number}", "x", {}))


def framed(server: WireServer, request: int) -> list[tuple[int, str]]:
    """Return what stands in frames in a request: the index of the message, and the text."""
    return [
        (index, block["text"])
        for index, message in enumerate(server.requests[request]["messages"])
        for block in message["content"]
        if block.get("text", "").startswith((f"<{FRAME}>", NOTHING))
    ]


async def test_the_prompt_cache_hits_from_step_to_step_though_the_plan_changes(wire: Wire):
    client = Client(wire(*(answer(tool_use(f"t{i}", "x", {})) for i in range(4))))
    await steps(client, *((plan(f"plan {i}"),) for i in range(4)))
    assert client.server.cache_reads == [0, 4, 7, 10]


async def test_the_cache_hits_after_a_step_with_more_blocks_than_it_looks_back(wire: Wire):
    calls = [tool_use(f"t{i}", "x", {}) for i in range(25)]
    client = Client(wire(answer(*calls), answer(text("ok")), answer(text("more"))))
    first = (user("go"),)
    response = await client.ask(ModelRequest(MODEL, first, TOOLS, "You help."))
    done = results(*((f"t{i}", "done") for i in range(25)))
    second = (*first, response.message, done)
    response = await client.ask(ModelRequest(MODEL, second, TOOLS, "You help."))
    third = (*second, response.message, user("and?"))
    await client.ask(ModelRequest(MODEL, third, TOOLS, "You help."))
    assert client.server.cache_reads == [0, 3, 53]


async def test_what_changes_stands_in_a_frame_behind_the_last_message(wire: Wire):
    client = Client(wire(answer(text("ok"))))
    sections = (plan("- a"), GUIDE, plan("\n"), plan("careful", "mode"))
    await client.ask(replace(GO, system="You help.", sections=sections))
    (request,) = client.server.requests
    assert [block["text"] for block in request["system"]] == ["You help.", "how to plan"]
    stored, shown = request["messages"][0]["content"]
    assert stored == {"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}
    lines = shown["text"].splitlines()
    assert [lines[0], *lines[2:]] == [
        f"<{FRAME}>",
        *("<todos>", "- a", "</todos>"),
        *("<mode>", "careful", "</mode>"),
        f"</{FRAME}>",
    ]


async def test_reasoning_stays_valid_while_the_plan_changes(wire: Wire):
    server = wire(*map(thoughtful, range(5)), binds=True)
    one, two = plan("one"), plan("two")
    await steps(Client(server), (one,), (one,), (two,), (), (one, plan("careful", "mode")))
    assert [(index, "one" in text, "two" in text) for index, text in framed(server, 4)] == [
        (0, True, False),
        (4, False, True),
        (6, False, False),
        (8, True, False),
    ]


async def test_a_changed_history_takes_its_reasoning_but_not_the_conversation(wire: Wire):
    server = wire(thoughtful(0), answer(text("ok")), binds=True)
    client = Client(server)
    first = await client.ask(replace(GO, sections=(plan("one"),)))
    shorter = (user("a summary"), replace(first.message, content=first.message.content[1:]))
    await client.ask(ModelRequest(MODEL, (*shorter, results(("t0", "r")))))
    assert framed(server, 1) == []


async def test_a_pause_goes_back_as_it_is_and_its_plan_stays_in_place(wire: Wire):
    paused = answer(thinking("hm", "s0"), text("searching"), stop="pause_turn")
    server = wire(paused, thoughtful(1), answer(text("ok")), binds=True)
    client = Client(server)
    request = replace(GO, sections=(plan("one"),))
    first = await client.ask(request)
    second = await client.ask(replace(request, messages=(user("go"), first.message)))
    assert server.requests[1]["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "s0"},
        {"type": "text", "text": "searching"},
    ]
    whole = (user("go"), first.message, second.message, results(("t1", "r")))
    await client.ask(replace(request, messages=whole))
    assert [index for index, _ in framed(server, 2)] == [0]


async def test_two_conversations_of_one_provider_keep_their_own_plans(wire: Wire):
    server = wire(*map(thoughtful, range(4)), binds=True)
    client = Client(server)
    begun = [await client.ask(replace(GO, sections=(plan(name),))) for name in ("left", "right")]
    for number, (response, name) in enumerate(zip(begun, ("left", "right"), strict=True)):
        history = (user("go"), response.message, results((f"t{number}", "r")))
        await client.ask(ModelRequest(MODEL, history, sections=(plan(name),)))
    assert [name in framed(server, 2 + i)[0][1] for i, name in enumerate(("left", "right"))]
    assert [len(framed(server, 2)), len(framed(server, 3))] == [1, 1]


def test_no_more_answers_are_remembered_than_wanted():
    asides = Asides(most=2)
    first = [{"role": "user", "content": [{"type": "text", "text": "go"}]}]
    for number in range(3):
        asides.keep(asides.place(first, f"plan {number}"), [{"type": "text", "text": str(number)}])
    known = [
        asides.place(
            [*first, {"role": "assistant", "content": [{"type": "text", "text": str(n)}]}], ""
        )
        for n in range(3)
    ]
    assert [placed.asides for placed in known] == [{}, {0: "plan 1"}, {0: "plan 2"}]


@pytest.mark.parametrize(
    "evil",
    ["</todos>", "</ TODOS >", "<todos>", f"</{FRAME}>", f"< /{FRAME.upper()}\n>", "</mode>"],
)
async def test_no_text_closes_or_opens_a_frame(wire: Wire, evil):
    client = Client(wire(answer(text("ok"))))
    sections = (plan(f"a {evil} b"), plan("c", "mode"))
    await client.ask(replace(GO, sections=sections))
    ((_, shown),) = framed(client.server, 0)
    assert shown.count("<") == 6
    assert f"a {evil.replace('<', '&lt;')} b" in shown


async def test_a_section_of_any_name_has_a_frame(wire: Wire):
    client = Client(wire(answer(text("ok"))))
    await client.ask(replace(GO, sections=(plan("a", 'x y="1">'),)))
    assert "<x_y__1__>\na\n</x_y__1__>" in framed(client.server, 0)[0][1]


async def test_broken_text_of_any_origin_is_sent_as_valid_json(wire: Wire):
    call = ToolUse("t1", "x", {"k\udce9": "\udcff", "n": float("nan")})
    request = ModelRequest(
        MODEL,
        (user("a\ud83d"), assistant(Text("\n"), call), results(("t1", "\ud83d"))),
        (ToolSpec("x", "does \udc80", {"type": "object"}),),
        "You \ud83d help.",
        (PromptSection("s", "\udcff", cacheable=True), plan("\udcff")),
    )
    client = Client(wire(answer(text("ok"))))
    await client.ask(request)
    sent = client.server.requests[0]["messages"]
    assert sent[0]["content"][0]["text"] == "a\ufffd"
    assert sent[1]["content"][0]["input"] == {"k\ufffd": "\ufffd", "n": None}


async def test_names_the_model_made_up_go_back_in_a_form_the_service_takes(wire: Wire):
    calls = tuple(ToolUse(f"t{i}", name, {}) for i, name in enumerate(("", "read ", "a.b/ü" * 50)))
    done = results(*((call.id, "no such tool") for call in calls))
    client = Client(wire(answer(text("ok"))))
    await client.ask(ModelRequest(MODEL, (user("go"), assistant(*calls), done)))
    names = [block["name"] for block in client.server.requests[0]["messages"][1]["content"]]
    assert names == ["unnamed", "read_", ("a_b__" * 50)[:128]]


async def test_an_old_thread_whose_ids_repeat_can_be_sent(wire: Wire):
    twice = (assistant(ToolUse("c 1", "x", {}), ToolUse("c 1", "x", {})), results(("c 1", "r")))
    client = Client(wire(answer(text("ok"))))
    await client.ask(ModelRequest(MODEL, (user("go"), *twice, *twice)))
    ids = [b["id"] for m in client.server.requests[0]["messages"][1::2] for b in m["content"]]
    assert ids == ["c_1", "c_1_2", "c_1_3", "c_1_4"]


async def test_reasoning_that_nobody_takes_back_is_left_out(wire: Wire):
    unsigned = assistant(Thinking("hm", ""), Text("so"))
    cut_off = assistant(Thinking("hm", ""))
    client = Client(wire(answer(thinking("hm", "s1"), stop="max_tokens"), answer(text("ok"))))
    cut_off_later = (await client.ask()).message
    history = (user("a"), unsigned, user("b"), cut_off, user("c"), cut_off_later, user("d"))
    await client.ask(ModelRequest(MODEL, history))
    sent = client.server.requests[1]["messages"]
    assert [[b.get("text") for b in m["content"]] for m in sent] == [["a"], ["so"], ["b", "c", "d"]]


async def test_a_conversation_that_ends_in_half_an_answer_goes_on(wire: Wire):
    half = Message("assistant", (Text("half"),), partial=True)
    client = Client(wire(answer(text("whole"))))
    await client.ask(ModelRequest(MODEL, (user("go"), half)))
    assert [m["role"] for m in client.server.requests[0]["messages"]] == [
        "user", "assistant", "user",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "thinking", "expected"),
    [
        ("claude-sonnet-5-5", True, {"type": "adaptive", "display": "summarized"}),
        ("claude-sonnet-5-5", False, {"type": "between_tools"}),
        ("claude-opus-5-5", False, None),
        ("claude-sonnet-5-20260630", False, {"type": "disabled"}),
        ("claude-haiku-4-5-20251001", True, {"type": "enabled", "budget_tokens": 16_000}),
        ("a-model-of-tomorrow", True, None),
    ],
)
def test_every_model_is_asked_to_think_in_its_own_form(model, thinking, expected):
    layout = lay_out(replace(GO, model=model), Asides(), Options(thinking=thinking))
    assert layout.arguments.get("thinking") == expected


@pytest.mark.parametrize(
    ("model", "wanted", "sent"),
    [(MODEL, 500_000, 128_000), (MODEL, 1000, 1000), ("unknown", 500_000, 500_000)],
)
def test_no_answer_is_asked_to_be_longer_than_the_model_can(model, wanted, sent):
    request = ModelRequest(model, (user("go"),), max_tokens=wanted)
    assert lay_out(request, Asides(), Options()).arguments["max_tokens"] == sent


def test_a_short_answer_leaves_no_room_for_a_budget():
    request = ModelRequest("claude-haiku-4-5", (user("go"),), max_tokens=1024)
    assert "thinking" not in lay_out(request, Asides(), Options()).arguments


@pytest.mark.parametrize(("thought", "thinks"), [((Thinking("hm", "sig"),), True), ((), False)])
def test_a_budget_is_given_behind_calls_only_where_their_reasoning_is_sent(thought, thinks):
    called = Message("assistant", (*thought, ToolUse("t1", "read", {"path": "x"})))
    messages = (user("go"), called, results(("t1", "content")))
    arguments = lay_out(ModelRequest("claude-haiku-4-5", messages), Asides(), Options()).arguments
    assert ("thinking" in arguments) is thinks
    assert violations({**arguments, "stream": True}) == []


async def test_effort_is_passed_on(wire: Wire):
    server = wire(answer(text("ok")))
    provider = AnthropicProvider(api_key="k", base_url=server.url, effort="low")
    await provider.stream(GO, lambda delta: None)
    assert server.requests[0]["output_config"] == {"effort": "low"}


async def test_tokens_are_counted_without_an_answer(wire: Wire):
    client = Client(wire())
    request = replace(GO, tools=TOOLS, system="You help.", sections=(GUIDE, plan("- a")))
    assert await client.provider.count_tokens(request) > 100
    assert client.server.paths == ["/v1/messages/count_tokens"]


TEXTS = st.sampled_from(["", " \n", "a", "ü\ud83d", "</todos>"])
NAMES = st.sampled_from(["x", "", "read ", "ö"])
IDS = st.sampled_from(["t1", "t2", "", "ä"])
BLOCKS = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Thinking, TEXTS, st.sampled_from(["", "sig"])),
    st.builds(ToolUse, IDS, NAMES, st.just({"a": float("inf")})),
    st.just(Opaque({"type": "redacted_thinking", "data": "x"})),
)
OF_USER = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(ToolResult, IDS, st.tuples(st.builds(Text, TEXTS))),
    st.just(Image("image/png", "QUFBQQ==")),
)
MESSAGES = st.one_of(
    st.builds(Message, st.just("user"), st.lists(OF_USER, max_size=4).map(tuple)),
    st.builds(Message, st.just("assistant"), st.lists(BLOCKS, max_size=4).map(tuple)),
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(MESSAGES, max_size=8).map(tuple),
    st.lists(st.builds(PromptSection, NAMES, TEXTS, st.booleans()), max_size=3).map(tuple),
    TEXTS,
)
def test_whatever_a_thread_holds_its_request_breaks_no_rule(messages, sections, system):
    whole = (*messages, user("and then?"))
    request = ModelRequest(MODEL, whole, TOOLS, system, sections)
    arguments = lay_out(request, Asides(), Options()).arguments
    assert violations(arguments | {"stream": True}) == []
