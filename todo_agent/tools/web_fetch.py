"""The web_fetch tool: a page as text, from public addresses only."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Resource, Success, Tool, ToolCall, ToolContext
from todo_agent.tools.texts import description

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

MAX_BYTES = 5_000_000
MAX_CHARS = 60_000
MAX_REDIRECTS = 5
MAX_SECONDS = 30
USER_AGENT = "todo-agent (+https://pypi.org/project/todo-agent/)"
_TEXTUAL = re.compile(r"text/.*|application/(json|xml|javascript|x-ndjson|yaml)|.*\+(json|xml)")
_EMBEDDING = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("2002::/16"))
"""Addresses that stand for another one, which may be private."""

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "url": {"type": "string", "minLength": 1},
        "offset": {"type": "integer", "minimum": 0, "description": "First character to show."},
    },
    "required": ["url"],
    "additionalProperties": False,
}

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host and port; OSError where there are none."""


class FetchError(Exception):
    """A page that cannot be had; the message is for the model."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return a host's addresses."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


def web_fetch_tool(*, allow_private: bool = False, resolve: Resolve = resolve) -> Tool:
    """Return the tool that fetches pages.

    A host is resolved once, and the connection goes to an address that was checked, so a
    name that changes its address in between leads nowhere else. Proxies of the environment
    are not used for the same reason.

    Args:
        allow_private: addresses of private networks and of this machine may be fetched.
        resolve: finds addresses.
    """

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        fetcher = _Fetcher(allow_private=allow_private, resolve=resolve)
        offset = int(str(call.args.get("offset", 0)).partition(".")[0])
        try:
            async with asyncio.timeout(MAX_SECONDS):
                page = await fetcher.fetch(str(call.args["url"]))
            text = await asyncio.to_thread(page.as_text)
        except TimeoutError:
            return Error(f"The page did not come within {MAX_SECONDS} s.")
        except FetchError as error:
            return Error(str(error))
        return _outcome(page, text, offset)

    return Tool(
        "web_fetch",
        description("web_fetch"),
        SCHEMA,
        run,
        resources=lambda args: (Resource("fetch", str(args["url"])),),
        title=lambda args: str(args["url"]),
    )


@dataclass(frozen=True, slots=True)
class _Page:
    """What came."""

    url: str
    kind: str
    """The media type, without parameters."""
    text: str

    def as_text(self) -> str:
        """Return it as the model reads it."""
        if self.kind not in ("text/html", "application/xhtml+xml"):
            return self.text
        # Only a page needs it, and it brings a whole HTML parser along.
        from bs4 import BeautifulSoup  # noqa: PLC0415
        from markdownify import MarkdownConverter  # noqa: PLC0415

        soup = BeautifulSoup(self.text, "html.parser")
        for element in soup(["script", "style", "noscript", "template", "svg", "iframe"]):
            element.decompose()
        try:
            markdown = MarkdownConverter(heading_style="ATX").convert_soup(soup)
        except RecursionError:
            markdown = soup.get_text("\n")
        lines = (line.rstrip() for line in markdown.split("\n"))
        return "\n".join(lines).strip()


@dataclass(frozen=True, slots=True)
class _Fetcher:
    allow_private: bool
    resolve: Resolve

    async def fetch(self, url: str) -> _Page:
        # It is slow to import, and most sessions fetch nothing.
        from httpx2 import AsyncClient, HTTPError  # noqa: PLC0415

        async with AsyncClient(trust_env=False, timeout=MAX_SECONDS) as client:
            try:
                for _ in range(MAX_REDIRECTS + 1):
                    found = await self._step(client, url)
                    if isinstance(found, _Page):
                        return found
                    url = found
            except HTTPError as error:
                why = str(error) or type(error).__name__
                raise FetchError(f"{url} cannot be fetched: {why}.") from error
        raise FetchError(f"{url} redirects more than {MAX_REDIRECTS} times.")

    async def _step(self, client: AsyncClient, url: str) -> _Page | str:
        """Make one request; returns the page, or the address on the same host it moved to."""
        parts = _checked(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        address = await self._address(host, port)
        pinned = f"[{address}]" if ":" in address else address
        headers = {"Host": parts.netloc.rpartition("@")[2], "User-Agent": USER_AGENT}
        target = urlunsplit((parts.scheme, f"{pinned}:{port}", parts.path or "/", parts.query, ""))
        extensions = {"sni_hostname": host}
        async with client.stream("GET", target, headers=headers, extensions=extensions) as response:
            if response.is_redirect:
                return _moved(url, response.headers.get("location", ""))
            if response.is_error:
                raise FetchError(f"{url} answered {response.status_code}.")
            return await _page(url, response)

    async def _address(self, host: str, port: int) -> str:
        try:
            addresses = await self.resolve(host, port)
        except OSError as error:
            raise FetchError(f"The host {host} is not found: {error.strerror}.") from error
        except UnicodeError as error:
            raise FetchError(f"{host!r} is no name of a host.") from error
        private = [address for address in addresses if not _is_public(address)]
        if private and not self.allow_private:
            raise FetchError(f"{host} is at {private[0]}, which is no public address; refused.")
        if not addresses:
            raise FetchError(f"The host {host} has no address.")
        return addresses[0]


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise FetchError(f"{url!r} is no address: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FetchError(f"{url!r} is no address that begins with http:// or https://.")
    if parts.username or parts.password:
        raise FetchError("An address with a user name or password in it is not fetched.")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise FetchError(f"{url!a} has characters that have to be escaped in an address.")
    return parts


def _moved(url: str, location: str) -> str:
    target = urljoin(url, location)
    old, new = urlsplit(url), urlsplit(target)
    if not location or old.hostname != new.hostname:
        shown = target.encode("ascii", "backslashreplace").decode()
        raise FetchError(f"{url} has moved to {shown}; fetch that, if it is wanted.")
    return target


async def _page(url: str, response: Response) -> _Page:
    kind = response.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
    if not _TEXTUAL.fullmatch(kind):
        raise FetchError(f"{url} is {kind}, which is no text.")
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_BYTES:
            raise FetchError(f"{url} is larger than {MAX_BYTES:,} bytes.")
    encoding = response.charset_encoding or "utf-8"
    try:
        return _Page(url, kind, body.decode(encoding, "replace"))
    except LookupError:
        return _Page(url, kind, body.decode("utf-8", "replace"))


def _outcome(page: _Page, text: str, offset: int) -> Outcome:
    if not text:
        return Success(f"[{page.url} is empty]", display=Display("empty"))
    if offset >= len(text):
        return Error(f"{page.url} has only {len(text):,} characters.")
    shown = text[offset : offset + MAX_CHARS]
    end = offset + len(shown)
    note = f"\n[characters {offset}-{end} of {len(text)}; go on with offset={end}]"
    content = shown + (note if end < len(text) else "")
    return Success(content, display=Display(f"{len(text):,} characters", shown))


def _is_public(address: str) -> bool:
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if any(found in network for network in _EMBEDDING):
            return False
        found = found.ipv4_mapped or found
    return found.is_global and not found.is_multicast
