"""The program as its caller sees it: arguments in, exit code and two streams out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from todo_agent.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        report: dict[str, Any] = json.loads(self.out)
        return report


@dataclass
class Program:
    """Runs the program inside the test's process, with nothing on standard input."""

    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *arguments: str, stdin: IO[str] | None = None) -> Outcome:
        self.capsys.readouterr()
        with closing(stdin or Path(os.devnull).open(encoding="utf-8")) as source:
            self.monkeypatch.setattr(sys, "stdin", source)
            try:
                code = main(arguments)
            except SystemExit as error:
                code = int(error.code or 0)
        out, err = self.capsys.readouterr()
        return Outcome(code, out, err)


def start(
    *arguments: str, env: Mapping[str, str] | None = None, **settings: Any
) -> subprocess.Popen[str]:
    """Start the program as a process of its own."""
    command: Sequence[str] = (sys.executable, "-m", "todo_agent", *arguments)
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        command, env={**os.environ, **(env or {})}, text=True, **{**pipes, **settings}
    )


def finish(process: subprocess.Popen[str]) -> Outcome:
    """Wait for the end of a process."""
    out, err = process.communicate(timeout=60)
    return Outcome(process.returncode, out or "", err or "")
