"""What becomes of a stream of events: the real SDK against the loopback server."""

from __future__ import annotations

import asyncio

import pytest

from tests.wire.conftest import Wire
from tests.wire.replies import answer, finish, start, stream, text, thinking, tool_use
from tests.wire.support import GO, Client, results
from todo_agent.agent.messages import Message, Opaque, Text, Thinking, ToolUse, assistant, user
from todo_agent.agent.provider import ModelDelta, ModelRequest, Usage


def begun(block: dict[str, object], index: int = 0) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def piece(delta: dict[str, object], index: int = 0) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def closed(index: int = 0) -> dict[str, object]:
    return {"type": "content_block_stop", "index": index}


START = start({"input_tokens": 10, "output_tokens": 1})
END = finish("end_turn", {"output_tokens": 5})
CALLED = finish("tool_use", {"output_tokens": 5})


async def test_text_streams_and_comes_whole(wire: Wire):
    client = Client(wire(answer(text("hello 🌍"), piece=2)))
    response = await client.ask()
    assert response.message == assistant(Text("hello 🌍"))
    assert (response.stop, response.usage) == ("end_turn", Usage(10, 5))
    assert [delta.text for delta in client.deltas] == ["he", "ll", "o ", "🌍"]
    assert client.server.paths == ["/v1/messages"]


async def test_bytes_that_come_one_by_one_make_the_same_answer(wire: Wire):
    call = tool_use("t1", "read", {"path": "ä.py"})
    response = await Client(wire(answer(text("é"), call, piece=1, one_byte=True))).ask()
    assert response.message == assistant(Text("é"), ToolUse("t1", "read", {"path": "ä.py"}))
    assert response.faults == {}


async def test_a_character_that_comes_in_two_halves_is_shown_whole(wire: Wire):
    halves = [piece({"type": "text_delta", "text": half}) for half in ("a\ud83d", "\ude00b")]
    reply = stream(START, begun({"type": "text", "text": ""}), *halves, closed(), *END)
    client = Client(wire(reply))
    response = await client.ask()
    assert client.deltas == [ModelDelta("text", "a"), ModelDelta("text", "😀b")]
    assert response.message == assistant(Text("a😀b"))


async def test_a_line_separator_inside_a_text_does_not_end_the_line(wire: Wire):
    raw = (
        b'data: {"type":"content_block_start","index":0,'
        b'"content_block":{"type":"text","text":"a\xe2\x80\xa8b\xc2\x85c"}}\n\n'
    )
    response = await Client(wire(stream(START, raw, closed(), *END))).ask()
    assert response.message == assistant(Text("a\u2028b\x85c"))


async def test_events_without_a_name_and_comments_are_understood(wire: Wire):
    chunks = answer(text("ok")).chunks
    bare = tuple(b": ping\n\n" + chunk.partition(b"\n")[2] for chunk in chunks)
    response = await Client(wire(stream(*bare, b'data: "not an event"\n\n'))).ask()
    assert response.message == assistant(Text("ok"))


async def test_reasoning_goes_back_byte_for_byte_and_in_its_place(wire: Wire):
    blocks = (
        thinking("a  b\n", "sig-1"),
        {"type": "redacted_thinking", "data": "XYZ="},
        text("so"),
        tool_use("t1", "x", {}),
        thinking("", "sig-2") | {"of_tomorrow": {"x": None}},
        tool_use("t2", "x", {}),
    )
    client = Client(wire(answer(*blocks), answer(text("ok"))))
    first = await client.ask()
    assert first.message.content == (
        Thinking("a  b\n", "sig-1"),
        Opaque({"type": "redacted_thinking", "data": "XYZ="}),
        Text("so"),
        ToolUse("t1", "x", {}),
        Thinking("", "sig-2", {"of_tomorrow": {"x": None}}),
        ToolUse("t2", "x", {}),
    )
    again = (user("go"), first.message, results(("t1", "1"), ("t2", "2")))
    await client.ask(ModelRequest(GO.model, again))
    assert client.server.requests[1]["messages"][1]["content"] == list(blocks)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ('{"path": INVALID', "not valid JSON"),
        ('{"a":1}{"b":2}', "not valid JSON"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": 1e999}', "1e999 is no number"),
        (f'{{"a": {"9" * 5000}}}', "not valid JSON"),
        ("[1, 2]", "one JSON object, not a list"),
        ('"str"', "one JSON object, not a str"),
        ("3", "one JSON object, not a int"),
        ('{"a":' * 300 + "1" + "}" * 300, "deeper than 100 levels"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "not valid JSON"),
    ],
    ids=lambda value: value[:20],
)
async def test_arguments_that_are_no_json_object_are_a_fault_of_their_call(wire: Wire, raw, says):
    calls = (tool_use("t1", "read", raw), tool_use("t2", "read", {"path": "x"}))
    response = await Client(wire(answer(*calls))).ask()
    kept = (ToolUse("t1", "read", {}), ToolUse("t2", "read", {"path": "x"}))
    assert response.message.calls == kept
    assert response.faults.keys() == {"t1"}
    assert says in response.faults["t1"]


@pytest.mark.parametrize("raw", ["", "  ", "{}"])
async def test_no_arguments_at_all_are_an_empty_object(wire: Wire, raw):
    response = await Client(wire(answer(tool_use("t1", "list", raw)))).ask()
    assert response.message.calls == (ToolUse("t1", "list", {}),)
    assert response.faults == {}


async def test_arguments_may_come_whole_with_the_start_of_their_call(wire: Wire):
    block = {"type": "tool_use", "id": "t1", "name": "x", "input": {"a": 1}, "caller": None}
    response = await Client(wire(stream(START, begun(block), closed(), *CALLED))).ask()
    assert response.message == assistant(ToolUse("t1", "x", {"a": 1}))
    assert response.faults == {}


@pytest.mark.parametrize(
    ("stop", "says"),
    [
        ("max_tokens", "output limit was hit before this call was complete"),
        ("model_context_window_exceeded", "ended with model_context_window_exceeded"),
        ("refusal", "ended with refusal"),
        ("pause_turn", "ended with pause_turn"),
        ("some_future_reason", "ended with some_future_reason"),
    ],
)
async def test_calls_of_an_answer_that_was_cut_off_do_not_run(wire: Wire, stop, says):
    calls = (tool_use("t1", "x", {}), tool_use("t2", "write", '{"path": "a'))
    response = await Client(wire(answer(*calls, stop=stop))).ask()
    assert response.stop == stop
    assert response.faults.keys() == {"t1", "t2"}
    assert says in response.faults["t2"]


async def test_a_call_that_never_ended_does_not_run(wire: Wire):
    block = {"type": "tool_use", "id": "t1", "name": "x", "input": {}}
    half = piece({"type": "input_json_delta", "partial_json": '{"a":'})
    response = await Client(wire(stream(START, begun(block), half, *CALLED))).ask()
    assert response.faults.keys() == {"t1"}


async def test_an_answer_without_a_reason_for_its_end_runs_nothing(wire: Wire):
    block = {"type": "tool_use", "id": "t1", "name": "x", "input": {}}
    reply = stream(START, begun(block), closed(), {"type": "message_stop"})
    response = await Client(wire(reply)).ask()
    assert response.stop == "unknown"
    assert response.faults.keys() == {"t1"}


async def test_calls_get_ids_of_their_own_within_an_answer_and_a_thread(wire: Wire):
    calls = [tool_use(id_, "x", {}) for id_ in ("t", "t", "", "old", "ä b")]
    earlier = (user("go"), assistant(ToolUse("old", "x", {})), results(("old", "1")))
    client = Client(wire(answer(*calls)))
    response = await client.ask(ModelRequest(GO.model, earlier))
    ids = [call.id for call in response.message.calls]
    assert ids == ["t", "t_2", "call", "old_2", "__b"]
    assert [delta.call_id for delta in client.deltas] == ids


async def test_a_call_without_a_name_or_an_id_is_still_a_call(wire: Wire):
    block = {"type": "tool_use", "id": None, "name": None, "input": None}
    response = await Client(wire(stream(START, begun(block), closed(), *CALLED))).ask()
    assert response.message == assistant(ToolUse("call", "", {}))


async def test_a_refusal_says_why(wire: Wire):
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    client = Client(
        wire(
            answer(text("No."), stop="refusal", stop_details=details),
            answer(stop="refusal", stop_details=details | {"explanation": None}),
        )
    )
    refusals = [await client.ask(), await client.ask()]
    assert [refusal.detail for refusal in refusals] == [
        "Not this.",
        "The model declined to answer (cyber).",
    ]


async def test_what_nobody_knows_is_kept_or_passed_over(wire: Wire):
    strange = {"type": "hologram", "data": {"x": 1.50}, "at": "2026-12-01T00:00:00Z", "no": None}
    reply = stream(
        START,
        {"type": "sparkle"},
        begun(strange),
        piece({"type": "glitter", "x": 1}),
        closed(),
        piece({"type": "text_delta", "text": "of no block"}, index=7),
        begun({"type": "text", "text": "ok"}, index=1),
        closed(1),
        *END,
    )
    client = Client(wire(reply, answer(text("more"))))
    first = await client.ask()
    assert first.message == assistant(Opaque(strange), Text("ok"))
    await client.ask(ModelRequest(GO.model, (user("go"), first.message, user("and?"))))
    assert client.server.requests[1]["messages"][1]["content"][0] == strange


async def test_the_input_of_a_servers_own_tool_is_kept_and_is_no_call(wire: Wire):
    block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    query = piece({"type": "input_json_delta", "partial_json": '{"query": "x"}'})
    pause = finish("pause_turn", {"output_tokens": 5})
    client = Client(wire(stream(START, begun(block), query, closed(), *pause)))
    response = await client.ask()
    assert response.message == assistant(Opaque(block | {"input": {"query": "x"}}))
    assert (response.stop, response.faults, client.deltas) == ("pause_turn", {}, [])


async def test_citations_stay_with_their_text(wire: Wire):
    citation = {"type": "char_location", "cited_text": "x", "document_index": 0}
    cited = piece({"type": "citations_delta", "citation": citation})
    block = begun({"type": "text", "text": "as x says", "citations": None})
    response = await Client(wire(stream(START, block, cited, closed(), *END))).ask()
    assert response.message == assistant(Text("as x says", {"citations": [citation]}))


async def test_token_counts_are_totals_and_none_is_lost(wire: Wire):
    first = {
        "input_tokens": 7,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 1,
    }
    last = {"input_tokens": 0, "cache_read_input_tokens": None, "output_tokens": 42}
    response = await Client(wire(stream(start(first), *finish("end_turn", last)))).ask()
    assert response.usage == Usage(7, 42, cache_read_tokens=100, cache_write_tokens=20)
    assert response.message == Message("assistant", ())


async def test_an_answer_is_whole_once_its_stop_reason_came(wire: Wire):
    block = begun({"type": "text", "text": "done"})
    response = await Client(wire(stream(START, block, closed(), END[0], cut=True))).ask()
    assert (response.message, response.stop) == (assistant(Text("done")), "end_turn")


async def test_a_cancelled_call_closes_the_stream(wire: Wire):
    server = wire(answer(text("slow"), hang=True))
    heard = asyncio.Event()
    call = asyncio.create_task(Client(server).provider.stream(GO, lambda delta: heard.set()))
    await heard.wait()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    assert await asyncio.to_thread(server.disconnected.wait, 10)
    assert call.cancelled()


async def test_two_calls_of_one_provider_do_not_mix(wire: Wire):
    client = Client(wire(answer(text("a" * 50), piece=1), answer(text("b" * 50), piece=1)))
    first, second = await asyncio.gather(client.ask(), client.ask())
    assert {first.message.text, second.message.text} == {"a" * 50, "b" * 50}
