"""The offline demo, from the first frame to a resumed thread."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal

RESTORED = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l")
"""Main screen, cursor, no mouse, no bracketed paste."""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"TODO_AGENT_HOME": str(tmp_path / "home")}


def test_the_demo_works_off_its_plan_asks_and_comes_back_by_id(tmp_path: Path, env: dict[str, str]):
    with Terminal("--demo", cwd=tmp_path, env=env) as terminal:
        terminal.wait_for("scripted model")
        terminal.wait_for("Read the code and its tests")
        terminal.wait_for(lambda screen: "Allow shell?" in screen and "1/6" in screen)
        answer_when_ready(terminal, "y", "Allow edit?")
        terminal.wait_for(
            lambda screen: "amount >= FREE_SHIPPING_FROM" in screen and "3/6" in screen
        )
        answer_when_ready(terminal, "y", "Allow shell?")
        answer_when_ready(terminal, "y", "6/6")
        terminal.wait_for("6 todos done")
        assert quit_program(terminal) == 0
        for sequence in RESTORED:
            assert sequence in terminal.output
        tail = terminal.output.rpartition(b"\x1b[?1049l")[2].decode()
    resume = re.search(r"--resume ([a-z0-9-]+)", tail)
    assert resume, tail

    with Terminal("--resume", resume[1][:10], cwd=tmp_path, env=env) as terminal:
        terminal.wait_for(lambda screen: "6/6" in screen and "one character" in screen)
        assert quit_program(terminal) == 0


def quit_program(terminal: Terminal) -> int:
    """Clear the draft and leave, as people do."""
    terminal.send("\x15")
    terminal.send("\x04")
    return terminal.wait_for_end()


def answer_when_ready(terminal: Terminal, key: str, then: str) -> None:
    """Answer the dialog until it takes the key; it ignores keys typed before it appeared."""
    for _ in range(40):
        terminal.send(key)
        try:
            terminal.wait_for(then, patience=5)
        except AssertionError:
            continue
        return
    raise AssertionError(f"the dialog never led to {then!r}\n{terminal.screen}")
