"""Pages from the web, here from a server on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import pytest

from todo_agent.agent.messages import Display
from todo_agent.agent.state import State
from todo_agent.agent.tools import Error, Outcome, Resource, Success, ToolCall, ToolContext
from todo_agent.tools.web_fetch import MAX_BYTES, web_fetch_tool

HTML = b"""<html><head><title>T</title><script>evil()</script></head><body>
<h1>Hello</h1><p>A <a href="/x">link</a> &amp; <b>bold</b>.</p><ul><li>one</li></ul>
</body></html>"""


@asynccontextmanager
async def serving(pages: dict[str, tuple[str, bytes]]) -> AsyncIterator[tuple[str, list[str]]]:
    """Serve pages (status and headers, body) by path; yield the port and the requests."""
    requests: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        requests.append(request)
        head, body = pages[request.split(" ")[1]]
        writer.write(f"HTTP/1.1 {head}\r\nConnection: close\r\n\r\n".encode() + body)
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield str(server.sockets[0].getsockname()[1]), requests


async def here(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


async def fetch(url: str, **args: object) -> Outcome:
    tool = web_fetch_tool(allow_private=True, resolve=here)
    call = ToolCall("1", "web_fetch", {"url": url, **args})  # type: ignore[dict-item]
    return await tool.run(call, ToolContext("thread", State()))


async def test_html_comes_as_markdown_and_the_host_keeps_its_name():
    async with serving({"/p?q=1": ("200 OK\r\nContent-Type: text/html", HTML)}) as (port, requests):
        outcome = await fetch(f"http://site.example:{port}/p?q=1#part")
    assert isinstance(outcome, Success)
    assert "# Hello\n\nA [link](/x) & **bold**.\n\n* one" in outcome.content
    assert "evil" not in outcome.content
    assert f"Host: site.example:{port}\r\n" in requests[0]


async def test_other_text_comes_as_it_is_and_long_text_in_parts():
    text = ("x" * 60_000 + "yz").encode()
    async with serving({"/": ("200 OK\r\nContent-Type: text/plain", text)}) as (port, _):
        first = await fetch(f"http://site.example:{port}")
        second = await fetch(f"http://site.example:{port}", offset=60_000)
        third = await fetch(f"http://site.example:{port}", offset=70_000)
    assert isinstance(first, Success)
    assert first.content == (
        "x" * 60_000 + "\n[characters 0-60000 of 60002; go on with offset=60000]"
    )
    assert second == Success("yz", display=Display("60,002 characters", "yz"))
    assert third == Error(f"http://site.example:{port} has only 60,002 characters.")


async def test_moves_on_the_same_host_are_followed_and_others_are_told():
    pages = {
        "/a": ("302 Found\r\nLocation: /b", b""),
        "/b": ("200 OK\r\nContent-Type: text/plain", b"here"),
        "/out": ("301 Moved\r\nLocation: http://other.example/x", b""),
        "/loop": ("302 Found\r\nLocation: /loop", b""),
    }
    async with serving(pages) as (port, requests):
        site = f"http://site.example:{port}"
        assert (await fetch(f"{site}/a")).content == "here"  # type: ignore[union-attr]
        assert await fetch(f"{site}/out") == Error(
            f"{site}/out has moved to http://other.example/x; fetch that, if it is wanted."
        )
        assert await fetch(f"{site}/loop") == Error(f"{site}/loop redirects more than 5 times.")
    assert len(requests) == 9


@pytest.mark.parametrize(
    ("head", "body", "message"),
    [
        ("404 Not Found", b"", "answered 404."),
        ("200 OK\r\nContent-Type: image/png", b"x", "is image/png, which is no text."),
        ("200 OK", b"x" * (MAX_BYTES + 1), "is larger than 5,000,000 bytes."),
    ],
)  # fmt: skip
async def test_what_cannot_be_shown_is_said(head, body, message):
    async with serving({"/": (head, body)}) as (port, _):
        url = f"http://site.example:{port}/"
        assert await fetch(url) == Error(f"{url} {message}")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "::1",
     "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"],
)  # fmt: skip
async def test_private_addresses_are_refused_whatever_they_are_called(address):
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34", address]

    tool = web_fetch_tool(resolve=resolve)
    call = ToolCall("1", "web_fetch", {"url": "http://innocent.example/"})
    assert await tool.run(call, ToolContext("thread", State())) == Error(
        f"innocent.example is at {address}, which is no public address; refused."
    )


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://x/", "'ftp://x/' is no address that begins with http:// or https://."),
        ("file:///etc/passwd", "'file:///etc/passwd' is no address that begins with"),
        ("x.example", "'x.example' is no address that begins with http:// or https://."),
        ("http://user:pw@x.example/", "An address with a user name or password in it"),
        ("http://x.example:99999/", "'http://x.example:99999/' is no address: "),
        ("https://\u0430pple.example/", "'https://\\u0430pple.example/' has characters that"),
        ("http://x.example/a b", "'http://x.example/a b' has characters that"),
    ],
)
async def test_bad_addresses_are_explained(url, message):
    outcome = await fetch(url)
    assert isinstance(outcome, Error)
    assert outcome.message.startswith(message)


async def test_an_unknown_host_and_a_closed_port_are_said():
    async def nowhere(host: str, port: int) -> Sequence[str]:
        raise OSError(1, "Name or service not known")

    call = ToolCall("1", "web_fetch", {"url": "http://x.example/"})
    outcome = await web_fetch_tool(resolve=nowhere).run(call, ToolContext("thread", State()))
    assert outcome == Error("The host x.example is not found: Name or service not known.")
    outcome = await fetch("http://x.example:1/")
    assert isinstance(outcome, Error)
    assert outcome.message.startswith("http://x.example:1/ cannot be fetched: ")


def test_the_address_is_the_resource():
    assert web_fetch_tool().touches({"url": "https://x.example/"}) == (
        Resource("fetch", "https://x.example/"),
    )
