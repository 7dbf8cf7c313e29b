"""How fast it starts and what it costs to stand still: `python benchmarks/startup.py` (Linux)."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pexpect

ROUNDS = 7
SETTLING = 15.0
"""Seconds after the first frame until standing still is measured: the SDK is loaded by then."""
WATCHED = 10.0
"""Seconds of standing still."""
PROGRAM = ("-m", "todo_agent")
MARK = "should be done"
"""Of the placeholder, whose first letter is the cursor."""
TEN_LINES = """
from textual.app import App
from textual.widgets import Static
class Small(App):
    CSS = "Screen { align: center middle; }"
    BINDINGS = [("q", "quit", "Quit")]
    def compose(self):
        yield Static("What should be done?")
if __name__ == "__main__":
    Small().run()
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "TODO_AGENT_HOME": folder, "ANTHROPIC_API_KEY": "none"}
        env |= {"TERM": "xterm-256color", "PYTHONDONTWRITEBYTECODE": ""}
        small = Path(folder, "small.py")
        small.write_text(TEN_LINES)
        compare(
            "python -c pass",
            lambda: run_time(["-c", "pass"], env),
            "todo-agent --version",
            lambda: run_time([*PROGRAM, "--version"], env),
        )
        compare(
            "a ten-line Textual app, first frame",
            lambda: first_frame([str(small)], env),
            "todo-agent, first frame",
            lambda: first_frame(PROGRAM, env),
        )
        stand_still(env)


def compare(
    name: str, measure: Callable[[], float], ours: str, measure_ours: Callable[[], float]
) -> None:
    """Measure two in turn, so that a busy machine is busy for both."""
    pairs = [(measure(), measure_ours()) for _ in range(ROUNDS + 1)][1:]
    base, own = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{name:<40} {base * 1000:8.0f} ms")
    print(f"{ours:<40} {own * 1000:8.0f} ms {own / base:8.2f} x")


def run_time(arguments: Sequence[str], env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=env, check=True, capture_output=True)
    return time.perf_counter() - began


def first_frame(arguments: Sequence[str], env: dict[str, str]) -> float:
    began = time.perf_counter()
    process = started(arguments, env)
    took = time.perf_counter() - began
    process.close(force=True)
    return took


def started(arguments: Sequence[str], env: dict[str, str]) -> pexpect.spawn:
    process = pexpect.spawn(
        sys.executable, list(arguments), env=env, dimensions=(40, 120), timeout=60
    )
    process.expect_exact(MARK)
    return process


def stand_still(env: dict[str, str]) -> None:
    process = started(PROGRAM, env)
    drain(process, SETTLING)
    before = cpu_seconds(process.pid)
    drain(process, WATCHED)
    used = (cpu_seconds(process.pid) - before) / WATCHED
    print(f"{'standing still, processor':<40} {used:8.1%} of a core")
    print(f"{'standing still, memory':<40} {resident_megabytes(process.pid):8.0f} MB")
    process.close(force=True)


def drain(process: pexpect.spawn, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        process.expect([pexpect.TIMEOUT, r".+"], timeout=left)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
