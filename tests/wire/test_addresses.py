"""Where requests go, and with which credential."""

from __future__ import annotations

import pytest

from tests.wire.conftest import Wire
from tests.wire.replies import answer, text
from tests.wire.support import GO, KEY
from todo_agent.providers.anthropic import AnthropicProvider
from todo_agent.providers.endpoint import base_url, clean_key, masked


async def credential(wire: Wire, **options: str) -> dict[str, str]:
    """Return the credential headers of one call."""
    server = wire(answer(text("ok")))
    provider = AnthropicProvider(base_url=server.url, **options)
    await provider.stream(GO, lambda delta: None)
    names = ("x-api-key", "authorization")
    return {name: server.headers[0][name] for name in names if name in server.headers[0]}


async def test_a_key_goes_alone(wire: Wire):
    assert await credential(wire, api_key=KEY) == {"x-api-key": KEY}


async def test_a_token_goes_alone(wire: Wire):
    assert await credential(wire, auth_token="tok") == {"authorization": "Bearer tok"}


async def test_a_key_comes_before_a_token(wire: Wire):
    assert await credential(wire, api_key=KEY, auth_token="tok") == {"x-api-key": KEY}


async def test_an_empty_key_is_no_key(wire: Wire):
    sent = await credential(wire, api_key=" ", auth_token="tok\r\n")
    assert sent == {"authorization": "Bearer tok"}


async def test_nothing_of_the_environment_takes_part(wire: Wire, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "other")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other")
    monkeypatch.setenv("ANTHROPIC_PROFILE", "other")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Api-Key: other\nAuthorization: other")
    assert await credential(wire, auth_token="tok") == {"authorization": "Bearer tok"}


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/", "//v1//", "/v1/messages"])
async def test_the_path_is_right_whatever_the_address_ends_with(wire: Wire, suffix):
    server = wire(answer(text("ok")))
    provider = AnthropicProvider(api_key="k", base_url=server.url + suffix)
    await provider.stream(GO, lambda delta: None)
    assert server.paths == ["/v1/messages"]


async def test_a_user_in_the_address_goes_beside_the_key():
    """A gateway's own password does not take the place of the key."""
    provider = AnthropicProvider(api_key=KEY, base_url="http://me:pw@127.0.0.1:9")
    assert provider._credential["X-Api-Key"] == KEY


def test_a_user_in_the_address_leaves_no_room_for_a_token():
    with pytest.raises(ValueError, match="exclude each other") as caught:
        AnthropicProvider(auth_token="tok", base_url="http://me:pw@127.0.0.1:9")
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "  ",
        "ftp://x",
        "127.0.0.1:80",
        "me:secret@host:80",
        "http://",
        "http://x?token=secret",
        "http://x#secret",
        "http://x:port",
        "http://x:99999",
        "http://[::1",
        "http://a b",
        "http://x/a\x00b",
        "http://me:secret@host?x=1",
    ],
)
def test_an_address_that_is_none_is_refused_by_the_variables_name(address):
    with pytest.raises(ValueError, match="ANTHROPIC_BASE_URL") as caught:
        base_url(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-ant-ü", "sk ant", "sk\nant", "sk\x00", "sk\u200b"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key):
    with pytest.raises(ValueError, match="ANTHROPIC_API_KEY") as caught:
        AnthropicProvider(api_key=key)
    assert "sk" not in str(caught.value)


@pytest.mark.parametrize("text", [None, "", "  ", "\r\n"])
def test_a_blank_key_is_none(text):
    assert clean_key(text, variable="X") is None
    with pytest.raises(ValueError, match="is needed"):
        AnthropicProvider(api_key=text)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:pw@host/v1?x=1", "http://***@host/v1"),
        ("me:p@w@host", "***@host"),
        ("https://api.anthropic.com", "https://api.anthropic.com"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address, shown):
    assert masked(address) == shown
