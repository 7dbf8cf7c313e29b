"""Every setting of the screen does what it says."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from textual.events import AppBlur, AppFocus

from tests.e2e.terminal import Terminal
from tests.tui.stand_in import StandIn
from tests.tui.support import Screen, screen
from tests.tui.test_config_form import configured
from tests.tui.test_snapshots import PLAN
from todo_agent.agent.events import QuestionAsked
from todo_agent.agent.outcomes import Question
from todo_agent.tui import notifying, terminal
from todo_agent.tui.app import TodoAgentApp
from todo_agent.tui.notifying import notified


async def test_a_theme_is_worn_from_the_start_and_an_unknown_one_is_named():
    async with screen(theme="nord") as shown:
        assert shown.app.theme == "nord"
    async with screen(theme="mauve") as shown:
        await shown.shows("There is no theme 'mauve'. /theme shows them all.")
        assert shown.app.theme == "todo-agent-dark"


async def test_themes_are_tried_while_one_moves_and_esc_goes_back():
    async with screen() as shown:
        await shown.type("/theme")
        await shown.press("enter")
        await shown.shows("todo-agent-light")
        assert shown.app.theme == "todo-agent-dark"
        await shown.press("down")
        await shown.until(lambda: shown.app.theme == "todo-agent-light")
        await shown.press(*"nord")
        await shown.until(lambda: shown.app.theme == "nord")
        await shown.press("escape")
        await shown.until(lambda: shown.app.theme == "todo-agent-dark")


async def test_a_picked_theme_is_worn_at_the_next_start_too(tmp_path):
    file = tmp_path / "c.toml"
    async with configured(file) as shown:
        await shown.type("/theme")
        await shown.press("enter")
        await shown.shows("todo-agent-light")
        await shown.press("down", "enter")
        await shown.until(file.exists)
        assert file.read_text() == '[ui]\ntheme = "todo-agent-light"\n'
        assert shown.app.theme == "todo-agent-light"


@pytest.mark.parametrize(("side", "column"), [("right", 120 - 50), ("left", 0)])
async def test_the_plan_is_on_its_side_and_as_wide_as_it_says(side, column):
    async with screen(StandIn(plan=PLAN), plan_side=side, plan_width=50) as shown:
        region = shown.app.plan_pane.region
        assert (region.x, region.width) == (column, 50)


async def test_the_plan_stays_hidden_until_it_is_wanted():
    async with screen(StandIn(plan=PLAN), plan_visible=False) as shown:
        assert not shown.app.plan_pane.display
        await shown.press("ctrl+t")
        assert shown.app.plan_pane.display


async def test_a_compact_screen_has_no_air_between_entries():
    rows = {}
    for density in ("comfortable", "compact"):
        async with screen(density=density) as shown:
            shown.session.send("first")
            shown.session.says("second")
            await shown.shows("second")
            await shown.settled()
            lines = shown.text().splitlines()
            first = next(i for i, line in enumerate(lines) if "first" in line)
            second = next(i for i, line in enumerate(lines) if "second" in line)
            rows[density] = second - first
    assert rows == {"comfortable": 2, "compact": 1}


@pytest.mark.parametrize(("animate", "frames"), [(True, 8), (False, 0)])
async def test_the_mark_turns_or_stands_still(animate, frames):
    async with screen(animate=animate) as shown:
        shown.session.send("go")
        await shown.shows("esc to interrupt")
        before = shown.app._frame
        shown.app._ticker.pause()
        for _ in range(8):
            shown.app._tick()
        assert shown.app._frame - before in range(frames, frames + 2)


def test_without_the_mouse_the_terminal_keeps_it(tmp_path: Path):
    env = {"TODO_AGENT_HOME": str(tmp_path / "home")}
    for value, taken in (("true", True), ("false", False)):
        with Terminal("--demo", "--set", f"ui.mouse={value}", cwd=tmp_path, env=env) as program:
            program.wait_for("scripted")
            assert (b"\x1b[?1000h" in program.output) is taken


def test_ascii_marks_are_drawn_where_asked_and_where_the_terminal_has_no_others(tmp_path: Path):
    env = {"TODO_AGENT_HOME": str(tmp_path / "home")}
    for more, arguments in ({"TERM": "linux"}, ()), ({}, ("--set", "ui.ascii=true")):
        with Terminal("--demo", *arguments, cwd=tmp_path, env=env | more) as program:
            program.wait_for("[>]")
            assert "▶" not in program.screen


def test_a_terminal_that_cannot_draw_is_told_so_on_one_line(tmp_path: Path):
    env = {"TODO_AGENT_HOME": str(tmp_path / "home"), "TERM": "dumb"}
    with Terminal("--demo", cwd=tmp_path, env=env) as program:
        assert program.wait_for_end() == 2
        assert [line for line in program.lines if line] == [
            (
                "todo-agent: This terminal (TERM=dumb) cannot draw a screen. "
                'Use: todo-agent -p "your prompt"'
            )
        ]


# Notifications.


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that writes down its arguments."""
    file = tmp_path / "notify"
    file.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n')
    file.chmod(stat.S_IRWXU)
    return file


@pytest.mark.parametrize(
    ("way", "expected"),
    [("off", ""), ("bell", "\x07"), ("desktop", "\x1b]9;done; $(rm)\x07")],
)
async def test_a_terminal_is_told_in_the_way_that_is_set(way, expected):
    assert await notified(way, "done; $(rm)", command=()) == (expected, "")


async def test_a_program_gets_the_message_as_one_argument_and_no_shell_reads_it(program, tmp_path):
    told = await notified("command", "done; $(rm)", command=(str(program), "-u", "a b"))
    assert told == ("", "")
    assert (tmp_path / "told").read_text() == "-u\na b\ndone; $(rm)\n"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ((), "ui.notify_command names no program"),
        (("/nowhere/at-all",), "/nowhere/at-all cannot be run: No such file or directory."),
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with 3."),
    ],
)
async def test_a_program_that_does_not_work_is_named(command, problem):
    sequence, said = await notified("command", "done", command=command)
    assert sequence == ""
    assert problem in said


async def test_a_program_that_hangs_is_stopped(monkeypatch):
    monkeypatch.setattr(notifying, "WAIT_SECONDS", 0.05)
    hangs = (sys.executable, "-c", "import time; time.sleep(600)")
    _, said = await notified("command", "done", command=hangs)
    assert "did not end in 0.05 s." in said


async def told(shown: Screen, path: Path) -> str:
    def text() -> str:
        return path.read_text() if path.exists() else ""

    await shown.until(lambda: text().endswith("\n"))
    return text()


async def test_a_finished_run_and_a_question_are_told(program, tmp_path):
    async with screen(notify="command", notify_command=(str(program),)) as shown:
        shown.session.send("go")
        shown.session.emit(QuestionAsked(Question("q", "Why?", kind="question")))
        assert await told(shown, tmp_path / "told") == "todo-agent waits for your answer\n"
        (tmp_path / "told").unlink()
        shown.session.end()
        assert await told(shown, tmp_path / "told") == "todo-agent finished\n"


async def test_a_person_who_looks_at_the_screen_is_not_told(monkeypatch):
    messages = []
    monkeypatch.setattr(TodoAgentApp, "write", lambda _, sequence: messages.append(sequence))
    async with screen(notify="desktop") as shown:
        sequence = terminal.notification("todo-agent finished")
        shown.app.post_message(AppFocus())
        shown.session.send("go")
        shown.session.end()
        await shown.settled()
        assert sequence not in messages
        shown.app.post_message(AppBlur())
        shown.session.send("go")
        shown.session.end()
        await shown.until(lambda: sequence in messages)


async def test_a_notification_that_fails_is_said_in_the_conversation():
    async with screen(notify="command", notify_command=("/nowhere/at-all",)) as shown:
        shown.session.send("go")
        shown.session.end()
        await shown.shows("/nowhere/at-all cannot be run")


def test_no_project_can_name_a_program():
    from todo_agent.settings import SETTINGS

    assert not SETTINGS["ui.notify_command"].restricts
    assert not SETTINGS["ui.notify"].restricts
