"""What a command in the sandbox can and cannot do."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pytest

from tests.tools.support import Bench
from todo_agent.agent.tools import Resource
from todo_agent.tools.sandbox import Sandbox, find_sandbox

HINT = (
    "[this ran in a sandbox that cannot write outside the workspace or use the network; if it "
    "needs to, repeat it with outside_sandbox, which the person has to allow]"
)


def sandbox_of_this_machine(*hidden: Path) -> Sandbox:
    """Return the sandbox, or skip the test where the machine has none."""
    found = find_sandbox(os.environ, hidden=hidden)
    if not isinstance(found, Sandbox):
        pytest.skip(found)
    return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    sandbox = sandbox_of_this_machine()
    root = tmp_path / "workspace"
    root.mkdir()
    return Bench(root, sandbox=sandbox)


def exists(path: str) -> bool:
    return Path(path).exists()


async def test_the_workspace_can_be_written_and_the_system_only_read(bench, tmp_path):
    assert await bench.text("shell", command="echo x > a && cat a") == "x\n[exit code 0]"
    assert (bench.root / "a").read_text() == "x\n"
    message = await bench.error("shell", command="touch /etc/todo-agent-was-here")
    assert message.endswith(HINT)
    assert not exists("/etc/todo-agent-was-here")
    assert await bench.text("shell", command="head -c4 /etc/passwd") == "root\n[exit code 0]"


async def test_what_decides_about_the_agent_cannot_be_written(bench):
    bench.file(".git/hooks/pre-commit", "old")
    bench.file(".envrc", "old")
    await bench.error("shell", command="echo evil > .envrc")
    await bench.error("shell", command="echo evil > .git/hooks/pre-commit")
    await bench.text("shell", command="echo fine > .git/index")
    assert (bench.root / ".envrc").read_text() == "old"
    assert (bench.root / ".git/hooks/pre-commit").read_text() == "old"


async def test_temporary_files_are_its_own(bench):
    name = f"/tmp/todo-agent-{uuid4().hex}"
    assert await bench.text("shell", command=f"echo x > {name} && cat {name}") == "x\n[exit code 0]"
    assert not exists(name)


async def test_hidden_directories_are_empty_inside(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "key").write_text("sk-secret")
    sandbox = sandbox_of_this_machine(tmp_path / "config", tmp_path / "none")
    (tmp_path / "workspace").mkdir()
    bench = Bench(tmp_path / "workspace", sandbox=sandbox)
    text = await bench.text("shell", command="ls ../config | wc -l")
    assert text == "0\n[exit code 0]"


async def test_there_is_no_network(bench):
    command = "exec 3<>/dev/tcp/192.0.2.1/80"
    message = await bench.error("shell", command=command)
    assert "Network is unreachable" in message
    assert message.endswith(HINT)


async def test_directory_exit_code_and_time_out_are_as_ever(bench):
    (bench.root / "sub").mkdir()
    await bench.error("shell", command="cd sub; exit 3")
    assert await bench.text("shell", command="pwd") == f"{bench.root}/sub\n[exit code 0]"
    message = await bench.error("shell", command="echo on; sleep 300", timeout=0.5)
    assert message.startswith("on\n[timed out after 0.5 s")


async def test_even_what_left_for_its_own_session_ends_with_the_command(bench):
    await bench.text("shell", command="setsid sleep 0.2 > /dev/null & true")
    text = await bench.text("shell", command="ps -e -o comm= | grep -c sleep || true")
    assert text == "0\n[exit code 0]"


async def test_outside_is_a_resource_of_its_own(bench, tmp_path):
    args = {"command": "touch ../out", "outside_sandbox": True}
    assert bench.tools["shell"].touches(args) == (
        Resource("run", "touch ../out"),
        Resource("invoke", "shell_outside_sandbox"),
    )
    await bench.text("shell", **args)
    assert (tmp_path / "out").exists()


def test_a_machine_without_it_says_so(tmp_path):
    assert find_sandbox({"PATH": str(tmp_path)}) == "bubblewrap (bwrap) is not installed"
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces >&2; exit 1\n")
    broken.chmod(0o755)
    assert find_sandbox({"PATH": f"{tmp_path}:/bin"}) == (
        "bubblewrap does not work here: no namespaces"
    )
