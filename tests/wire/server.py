"""A loopback server that speaks the Messages API and checks requests as the real one does.

    with WireServer([answer(text("hi"))]) as server:
        provider = AnthropicProvider(api_key="k", base_url=server.url)

Replies are played in order; a request beyond the last gets a 500. A request that breaks a
rule gets a 400 that names the place, and the rule goes into `violations`, so a test can say
that there were none. `requests` holds the bodies, `headers` the headers, `cache_reads` how many
blocks of each request a prompt cache would have served.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.wire.replies import Reply, status
from tests.wire.rules import violations

Play = Reply | Callable[[dict[str, Any]], Reply]


class WireServer:
    """The server; it listens while the `with` block lasts."""

    def __init__(self, replies: Sequence[Play] = ()) -> None:
        self.replies = list(replies)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.violations: list[str] = []
        self.cache_reads: list[int] = []
        self.disconnected = threading.Event()
        """Set when a client leaves a reply that hangs."""
        self._signed: dict[str, str] = {}
        self._cached: set[str] = set()
        self._paused = False
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

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
            problems = _envelope(path, headers)
            try:
                body = json.loads(raw.decode("utf-8"))
                raw.decode("utf-8").encode("utf-8")
                json.dumps(body, ensure_ascii=False).encode("utf-8")
            except ValueError as error:
                return self._refuse([f"The request body is not valid JSON: {error}"])
            self.requests.append(body)
            problems += violations(body, self._signed, continues=self._paused)
            if problems:
                return self._refuse(problems)
            self._count_cache(body)
            if not self.replies:
                return status(500, "the script of this server has ended")
            play = self.replies.pop(0)
            reply = play(body) if callable(play) else play
            self._signed.update(reply.signed)
            self._paused = reply.pauses
            return reply

    def _refuse(self, problems: list[str]) -> Reply:
        self.violations += problems
        return status(400, "; ".join(problems), kind="invalid_request_error")

    def _count_cache(self, body: dict[str, Any]) -> None:
        prefix, hit, written = "", 0, []
        for number, block in enumerate(_cacheable(body), 1):
            marked = block.pop("cache_control", None) is not None
            prefix += json.dumps(block, sort_keys=True)
            if prefix in self._cached:
                hit = number
            if marked:
                written.append(prefix)
        self._cached |= set(written)
        self.cache_reads.append(hit)

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805 -- `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = server.reply_to(self.path, headers, self.rfile.read(length))
                try:
                    self._send(reply)
                except (BrokenPipeError, ConnectionResetError):
                    server.disconnected.set()
                self.close_connection = True

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
                while reply.hang and not server._closing.wait(0.02):
                    self.wfile.write(b": still there\n\n")
                    self.wfile.flush()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Write no log."""

        return Handler


def _envelope(path: str, headers: dict[str, str]) -> list[str]:
    problems = []
    if path.partition("?")[0] != "/v1/messages":
        problems.append(f"{path}: Not Found")
    credentials = [name for name in ("x-api-key", "authorization") if headers.get(name)]
    if len(credentials) != 1:
        problems.append(f"exactly one credential is needed, not {credentials}")
    return problems


def _cacheable(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for tool in body.get("tools", []):
        yield dict(tool)
    for block in body.get("system", []):
        yield dict(block)
    for message in body["messages"]:
        for block in message["content"]:
            yield {"role": message["role"], **block}
