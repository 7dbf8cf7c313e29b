"""A power cut at any moment of a turn: the thread comes back and can be sent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.wire.replies import Reply, answer, text, tool_use
from tests.wire.server import WireServer

CALLS = 10
POINTS = range(10)


def environment(home: Path, url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TODO_AGENT_HOME": str(home / "state"),
        "ANTHROPIC_API_KEY": "sk-ant-test",
        "ANTHROPIC_BASE_URL": url,
    }


def program(*args: str) -> list[str]:
    free = ("--discipline", "free", "--set", "sandbox.mode=off")
    return [sys.executable, "-m", "todo_agent", *free, *args]


def ten_calls() -> Reply:
    plan = {"todos": [{"content": "write ten files", "status": "in_progress"}]}
    shells = [
        tool_use(f"t{n}", "shell", {"command": f"echo {n} > f{n}; sleep 0.03"})
        for n in range(CALLS - 1)
    ]
    return answer(tool_use("plan", "write_todos", plan), *shells)


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_a_killed_turn_is_resumed_and_sent_again(tmp_path: Path, point: int):
    with WireServer([ten_calls(), answer(text("all done"), hang=True)]) as server:
        env = environment(tmp_path, server.url)
        journal = start_and_kill(tmp_path, env, lines=2 + point)
        before = committed(journal)
        server.replies = [answer(text("went on"))]
        resumed = subprocess.run(
            program("--resume", journal.parent.name, "-p", "go on", "--output-format", "json"),
            cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    assert server.violations == []
    report = json.loads(resumed.stdout)
    assert (report["status"], report["answer"]) == ("answered", "went on"), resumed.stderr
    if before["plan"]:
        assert report["plan"]["todos"][0]["content"] == "write ten files"
    sent = [b for m in server.requests[-1]["messages"] for b in m["content"]]
    results = {b["tool_use_id"]: b for b in sent if b["type"] == "tool_result"}
    assert len(results) in (0, CALLS)
    for call_id in before["results"]:
        assert "Interrupted" not in json.dumps(results[call_id])


def start_and_kill(cwd: Path, env: dict[str, str], *, lines: int) -> Path:
    """Run a turn and kill the program when its journal has so many lines; return the journal."""
    threads = Path(env["TODO_AGENT_HOME"], "data", "threads")
    running = subprocess.Popen(
        program("-p", "go", "--permission-mode", "auto"),
        cwd=cwd, env=env, stdin=subprocess.DEVNULL, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while True:
            found = list(threads.glob("*/messages.jsonl"))
            if found and found[0].read_bytes().count(b"\n") >= lines:
                return found[0]
            assert running.poll() is None, "the turn ended before it was killed"
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def committed(journal: Path) -> dict[str, Any]:
    """What a journal holds: whether the plan was written, and the calls with results."""
    whole = journal.read_bytes().rpartition(b"\n")[0].decode().splitlines()
    text_ = "\n".join(whole)
    lines = [json.loads(line) for line in whole]
    messages = [m for line in lines for m in line.get("messages", [])]
    results = [b["tool_use_id"] for m in messages for b in m["content"] if "tool_use_id" in b]
    return {
        "plan": '"plan"' in text_ and "write ten files" in text_ and results,
        "results": results,
    }
