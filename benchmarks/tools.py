"""Searching a large tree, a flood of output, a large edit: `python benchmarks/tools.py`."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from todo_agent.agent.json import Json
from todo_agent.agent.state import State
from todo_agent.agent.tools import Outcome, ToolCall, ToolContext
from todo_agent.tools.coding import coding_tools
from todo_agent.tools.workspace import Workspace

FILES = 100_000
ROUNDS = 3
FLOOD = "head -c 1000000000 /dev/zero | tr '\\0' 'x'"
EDIT_BYTES = 50_000_000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_tree(root)
        plain = median(lambda: ripgrep(root))
        row("rg, plain", plain, plain)
        for name, path in (("with ripgrep", os.environ["PATH"]), ("without ripgrep", folder)):
            tools = Tools(root, {**os.environ, "PATH": path})
            row(f"grep, {name}", median(lambda t=tools: t("grep", pattern="needle")), plain)
            row(f"glob, {name}", median(lambda t=tools: t("glob", pattern="**/*7.py")), plain)
        tools = Tools(root, os.environ)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        seconds = median(lambda: tools("shell", command=FLOOD, timeout=300), rounds=1)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"1 GB of output: {seconds:.1f} s, memory grew by {grown:.0f} MB")
        big = root / "big.txt"
        big.write_text("line of text\n" * (EDIT_BYTES // 13) + "the needle\n")
        edit = {"path": "big.txt", "old_string": "the needle", "new_string": "found"}
        seconds = median(lambda: tools("edit", **edit), rounds=1)
        print(f"edit in a file of {EDIT_BYTES // 1_000_000} MB: {seconds:.1f} s")


def make_tree(root: Path) -> None:
    for number in range(FILES):
        directory = root / f"d{number % 300}"
        if number < 300:
            directory.mkdir()
        word = "needle" if number % 1000 == 0 else "hay"
        (directory / f"f{number}.py").write_text(f"x = '{word}'\n" * 5)


class Tools:
    """Calls tools by name, as the loop does."""

    def __init__(self, root: Path, environ: dict[str, str] | os._Environ[str]) -> None:
        tools = coding_tools(Workspace(root), environ=environ)
        self._tools = {tool.name: tool for tool in tools}
        self._context = ToolContext("benchmark", State(), approved=True)

    async def __call__(self, name: str, **args: Json) -> Outcome:
        return await self._tools[name].run(ToolCall("call", name, args), self._context)


async def ripgrep(root: Path) -> None:
    if shutil.which("rg") is None:
        sys.exit("ripgrep is needed to compare with it")
    command = ["rg", "--sort", "path", "-n", "needle", str(root)]
    await asyncio.to_thread(subprocess.run, command, capture_output=True, check=True)


def median(work: Callable[[], Awaitable[object]], *, rounds: int = ROUNDS) -> float:
    async def once() -> float:
        began = time.perf_counter()
        await work()
        return time.perf_counter() - began

    return statistics.median(asyncio.run(once()) for _ in range(rounds))


def row(name: str, seconds: float, plain: float) -> None:
    print(f"{name:<24} {seconds:6.2f} s  {seconds / plain:5.2f} x")


if __name__ == "__main__":
    main()
