"""What is allowed as only reading is handed to a real shell, which must agree."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.middleware.support import rules
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


def run_bash(command: str, *, cwd: Path, env: Mapping[str, str]) -> None:
    subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )


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
        run_bash(command, cwd=self.workspace, env=self._env)
        told = self._told.exists()
        self._told.unlink(missing_ok=True)
        return told or any(self.workspace.iterdir())


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> RealShell:
    return RealShell(tmp_path_factory.mktemp("shell"))


@settings(max_examples=1_200, deadline=None, derandomize=True)
@given(st.lists(PIECES, min_size=1, max_size=8), st.booleans())
def test_no_command_that_needs_no_question_does_more_than_read(shell, pieces, spaced):
    command = (" " if spaced else "").join(pieces)
    permissions = Permissions(Mode.ASK, workspace=Workspace(shell.workspace))
    verdict = permissions.judge([Resource("run", command)])
    if verdict.decision is Decision.ALLOW:
        assert not shell.did_more_than_read(command), command


WRITING = st.sampled_from(
    (
        "echo x", "cp a.txt", "tee", "touch", "mkdir", "ls", ">", ">>", "&>", ">|", "<>", "../x",
        "link/x", "secret", "dl/../x", "dl/../../x", "../../x", ".envrc", "sub/x", "x", "cd sub",
        "cd dl", "cd ..", "cd link", "cd -", "cd sub/deep", "cd dl/..", "&&", ";", "||", "|", "&",
        "\n", "(", ")", "{", "}", "$(", ")", "'", '"', "$x", "eval", "bash -c", "*", "l*/x",
        "-t link",
    )
)  # fmt: skip


def everything_in(directory: Path, *, but: Path) -> dict[str, str]:
    files = (path for path in directory.rglob("*") if not path.is_relative_to(but))
    return {str(path): path.read_text() if path.is_file() else "" for path in files}


@settings(max_examples=1_200, deadline=None, derandomize=True)
@given(st.lists(WRITING, min_size=2, max_size=7))
def test_no_command_that_needs_no_question_writes_elsewhere(tmp_path_factory, pieces):
    command = " ".join(pieces)
    top = tmp_path_factory.getbasetemp() / "writing"
    workspace = top / "workspace"
    permissions = Permissions(
        Mode.ACCEPT_EDITS,
        rules("allow run cp *", "allow run tee *", "allow run touch *", "allow run mkdir *"),
        workspace=Workspace(workspace),
    )
    make_a_place_to_write(top)
    if permissions.judge([Resource("run", command)]).decision is Decision.ALLOW:
        before = everything_in(top, but=workspace), (workspace / ".envrc").read_text()
        run_bash(command, cwd=workspace, env={"PATH": "/usr/bin:/bin", "HOME": str(top)})
        after = everything_in(top, but=workspace), (workspace / ".envrc").read_text()
        assert after == before, command


def make_a_place_to_write(top: Path) -> None:
    """Make a workspace with links that lead out of it, or leave the one that is there."""
    if top.exists():
        return
    (top / "workspace" / "sub" / "deep").mkdir(parents=True)
    (top / "outside").mkdir()
    (top / "workspace" / "a.txt").write_text("a\n")
    (top / "workspace" / ".envrc").write_text("mine\n")
    (top / "workspace" / "link").symlink_to("../outside")
    (top / "workspace" / "dl").symlink_to("sub/deep")
    (top / "workspace" / "secret").symlink_to("../outside/secret")


def test_the_shell_would_tell(shell):
    assert shell.did_more_than_read("mark")
    assert not shell.did_more_than_read("ls")
