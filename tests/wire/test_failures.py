"""How failed calls are told: every kind of failure, before and in the middle of an answer."""

from __future__ import annotations

import pytest

from tests.wire.conftest import Wire
from tests.wire.replies import (
    Reply,
    answer,
    document,
    refused,
    start,
    status,
    stream,
    text,
    thinking,
    tool_use,
)
from tests.wire.support import GO, KEY, Client, failure
from todo_agent.agent.messages import Text, assistant
from todo_agent.agent.provider import ModelRequest, ProviderError, Usage
from todo_agent.providers.anthropic import AnthropicProvider

OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
LONG = "prompt is too long: 210000 tokens > 200000 maximum"
LIMIT = "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"
NOBODY = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("reply", "kind", "retriable"),
    [
        (refused("messages.0: bad"), "invalid_request", False),
        (refused(LONG), "context_window", False),
        (refused(LIMIT), "context_window", False),
        (status(401, "invalid x-api-key"), "auth", False),
        (status(402), "billing", False),
        (status(403), "permission", False),
        (status(404, "model: nope"), "not_found", False),
        (status(408), "timeout", True),
        (status(413), "too_large", False),
        (status(429), "rate_limit", True),
        (status(429, headers={"x-should-retry": "false"}), "rate_limit", False),
        (status(500), "server", True),
        (status(502), "server", True),
        (status(504), "timeout", True),
        (status(529), "overloaded", True),
        (stream(OVERLOADED), "overloaded", True),
        (stream(start({}), OVERLOADED), "overloaded", True),
        (stream(start({}), {"type": "error"}), "server", True),
        (stream(b"event: message_start\ndata: {not json\n\n"), "stream", True),
        (stream(b'data: {"a": "\xff"}\n\n'), "stream", True),
        (stream(b"data: " + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n\n"), "stream", True),
        (stream(cut=True), "connection", True),
        (Reply(drop=True), "connection", True),
        (stream(), "stream", True),
        (document({"hello": "world"}), "stream", False),
        (Reply(200, {"content-type": "text/html; charset=utf-8"}, (b"<html>",)), "stream", False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_failed_call_says_what_kind_of_failure_it_is(wire: Wire, reply, kind, retriable):
    error = await Client(wire(reply)).fail()
    assert (error.kind, error.retriable, error.partial) == (kind, retriable, None)


@pytest.mark.parametrize(
    ("reply", "overflow"),
    [(refused(LONG), True), (refused(LIMIT), True), (status(413), True), (status(429), False)],
    ids=["prompt", "with answer", "body", "rate"],
)
async def test_a_conversation_that_is_too_long_is_told_apart(wire: Wire, reply, overflow):
    assert (await Client(wire(reply)).fail()).overflow == overflow


async def test_a_failure_says_what_the_server_said_and_where(wire: Wire):
    server = wire(refused(LONG))
    error = await Client(server).fail()
    assert str(error) == (
        "The conversation no longer fits into the model's context window. "
        f"({server.url}: 400, {LONG})"
    )


async def test_a_failure_in_html_keeps_its_markup_to_itself(wire: Wire):
    page = Reply(502, {"content-type": "text/html"}, (b"<html><h1>Bad Gateway</h1></html>",))
    server = wire(page)
    error = await Client(server).fail()
    assert str(error) == f"The service has a fault of its own. ({server.url}: 502)"


async def test_a_server_that_repeats_the_key_does_not_get_it_shown(wire: Wire):
    error = await Client(wire(status(401, f"no such key: {KEY}"))).fail()
    assert "no such key: ***" in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds", "says"),
    [
        ({"retry-after": "7"}, 7, "It asks to wait 7 s."),
        ({"retry-after": "3600"}, 3600, "It asks to wait 1 h."),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5, "It asks to wait 1.5 s."),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, "Too many requests for now. ("),
        ({"retry-after": "soon"}, None, "Too many requests for now. ("),
    ],
    ids=str,
)
async def test_the_server_says_how_long_to_wait(wire: Wire, headers, seconds, says):
    error = await Client(wire(status(429, headers=headers))).fail()
    assert error.retry_after == seconds
    assert says in str(error)


@pytest.mark.parametrize("end", ["cut", "error:overloaded_error", "none"])
async def test_an_answer_that_breaks_off_keeps_its_text_and_drops_its_calls(wire: Wire, end):
    blocks = (thinking("hm", "s1"), text("half an "), tool_use("t1", "x", "{"))
    error = await Client(wire(answer(*blocks, end=end))).fail()
    assert error.partial is not None
    assert error.partial.content == (Text("half an "),)
    assert (error.partial.partial, error.retriable) == (True, False)
    assert error.usage == Usage(10, 1)


async def test_an_answer_that_breaks_off_in_its_reasoning_may_be_asked_for_again(wire: Wire):
    error = await Client(wire(answer(thinking("hm", "s1"), text(" "), end="cut"))).fail()
    assert (error.partial, error.retriable) == (None, True)


async def test_a_redirect_is_not_followed(wire: Wire):
    elsewhere = wire(answer(text("mine")))
    location = elsewhere.url.replace("//", "//me:pw@") + "/v1/messages?token=x"
    error = await Client(wire(status(307, headers={"location": location}))).fail()
    assert error.kind == "redirect"
    assert elsewhere.url.replace("//", "//***@") + "/v1/messages)" in str(error)
    assert elsewhere.requests == []


@pytest.mark.parametrize("reply", [stream(start({}), silent=True), Reply(delay=60)], ids=str)
async def test_silence_ends_in_a_timeout(wire: Wire, reply):
    server = wire(reply)
    error = await failure(AnthropicProvider(api_key=KEY, base_url=server.url, timeout=0.1))
    assert (error.kind, error.retriable) == ("timeout", True)
    assert str(error) == f"{server.url} did not answer in time."


async def test_nobody_at_the_address_is_told_with_the_address():
    address = NOBODY.replace("//", "//me:pw@")
    error = await failure(AnthropicProvider(api_key=KEY, base_url=address))
    assert (error.kind, error.retriable) == ("connection", True)
    assert str(error).startswith("http://***@127.0.0.1:9 cannot be reached: ")


async def test_a_proxy_that_is_not_there_is_named_without_its_password(wire: Wire, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://me:pw@127.0.0.1:9")
    server = wire()
    error = await Client(server).fail()
    assert error.kind == "connection"
    assert f"{server.url} (through the proxy http://***@127.0.0.1:9) cannot be" in str(error)


async def test_an_address_that_needs_no_proxy_goes_around_it(wire: Wire, monkeypatch):
    monkeypatch.setenv("http_proxy", NOBODY)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    response = await Client(wire(answer(text("ok")))).ask()
    assert response.message == assistant(Text("ok"))


def test_a_proxy_that_cannot_be_used_is_told_at_once(monkeypatch):
    monkeypatch.setenv("http_proxy", "teapot://me:pw@127.0.0.1:9")
    with pytest.raises(ValueError, match=r"proxy teapot://\*\*\*@127.0.0.1:9\) cannot be used"):
        AnthropicProvider(api_key=KEY, base_url=NOBODY)


async def test_a_certificate_nobody_trusts_is_told_and_not_tried_again(wire: Wire):
    error = await Client(wire(tls=True)).fail()
    assert (error.kind, error.retriable) == ("connection", False)
    assert "is not trusted" in str(error)
    assert "SSL_CERT_FILE" in str(error)


async def test_an_answer_in_the_clear_where_tls_is_expected_is_a_connection_error(wire: Wire):
    address = wire().url.replace("http:", "https:")
    error = await failure(AnthropicProvider(api_key=KEY, base_url=address))
    assert (error.kind, error.retriable) == ("connection", True)


async def test_nothing_to_send_is_told_before_anything_is_sent(wire: Wire):
    server = wire()
    error = await Client(server).fail(ModelRequest(GO.model, ()))
    assert error.kind == "invalid_request"
    assert server.paths == []


async def test_a_count_that_fails_is_told_like_an_answer_that_fails():
    provider = AnthropicProvider(api_key=KEY, base_url=NOBODY)
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        await provider.count_tokens(GO)
    assert (caught.value.kind, caught.value.retriable) == ("connection", True)
