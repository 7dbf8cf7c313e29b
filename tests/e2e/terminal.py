"""The real program in a pseudo-terminal, and its screen as a person would see it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import pexpect
import pyte

PATIENCE = 60.0
"""Seconds to wait for something to appear; machines are slow and shared."""


class Terminal:
    """Runs `todo-agent` with a terminal of its own.

    `screen` is what is shown now; `output` every byte that came, for what a screen hides.
    """

    def __init__(
        self,
        *args: str,
        cwd: Path,
        env: Mapping[str, str],
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        self.output = b""
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        base = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.process = pexpect.spawn(
            sys.executable,
            ["-m", "todo_agent", *args],
            cwd=str(cwd),
            env={**base, "TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
            dimensions=(rows, columns),
            timeout=PATIENCE,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.close(force=True)

    @property
    def lines(self) -> list[str]:
        """The rows of the screen, without trailing space."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def screen(self) -> str:
        """The whole screen as text."""
        return "\n".join(self.lines)

    def send(self, keys: str) -> None:
        """Type."""
        self.process.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        """Change the terminal's size."""
        self._screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def wait_for(self, wanted: str | Callable[[str], bool], *, patience: float = PATIENCE) -> str:
        """Read until the screen shows a text or fulfils a condition, and return the screen."""
        fulfilled = wanted if callable(wanted) else lambda screen: wanted in screen
        deadline = time.monotonic() + patience
        while not fulfilled(self.screen):
            if not self._read():
                raise AssertionError(f"the program ended before: {wanted!r}\n{self.screen}")
            if time.monotonic() > deadline:
                raise AssertionError(f"not seen in {patience} s: {wanted!r}\n{self.screen}")
        return self.screen

    def wait_for_end(self) -> int:
        """Read until the program has ended; return its exit code, negative for a signal."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self._read():
            pass
        self.process.close()
        if self.process.signalstatus is not None:
            return -self.process.signalstatus
        assert self.process.exitstatus is not None
        return self.process.exitstatus

    def kill(self) -> None:
        """End the program as a power cut would."""
        self.process.kill(signal.SIGKILL)
        self.process.wait()

    def _read(self) -> bool:
        try:
            data = self.process.read_nonblocking(65_536, timeout=0.2)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.output += data
        self._stream.feed(data)
        return True
