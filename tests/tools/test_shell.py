"""Commands: without a terminal, with an end."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import pytest

from tests.tools.support import Bench
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Resource
from todo_agent.tools import processes


def summaries_without_time(outcome):
    return outcome.display.summary.partition(" · ")[0]


async def test_output_and_exit_code_come_back(bench):
    assert (
        await bench.text("shell", command="echo hi; echo there >&2") == "hi\nthere\n[exit code 0]"
    )
    outcome = await bench("shell", command="echo no; exit 3")
    assert isinstance(outcome, Error)
    assert outcome.message == "no\n[exit code 3]"
    assert summaries_without_time(outcome) == "exit 3"
    assert outcome.display.body == "no\n"
    assert outcome.display.kind == "output"


async def test_silence_and_signals_are_said(bench):
    assert await bench.text("shell", command="true") == "[no output]\n[exit code 0]"
    assert await bench.error("shell", command="kill -9 $$") == "[no output]\n[ended by SIGKILL]"


async def test_the_directory_carries_over_within_the_workspace(bench):
    (bench.root / "a b").mkdir()
    text = await bench.text("shell", command="cd 'a b' && pwd")
    assert text == f"{bench.root}/a b\n[exit code 0]\n[the next command starts in a b]"
    assert await bench.text("shell", command="pwd") == f"{bench.root}/a b\n[exit code 0]"
    assert await bench.text("shell", command="cd /; echo out") == (
        "out\n[exit code 0]\n[/ is outside the workspace; the next command starts in a b again]"
    )
    (bench.root / "a b").rmdir()
    assert await bench.text("shell", command="pwd") == (
        f"{bench.root}\n[exit code 0]\n[a b is gone; this ran in the workspace root]"
    )


async def test_the_directory_is_kept_after_an_exit_and_an_error(bench):
    (bench.root / "sub").mkdir()
    await bench.error("shell", command="cd sub; exit 1")
    assert await bench.text("shell", command="pwd") == f"{bench.root}/sub\n[exit code 0]"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("cat", "[no output]\n[exit code 0]"),
        ("read x; echo got:$x", "got:\n[exit code 0]"),
        ("bash -c ': < /dev/tty' 2>/dev/null || echo none", "none\n[exit code 0]"),
        ("test -t 0 || test -t 1 || echo no terminal", "no terminal\n[exit code 0]"),
        ("printf '\\e[31mred\\e[0m\\n10%%\\r100%%\\n'", "red\n100%\n[exit code 0]"),
        ("printf 'a\\xffb'", "a\ufffdb\n[exit code 0]"),
        ("echo \"$0\" $# $1", "bash 0\n[exit code 0]"),
        ("cat <<'EOF'\n'\" $x `\nEOF", "'\" $x `\n[exit code 0]"),
    ],
)  # fmt: skip
async def test_nothing_waits_for_a_person(bench, command, text):
    assert await bench.text("shell", command=command) == text


async def test_editors_pagers_and_passwords_are_switched_off(bench):
    await bench.text(
        "shell", command="git init -q . && git config user.email a@b && git config user.name n"
    )
    message = await bench.error("shell", command="git commit --allow-empty")
    assert message.startswith("Aborting commit due to empty commit message.")
    text = await bench.text("shell", command="echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $EDITOR")
    assert text == "cat cat 0 true\n[exit code 0]"


async def test_commands_never_see_our_keys(tmp_path):
    bench = Bench(tmp_path, {"ANTHROPIC_API_KEY": "sk-x", "ANTHROPIC_AUTH_TOKEN": "t", "MINE": "1"})
    text = await bench.text("shell", command="env | grep -c ANTHROPIC; echo $MINE")
    assert text == "0\n1\n[exit code 0]"


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60 & echo done",
        "(while :; do echo x; sleep .1; done) >/dev/null & echo done",
        "nohup sleep 60 >/dev/null 2>&1 & echo done",
        "set -m; sleep 60 & echo done",
        "timeout 60 sleep 60 & echo done",
    ],
)
async def test_what_stays_in_the_background_is_ended_and_said(bench, command):
    assert await bench.text("shell", command=command) == (
        "done\n[exit code 0]\n[what it had left running in the background was ended]"
    )


async def test_what_left_for_its_own_session_holds_nothing_up(bench):
    text = await bench.text("shell", command="setsid sleep 5 & echo done")
    assert text == "done\n[exit code 0]"


def stubborn(sleep: str) -> str:
    """Return a command that ignores the first signal, and has children that do."""
    return f"trap '' TERM; bash -c 'trap \"\" TERM; echo begun; ({sleep}) & {sleep}' & wait"


async def test_after_the_time_out_nothing_is_left_and_the_output_is_kept(bench):
    sleep = "sleep 301"
    command = f"(sleep 2; touch late) & {stubborn(sleep)}"
    outcome = await bench("shell", command=command, timeout=0.5)
    assert isinstance(outcome, Error)
    assert outcome.message == (
        "begun\n[timed out after 0.5 s; it and all it had started was ended]"
    )
    assert summaries_without_time(outcome) == "timed out"
    assert processes_named(sleep) == []


async def test_an_interrupt_ends_it_all_in_less_than_a_second(bench):
    begun = asyncio.Event()
    sleep = "sleep 302"
    running = bench("shell", command=stubborn(sleep), output=lambda _: begun.set())
    call = asyncio.create_task(running)
    await begun.wait()
    call.cancel()
    await asyncio.wait([call], timeout=0.05)
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call
    assert call.cancelled()
    assert processes_named(sleep) == []


def processes_named(command: str) -> list[str]:
    found = []
    for directory in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            line = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            if line == command:
                found.append(directory.name)
    return found


async def test_output_is_shown_while_it_runs(bench):
    shown: list[str] = []
    first = asyncio.Event()

    def show(text: str) -> None:
        shown.append(text)
        first.set()

    gate = bench.root / "gate"
    os.mkfifo(gate)
    call = asyncio.create_task(bench("shell", command="echo one; cat gate; echo two", output=show))
    await first.wait()
    assert shown == ["one\n"]
    await asyncio.to_thread(gate.write_text, "middle\n")
    await call
    assert "".join(shown) == "one\nmiddle\ntwo\n"


async def test_a_flood_is_joined_for_the_screen_and_cut_for_the_model(bench):
    shown: list[str] = []
    text = await bench.text("shell", command="seq 1 300000")
    assert text.startswith("1\n2\n3\n")
    assert text.endswith("299999\n300000\n[exit code 0]")
    await bench("shell", command="seq 1 300000", output=shown.append)
    assert max(map(len, shown)) <= 8_001


async def test_a_full_disk_and_a_missing_temporary_directory_do_not_matter(tmp_path):
    bench = Bench(tmp_path, {"TMPDIR": "/nowhere"})
    assert await bench.text("shell", command="echo hi") == "hi\n[exit code 0]"


async def test_without_a_shell_it_says_so(tmp_path):
    bench = Bench(tmp_path, {"PATH": "/nowhere"})
    assert await bench.error("shell", command="echo hi") == (
        "There is no bash or sh on this machine's PATH, so no command can run."
    )


async def test_half_characters_and_nul_in_a_command_crash_nothing(bench):
    assert await bench.text("shell", command="echo '\ud83d'") == "?\n[exit code 0]"
    assert await bench.error("shell", command="echo \0") == (
        "The command contains a NUL character; no shell can run it."
    )


def test_the_question_shows_the_whole_command_and_where_it_runs(bench):
    shell = bench.tools["shell"]
    command = "echo ok" + "\n" * 60 + "rm -rf x"
    assert shell.preview({"command": command}) == Display("in .", command)
    assert shell.title({"command": command}) == command
    assert shell.touches({"command": command}) == (Resource("run", command),)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_no_descriptor_is_left_open(bench):
    await bench.text("shell", command="true")
    before = descriptors()
    for _ in range(3):
        await bench.text("shell", command="sleep 60 & true")
    assert descriptors() == before


def test_only_the_living_count_as_a_session():
    assert processes.session(os.getsid(0)) != ()
    assert processes.session(2**22 + 1) == ()
