"""Scripts of model replies: what they play, and what is wrong with one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from todo_agent.agent.messages import Text, Thinking, ToolUse, assistant, user
from todo_agent.agent.provider import (
    ModelDelta,
    ModelRequest,
    ModelResponse,
    ProviderError,
    Usage,
)
from todo_agent.providers.script import ScriptError
from todo_agent.providers.scripted import Reply, ScriptedProvider

GO = ModelRequest("m", (user("go"),))
READ = {"name": "read", "input": {"path": "a"}}


async def play(*replies: Reply, request: ModelRequest = GO) -> tuple[ModelResponse, list[str]]:
    deltas: list[ModelDelta] = []
    response = await ScriptedProvider(replies).stream(request, deltas.append)
    return response, [f"{delta.kind} {delta.text}" for delta in deltas]


async def test_a_reply_streams_in_pieces_and_comes_whole():
    reply = {
        "thinking": "hmm",
        "text": "hello",
        "calls": [READ, READ | {"id": "mine"}],
        "usage": {"input_tokens": 3, "cache_read_tokens": 4},
        "chunk": 3,
    }
    response, deltas = await play(reply)
    assert deltas[:3] == ["thinking hmm", "text hel", "text lo"]
    assert "".join(delta.partition(" ")[2] for delta in deltas[3:]) == '{"path": "a"}' * 2
    assert response == ModelResponse(
        assistant(
            Thinking("hmm", "signature-1"),
            Text("hello"),
            ToolUse("call_1_1", "read", {"path": "a"}),
            ToolUse("mine", "read", {"path": "a"}),
        ),
        "tool_use",
        Usage(3, cache_read_tokens=4),
    )


async def test_a_reply_may_be_a_response_or_made_of_the_request():
    ready = ModelResponse(assistant(Text("ready")), "end_turn")
    provider = ScriptedProvider([ready, lambda request: {"text": request.messages[0].text}])
    heard: list[str] = []
    for _ in range(2):
        await provider.stream(GO, lambda delta: heard.append(delta.text))
    assert heard == ["ready", "go"]
    assert provider.requests == [GO, GO]


async def test_calls_of_a_reply_that_was_cut_off_do_not_run():
    response, _ = await play({"calls": [READ], "stop": "max_tokens"})
    assert list(response.faults) == ["call_1_1"]


async def test_an_error_comes_after_what_was_said():
    error = {"kind": "overloaded", "message": "busy", "retriable": True, "retry_after": 2}
    with pytest.raises(ProviderError, match="busy") as caught:
        await play({"text": "half", "error": error, "usage": {"input_tokens": 1}})
    raised = caught.value
    assert (raised.kind, raised.retriable, raised.retry_after) == ("overloaded", True, 2)
    assert (raised.partial, raised.usage) == (assistant(Text("half")), Usage(1))


async def test_a_script_that_has_ended_says_so_unless_there_is_a_last_word():
    short = ScriptedProvider([{"text": "only"}])
    await short.stream(GO, lambda delta: None)
    with pytest.raises(ProviderError, match="has 1 replies, and this is request 2"):
        await short.stream(GO, lambda delta: None)
    endless = ScriptedProvider([], then={"text": "bye"})
    assert (await endless.stream(GO, lambda delta: None)).message.text == "bye"


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("hello", "replies[0] must be an object, not 'hello'"),
        ({"txet": "x"}, "replies[0].txet is not known"),
        ({"text": 3}, "replies[0].text must be text, not 3"),
        ({"delay": -1}, "replies[0].delay must be a number of seconds"),
        ({"pace": True}, "replies[0].pace must be a number of seconds"),
        ({"chunk": 0}, "replies[0].chunk must be a whole number from 1"),
        ({"hang": "yes"}, "replies[0].hang must be true or false"),
        ({"usage": {"tokens": 1}}, "replies[0].usage.tokens is not known"),
        ({"usage": {"input_tokens": 1.5}}, "replies[0].usage.input_tokens must be a whole"),
        ({"error": {"kind": "x"}}, "replies[0].error.message is missing"),
        ({"calls": {}}, "replies[0].calls must be a list"),
        ({"calls": [{"name": "x"}]}, "replies[0].calls[0].input is missing"),
        ({"calls": [READ, {"name": "x", "input": []}]}, "replies[0].calls[1].input must be an"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_reply_is_told_before_anything_plays(reply, says):
    with pytest.raises(ScriptError) as caught:
        ScriptedProvider([reply])
    assert str(caught.value).startswith(says)


async def test_a_reply_made_of_the_request_is_checked_as_well():
    with pytest.raises(ScriptError, match=r"reply 1\.txet is not known"):
        await play(lambda request: {"txet": "x"})


@pytest.mark.parametrize(
    "content", [[{"text": "hi"}], {"replies": [{"text": "hi"}], "then": {"text": "bye"}}]
)
async def test_a_script_is_read_from_a_file(tmp_path: Path, content):
    file = tmp_path / "script.json"
    file.write_text(json.dumps(content))
    response = await ScriptedProvider.load(file).stream(GO, lambda delta: None)
    assert response.message.text == "hi"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "Expecting property name"),
        (b"\xff", "codec can't decode"),
        (b"3", "a script is a list, or an object of"),
        (b'{"replies": [], "more": 1}', "a script is a list, or an object of"),
        (b'[{"text": "a"}, {"txet": "b"}]', "replies[1].txet is not known"),
        (b'{"replies": [], "then": 3}', "then must be an object"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_file_is_told_with_its_name(tmp_path: Path, content, says):
    file = tmp_path / "script.json"
    file.write_bytes(content)
    with pytest.raises(ScriptError) as caught:
        ScriptedProvider.load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert says in str(caught.value)


def test_a_file_that_is_not_there_is_told_with_its_name(tmp_path: Path):
    with pytest.raises(ScriptError, match=r"nowhere\.json: .*No such file"):
        ScriptedProvider.load(tmp_path / "nowhere.json")


async def test_a_request_beside_the_conversation_takes_no_reply_of_it():
    provider = ScriptedProvider([{"text": "first"}], aside={"text": "a summary"})
    aside = await provider.stream(replace(GO, aside=True), lambda delta: None)
    first = await provider.stream(GO, lambda delta: None)
    assert [response.message.text for response in (aside, first)] == ["a summary", "first"]
