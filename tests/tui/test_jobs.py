"""The agent's commands in the background, on the status line and listed."""

from __future__ import annotations

from tests.tui.stand_in import StandIn
from tests.tui.support import screen

JOBS = (("job-1", "make watch", None), ("job-2", "false", 1))


async def test_running_ones_are_counted_on_the_status_line():
    async with screen(StandIn(background=JOBS)) as shown:
        await shown.shows("1 in background")


async def test_all_of_them_are_listed_with_what_became_of_them():
    async with screen(StandIn(background=JOBS)) as shown:
        await shown.type("/jobs")
        await shown.press("escape", "enter")
        await shown.shows("job-1  runs  make watch")
        assert "job-2  ended with 1  false" in shown.text()


async def test_none_is_said_in_words():
    async with screen() as shown:
        await shown.type("/jobs")
        await shown.press("escape", "enter")
        await shown.shows("no commands in the background")
