"""A loopback server that speaks the Messages API and checks requests as the real one does.

    with WireServer([answer(text("hi")), status(529), answer(text("again"))]) as server:
        provider = AnthropicProvider(api_key="k", base_url=server.url)
        ...
    assert server.violations == []
    assert server.replies == []

It runs in a thread of its own, so programs in other processes can use it as well: give them
`ANTHROPIC_BASE_URL=server.url`.

Replies are played in order (see `replies`); one may also be a function of the request's body.
A request beyond the last reply gets a 500. A request that breaks a rule (see `rules`), or
alters what was answered before (see `memory`), gets a 400 that names the place, uses up no
reply, and goes into `violations`, so a test can say that there were none.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.wire.memory import Memory
from tests.wire.replies import Reply, document, refused, status
from tests.wire.rules import violations

Play = Reply | Callable[[dict[str, Any]], Reply]
MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
LOOKBACK = 20
"""How many blocks up to a breakpoint the cache is searched for a prefix it has."""
CERTIFICATE = Path(__file__).with_name("self_signed.pem")


class WireServer:
    """The server; it listens while the `with` block lasts.

    Args:
        replies: what it answers.
        binds: it takes reasoning back only behind the very conversation it was made for, as
            the newest models do.
        tls: it speaks TLS, with a certificate nobody trusts.
    """

    def __init__(
        self, replies: Sequence[Play] = (), *, binds: bool = False, tls: bool = False
    ) -> None:
        self.replies = list(replies)
        """Those that were not played yet."""
        self.requests: list[dict[str, Any]] = []
        """The bodies of all requests for an answer, refused ones too."""
        self.headers: list[dict[str, str]] = []
        """Of all requests, with names in lower case."""
        self.paths: list[str] = []
        self.violations: list[str] = []
        self.cache_reads: list[int] = []
        """How many blocks of each answered request a prompt cache would have served."""
        self.disconnected = threading.Event()
        """Set when a client leaves a reply that hangs."""
        self._memory = Memory(binds=binds)
        self._cached: set[str] = set()
        self._paused = False
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _Server(("127.0.0.1", 0), self._handler())
        self._scheme = "https" if tls else "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self._http.socket = context.wrap_socket(
                self._http.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> WireServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def reply_to(self, path: str, headers: dict[str, str], raw: bytes) -> Reply:
        """Check a request and return what to answer."""
        with self._lock:
            self.paths.append(path)
            self.headers.append(headers)
            if path not in (MESSAGES, COUNT):
                self.violations.append(f"{path}: Not Found")
                return status(404, "Not Found", kind="not_found_error")
            try:
                body = _strict_json(raw)
            except ValueError as error:
                return self._refuse([f"The request body is not valid JSON: {error}"])
            counts = path == COUNT
            if not counts:
                self.requests.append(body)
            problems = [
                *_envelope(headers),
                *violations(body, paused=self._paused, counts=counts),
            ]
            problems = problems or list(self._memory.violations(body))
            if problems:
                return self._refuse(problems)
            return document({"input_tokens": len(raw)}) if counts else self._play(body)

    def _play(self, body: dict[str, Any]) -> Reply:
        self._count_cache(body)
        if not self.replies:
            return status(500, "the script of this server has ended")
        play = self.replies.pop(0)
        reply = play(body) if callable(play) else play
        if reply.blocks:
            self._memory.record(body, reply.blocks)
        self._paused = reply.pauses
        return reply

    def _refuse(self, problems: list[str]) -> Reply:
        self.violations += problems
        return refused("; ".join(problems))

    def _count_cache(self, body: dict[str, Any]) -> None:
        blocks = list(_blocks(body))
        marked = [i for i, block in enumerate(blocks) if block.pop("cache_control", None)]
        prefixes: list[str] = []
        for block in blocks:
            prefixes.append((prefixes[-1] if prefixes else "") + json.dumps(block, sort_keys=True))
        places = {i - back for i in marked for back in range(min(LOOKBACK, i + 1))}
        hits = [place + 1 for place in places if prefixes[place] in self._cached]
        self._cached |= {prefixes[i] for i in marked}
        self.cache_reads.append(max(hits, default=0))

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805 -- `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = server.reply_to(self.path, headers, self.rfile.read(length))
                self.close_connection = True
                if reply.drop:
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.connection.close()
                    return
                server._closing.wait(reply.delay)
                try:
                    self._send(reply)
                except (BrokenPipeError, ConnectionResetError):
                    server.disconnected.set()

            def _send(self, reply: Reply) -> None:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("connection", "close")
                if reply.cut:
                    self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for chunk in reply.chunks:
                    framed = b"%x\r\n%s\r\n" % (len(chunk), chunk) if reply.cut else chunk
                    self.wfile.write(framed)
                    self.wfile.flush()
                if reply.silent:
                    server._closing.wait()
                while reply.hang and not server._closing.wait(0.02):
                    self.wfile.write(b": still there\n\n")
                    self.wfile.flush()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Write no log."""

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that hang up or do not speak TLS; the tests tell of it."""


def _envelope(headers: dict[str, str]) -> Iterator[str]:
    if headers.get("content-type") != "application/json":
        yield "content-type: must be application/json"
    if not headers.get("anthropic-version"):
        yield "anthropic-version: header is required"
    credentials = [name for name in ("x-api-key", "authorization") if headers.get(name)]
    if len(credentials) != 1:
        yield f"exactly one credential is needed, not {credentials}"


def _strict_json(raw: bytes) -> dict[str, Any]:
    """Return a body that is valid UTF-8 and valid JSON down to the last escape.

    Raises:
        ValueError: it is not, or it is no object.
    """
    body = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    json.dumps(body, ensure_ascii=False).encode("utf-8")
    if not isinstance(body, dict):
        raise ValueError("an object is expected")
    return body


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _blocks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (dict(tool) for tool in body.get("tools", []))
    yield from (dict(block) for block in body.get("system", []))
    for message in body["messages"]:
        yield from ({"role": message["role"], **block} for block in message["content"])
