"""Fixtures of the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.wire.server import Play, WireServer

Wire = Callable[..., WireServer]


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Start a server that plays the replies given to it; in the end no request broke a rule."""
    servers: list[WireServer] = []
    with ExitStack() as running:

        def start(*replies: Play, binds: bool = False, tls: bool = False) -> WireServer:
            server = running.enter_context(WireServer(replies, binds=binds, tls=tls))
            servers.append(server)
            return server

        yield start
    assert [server.violations for server in servers] == [[] for _ in servers]
