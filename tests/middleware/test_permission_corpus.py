"""A few hundred commands, what is decided about each, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.middleware.support import rules
from todo_agent.agent.modes import Mode
from todo_agent.agent.tools import Resource
from todo_agent.middleware.permissions import Permissions
from todo_agent.tools.workspace import Workspace


@dataclass(frozen=True)
class Case:
    command: str
    verdict: str
    words: str


def cases() -> list[Case]:
    found: list[Case] = []
    verdict = words = ""
    for line in (Path(__file__).parent / "commands.txt").read_text("utf-8").split("\n"):
        heading = re.fullmatch(r"== (\w+)(?: \((.*)\))?: .*", line)
        if heading:
            verdict, words = heading[1], heading[2] or ""
        elif line.strip() and verdict:
            found.append(Case(line.replace("⏎", "\n"), verdict, words))
    return found


CASES = cases()


@pytest.fixture
def permissions(tmp_path: Path) -> Permissions:
    root = tmp_path / "workspace"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "a.py").write_text("def f(): ...\n")
    (root / "notes.txt").write_text("x\n")
    (root / "secret-link").symlink_to("/etc/passwd")
    (root / "deep-link").symlink_to("src/deep")
    (root / "out-link").symlink_to(tmp_path)
    return Permissions(
        Mode.ASK,
        rules(
            "deny run rm *",
            "deny run curl *",
            "allow run pytest *",
            "allow run cp *",
            "allow run git status",
            "ask run git log --all *",
            "deny write **/.env",
        ),
        workspace=Workspace(root, confined=False),
    )


def test_the_corpus_is_large():
    assert len(CASES) >= 200


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.command)
def test_what_is_decided_about_a_command(permissions, case):
    verdict = permissions.judge([Resource("run", case.command)])
    assert (verdict.decision.name.lower(), case.words in verdict.reason) == (case.verdict, True), (
        verdict
    )
