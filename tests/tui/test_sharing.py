"""A thread that is in use elsewhere is offered for reading or as a copy; no draft is lost."""

from __future__ import annotations

import pytest

from tests.tui.stand_in import Bench, Info, StandIn
from tests.tui.support import Screen, screen
from todo_agent.agent.messages import user
from todo_agent.tui.screens.in_use import InUse


def bench() -> Bench:
    other = StandIn(id="other", messages=(user("from the other window"),))
    sessions = {None: StandIn(), "other": other}
    return Bench(sessions, (Info("other", "Elsewhere"),), busy=frozenset({"other"}))


async def wanted(shown: Screen) -> None:
    await shown.type("/resume other")
    await shown.press("enter")
    await shown.shows("Another todo-agent works on this thread.")


async def test_a_thread_in_use_is_read_and_says_so():
    async with screen(bench=bench()) as shown:
        await wanted(shown)
        await shown.press("r")
        await shown.shows("from the other window")
        await shown.shows("read-only")
        await shown.shows("Open for reading only.")


async def test_a_thread_in_use_is_gone_on_with_in_a_copy():
    async with screen(bench=bench()) as shown:
        await wanted(shown)
        await shown.press("c")
        await shown.shows("from the other window")
        assert shown.app.session.id == "other-copy"


async def test_left_alone_everything_stays_as_it_was():
    async with screen(bench=bench()) as shown:
        await wanted(shown)
        await shown.press("escape")
        await shown.shows("It stays closed here")
        assert shown.app.session.id == StandIn().id


@pytest.mark.parametrize("key", ["c", "enter"])
async def test_what_is_sent_to_a_thread_that_is_read_goes_into_a_copy(key):
    async with screen(bench=bench()) as shown:
        await wanted(shown)
        await shown.press("r")
        await shown.shows("Open for reading only.")
        await shown.type("go on")
        await shown.press("enter")
        await shown.until(lambda: isinstance(shown.app.screen, InUse))
        await shown.press(key)
        await shown.until(lambda: shown.app.session.id == "other-copy")
        await shown.until(lambda: shown.app.session.sent == ["go on"])


async def test_a_draft_stays_where_no_copy_is_wanted():
    async with screen(bench=bench()) as shown:
        await wanted(shown)
        await shown.press("r")
        await shown.shows("Open for reading only.")
        await shown.type("go on")
        await shown.press("enter")
        await shown.until(lambda: isinstance(shown.app.screen, InUse))
        await shown.press("escape")
        await shown.until(lambda: shown.app.prompt.draft == "go on")
