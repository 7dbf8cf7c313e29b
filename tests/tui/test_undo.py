"""What the agent did to files, shown and undone from the prompt, on the real session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tui.support import Screen
from todo_agent.agent.modes import Mode
from todo_agent.assemble import Place, Workshop
from todo_agent.paths import Paths
from todo_agent.settings import Config
from todo_agent.tui.app import TodoAgentApp
from todo_agent.tui.settings import TuiSettings
from todo_agent.tui.themes import UNICODE

WRONG = "amount > FREE_SHIPPING_FROM"
RIGHT = "amount >= FREE_SHIPPING_FROM"


@pytest.fixture
async def worked(tmp_path: Path):
    """The screen after the demo has changed its file."""
    paths = Paths(tmp_path / "config", tmp_path / "data", tmp_path / "state")
    place = Place(cwd=tmp_path, environ={"PATH": os.environ["PATH"]}, demo=True)
    workshop = Workshop(Config(mode=Mode.AUTO, sandbox="off"), paths, place)
    settings = TuiSettings(animate=False)
    app = TodoAgentApp(workshop, thread=None, prompt="go", settings=settings, marks=UNICODE)
    async with app.run_test(size=(120, 40)) as pilot:
        shown = Screen(app, app.session, workshop, pilot)
        await shown.shows("6 todos done")
        yield shown
        await app.close_session()


async def command(shown: Screen, text: str) -> None:
    await shown.type(text)
    await shown.press("escape", "enter")


async def test_diff_shows_what_the_agent_changed(worked: Screen):
    await command(worked, "/diff")
    await worked.until(lambda: f"- {'    return 0 if ' + WRONG}" in worked.text())
    assert RIGHT in worked.text()


async def test_undo_gives_the_files_back_and_says_so(worked: Screen):
    file = worked.app.session.cwd / "basket.py"
    assert RIGHT in file.read_text()
    await command(worked, "/undo")
    await worked.shows("Undone: basket.py")
    assert WRONG in file.read_text()
    await command(worked, "/undo")
    await worked.shows("There are no changes to undo.")


async def test_undo_leaves_what_the_person_changed_since(worked: Screen):
    file = worked.app.session.cwd / "basket.py"
    file.write_text("mine\n")
    await command(worked, "/undo")
    await worked.shows("changed since: basket.py")
    assert file.read_text() == "mine\n"
