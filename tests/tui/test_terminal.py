"""The app in a pseudo-terminal: what is sent to it, and how it leaves it."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parents[2]
READY = "for keys"


@dataclass
class Terminal:
    """A running program and what it has written so far."""

    child: pexpect.spawn
    report: Path
    output: bytes = b""

    def wait_for(self, text: str) -> None:
        self.child.expect_exact(text.encode())
        self.output += self.child.before + self.child.after

    def leave(self) -> int:
        """Read to the end and return the exit code."""
        self.child.expect(pexpect.EOF)
        self.output += self.child.before
        self.child.wait()
        if self.child.signalstatus is not None:
            return 128 + self.child.signalstatus
        return self.child.exitstatus

    @property
    def said(self) -> dict[str, object]:
        return json.loads(self.report.read_text())


@pytest.fixture
def start(tmp_path) -> Iterator[object]:
    children = []

    def run(*arguments: str, **environ: str) -> Terminal:
        report = tmp_path / "report.json"
        child = pexpect.spawn(
            sys.executable,
            ["-m", "tests.tui.program", str(report), *arguments],
            cwd=str(ROOT),
            env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **environ},
            dimensions=(30, 110),
            timeout=60,
        )
        children.append(child)
        terminal = Terminal(child, report)
        terminal.wait_for(READY)
        return terminal

    yield run
    for child in children:
        child.close(force=True)


def restored(output: bytes) -> bool:
    """Tell whether the last thing said about each mode is that it is off, and the cursor on."""
    off = all(
        output.rfind(f"\x1b[?{mode}l".encode()) > output.rfind(f"\x1b[?{mode}h".encode())
        for mode in (1000, 1003, 1006, 2004, 1049)
    )
    return off and output.rfind(b"\x1b[?25h") > output.rfind(b"\x1b[?25l")


def test_ctrl_c_twice_leaves_the_terminal_as_it_was(start):
    terminal = start()
    terminal.child.send("\x03")
    terminal.wait_for("again quits")
    terminal.child.send("\x03")
    assert terminal.leave() == 0
    assert restored(terminal.output)
    assert terminal.said == {"sent": [], "closed": True}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_saves_and_leaves(start, number, code):
    terminal = start()
    terminal.child.kill(number)
    assert terminal.leave() == code
    assert restored(terminal.output)
    assert terminal.said == {"sent": [], "closed": True}


@pytest.mark.parametrize("where", ["render", "worker"])
def test_a_crash_is_one_line_and_a_log(start, where):
    terminal = start(where)
    terminal.child.send("go\r")
    assert terminal.leave() == 1
    assert restored(terminal.output)
    after = terminal.output.rpartition(b"\x1b[?1049l")[2].decode()
    line = "Stopped because of an error of its own: ZeroDivisionError: on purpose"
    log = terminal.report.with_suffix(".log")
    assert after.count(line) == 1
    assert "Traceback" not in after
    assert "ZeroDivisionError: on purpose" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert terminal.said["closed"] is True


def test_lines_pasted_without_marks_are_one_draft_and_alt_enter_is_a_new_line(start):
    terminal = start()
    terminal.child.send("line1\rline2\rline3\r")
    terminal.wait_for("line3")
    terminal.child.send("\x1b\r")
    terminal.child.send("\x1b[200~a\rb\x1b[201~")
    terminal.wait_for("b")
    terminal.child.send("\r")
    terminal.wait_for("esc to interrupt")
    terminal.child.send("\x11")
    assert terminal.leave() == 0
    assert terminal.said["sent"] == ["line1\nline2\nline3\n\na\nb"]


def test_the_title_names_the_plan_and_nothing_foreign_gets_through(start):
    terminal = start()
    terminal.child.send("\x11")
    assert terminal.leave() == 0
    assert b"\x1b]2;todo-agent \xe2\x80\x94 1/3 \\x1b]0;pwned\\x07fix\x07" in terminal.output
    assert b"\x1b]0;pwned" not in terminal.output
    assert b"\x1b[23;2t" in terminal.output


def test_without_colour_there_is_none(start):
    terminal = start(NO_COLOR="1")
    terminal.child.send("\x11")
    assert terminal.leave() == 0
    assert b"38;2;122;162;216" not in terminal.output
    assert b"38;2;131;185;124" not in terminal.output
