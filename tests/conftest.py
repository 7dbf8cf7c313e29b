"""What every test starts from: no key, no network, and a home of its own."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.program import Program
from todo_agent.paths import Paths

LEAKS = ("ANTHROPIC_", "TODO_AGENT_", "XDG_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_COLOR")
LOCAL = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def data_dir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory below which the program keeps everything; nothing of the machine's leaks in.

    What a machine without a sandbox is told once counts as told.
    """
    for name in os.environ:
        if name.upper().startswith(LEAKS):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("TODO_AGENT_HOME", str(home))
    told = Paths.find(os.environ).told_no_sandbox
    told.parent.mkdir(parents=True)
    told.touch()
    return home


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in LOCAL:
            raise AssertionError(f"a test wanted to reach {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_here)


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program, to be called with its arguments."""
    return Program(capsys, monkeypatch)
