"""What is allowed as only reading is handed to a real shell, which must agree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from todo_agent.agent.modes import Mode
from todo_agent.agent.tools import Resource
from todo_agent.middleware.permissions import Permissions
from todo_agent.middleware.rules import Decision
from todo_agent.tools.workspace import Workspace

TEXTS = (
    "ls", "echo", "cat", "mark", "mark", "\\mark", "'mark'", "m\\ark", "$mark", "`mark`", "(mark)",
    "$(mark)", "\n", "\\\n", ";", "&", "|", "||", "&&", "(", ")", "{", "}", "$(", "`", "\\`",
    "<(", ">(", ">", "<", '"', "'", "\\", "#", "if", "then", "fi", "!", "<<E\n", "\nE\n", "<<'E'\n",
    "<<-E\n\t", "<<<", "x=", "for x in", "do", "done", "case", "in", "esac", ";;", "[", "]",
    "[[", "]]", "time", "eval", "bash -c", "env", "$'", '$"', "${x", "$((", "))", "f()", "\t", " ",
)  # fmt: skip
PIECES = st.sampled_from(TEXTS)


class RealShell:
    """A bash that knows few programs, one of which tells that it ran."""

    def __init__(self, directory: Path) -> None:
        self.workspace = directory / "workspace"
        self.workspace.mkdir()
        self._told = directory / "told"
        programs = directory / "bin"
        programs.mkdir()
        (programs / "mark").write_text(f"#!/bin/sh\n: > {self._told}\n")
        (programs / "mark").chmod(0o755)
        for name in ("ls", "cat", "bash", "env"):
            (programs / name).symlink_to(f"/bin/{name}" if name != "env" else "/usr/bin/env")
        self._env = {"PATH": str(programs), "HOME": str(directory)}

    def did_more_than_read(self, command: str) -> bool:
        subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self.workspace,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=60,
        )
        told = self._told.exists()
        self._told.unlink(missing_ok=True)
        return told or any(self.workspace.iterdir())


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> RealShell:
    return RealShell(tmp_path_factory.mktemp("shell"))


@settings(max_examples=2_000, deadline=None, derandomize=True)
@given(st.lists(PIECES, min_size=1, max_size=8), st.booleans())
def test_no_command_that_needs_no_question_does_more_than_read(shell, pieces, spaced):
    command = (" " if spaced else "").join(pieces)
    permissions = Permissions(Mode.ASK, workspace=Workspace(shell.workspace))
    verdict = permissions.judge([Resource("run", command)])
    if verdict.decision is Decision.ALLOW:
        assert not shell.did_more_than_read(command), command


def test_the_shell_would_tell(shell):
    assert shell.did_more_than_read("mark")
    assert not shell.did_more_than_read("ls")
