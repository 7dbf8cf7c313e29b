"""Going back to before a message, and copying a thread, on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stand_in import DIFF, Bench, StandIn, plan
from tests.tui.support import Screen, screen
from todo_agent.agent.messages import Display, Text, assistant, user
from todo_agent.plan.plan import Plan
from todo_agent.rewind import Turn
from todo_agent.threads.moments import Moment

NOW = plan("x read", "> fix")
PAST = (
    Turn(Moment(2, 0, "fix the parser", 0.0, None), Plan(), plan("> read"), ()),
    Turn(Moment(9, 2, "and the docs", 60.0, None), plan("> read"), NOW, (Path("a.py"),)),
)


def stored() -> StandIn:
    messages = (
        user("fix the parser"),
        assistant(Text("done")),
        user("and the docs"),
        assistant(Text("those too")),
    )
    return StandIn(
        id="k3x9qa",
        messages=messages,
        plan=NOW,
        past=PAST,
        files=(Display("+1 -3", DIFF, "diff", "a.py"),),
        conflicts=(Path("b.py"),),
    )


async def chosen(shown: Screen) -> None:
    await shown.press("escape")
    await shown.shows("esc again goes back")
    await shown.press("escape")
    await shown.shows("and the docs  ")
    assert "1 file" in shown.text()
    await shown.press("enter")
    await shown.shows("a.py  +1 -3")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_esc_twice_goes_back_and_the_thread_stays_whole(size):
    session = stored()
    async with screen(session, size=size) as shown:
        await chosen(shown)
        await shown.press("enter")
        await shown.until(lambda: shown.app.session.id == "k3x9qa-branch")
        await shown.until(lambda: shown.app.prompt.draft == "and the docs")
        await shown.until(lambda: shown.app.session.plan == plan("> read"))
        await shown.shows("/resume k3x9qa")
    assert session.files_taken_back == [(PAST[1], False)]
    assert session.plan == NOW


async def test_what_is_not_chosen_stays():
    session = stored()
    async with screen(session) as shown:
        await chosen(shown)
        await shown.press("c", "p", "enter")
        await shown.shows("As they were: a.py.")
        await shown.shows("somebody else changed them too: b.py.")
        assert shown.app.session is session
        assert (shown.app.prompt.draft, session.plan) == ("", NOW)
    assert session.files_taken_back == [(PAST[1], True)]


async def test_the_plan_alone_goes_back():
    session = stored()
    async with screen(session) as shown:
        await chosen(shown)
        await shown.press("c", "f", "enter")
        await shown.until(lambda: session.plan == plan("> read"))
        assert shown.app.session is session
    assert session.files_taken_back == []


async def test_nothing_chosen_goes_nowhere_and_a_draft_is_kept():
    session = stored()
    async with screen(session) as shown:
        await chosen(shown)
        await shown.press("c", "p", "f", "enter")
        await shown.shows("a.py  +1 -3")
        await shown.press("escape")
        await shown.type("mine")
        await shown.press("escape", "escape")
        assert shown.app.prompt.draft == "mine"
        shown.app.rewinding.open()
        await shown.shows("Go back to before")
        await shown.press("enter")
        await shown.shows("a.py  +1 -3")
        await shown.press("enter")
        await shown.until(lambda: shown.app.session.id == "k3x9qa-branch")
        assert shown.app.prompt.draft == "mine"


async def test_esc_and_ctrl_c_do_not_count_for_each_other():
    async with screen(stored()) as shown:
        await shown.press("escape")
        await shown.shows("esc again goes back")
        await shown.press("ctrl+c")
        await shown.shows("ctrl+c again quits")
        await shown.press("escape")
        await shown.shows("esc again goes back")
        assert shown.app.is_running


async def test_an_empty_thread_has_nowhere_to_go():
    async with screen() as shown:
        await shown.press("escape", "escape")
        assert "esc again" not in shown.text()
        for command, answer in (
            ("/rewind", "There is no message to go back to."),
            ("/fork", "There is nothing to copy yet."),
        ):
            await shown.type(command)
            await shown.press("enter")
            await shown.shows(answer)


async def test_a_copy_is_gone_on_with():
    session = stored()
    bench = Bench({None: session, "k3x9qa": session})
    async with screen(session, bench=bench) as shown:
        await shown.type("/fork")
        await shown.press("enter")
        await shown.until(lambda: shown.app.session.id == "k3x9qa-copy")
        await shown.shows("/resume k3x9qa")
