"""The app on a real session: the demo's script, the real loop, tools, files and disk."""

from __future__ import annotations

import os

import pytest

from tests.tui.support import Screen
from todo_agent.assemble import Place, Workshop
from todo_agent.paths import Paths
from todo_agent.plan.plan import Status
from todo_agent.settings import Config
from todo_agent.tui.app import TodoAgentApp
from todo_agent.tui.screens import approval
from todo_agent.tui.screens.approval import Approval
from todo_agent.tui.settings import TuiSettings
from todo_agent.tui.themes import UNICODE

PROMPT = "A test of this project fails. Find out why and fix it."


@pytest.fixture
def workshop(tmp_path, monkeypatch) -> Workshop:
    monkeypatch.setattr(approval, "GRACE_SECONDS", 0.0)
    paths = Paths(tmp_path / "config", tmp_path / "data", tmp_path / "state")
    place = Place(cwd=tmp_path, environ={"PATH": os.environ["PATH"]}, demo=True)
    return Workshop(Config(), paths, place)


def app_on(workshop: Workshop, *, thread: str | None = None, prompt: str = "") -> TodoAgentApp:
    settings = TuiSettings(animate=False)
    return TodoAgentApp(workshop, thread=thread, prompt=prompt, settings=settings, marks=UNICODE)


async def test_the_demo_is_worked_off_and_comes_back_as_it_was(workshop):
    app = app_on(workshop, prompt=PROMPT)
    async with app.run_test(size=(120, 40)) as pilot:
        shown = Screen(app, app.session, workshop, pilot)
        await shown.until(lambda: app.session is not None)
        session = app.session
        answered = 0
        for _ in range(4000):
            if session.last_end is not None and not session.running:
                break
            if isinstance(app.screen, Approval) and "yes, once" in shown.text():
                await pilot.press("y")
                answered += 1
            await pilot.pause(0.01)
        await shown.shows("todos done")
        thread, plan, entries = session.id, session.plan, app.transcript.entries
        assert answered >= 2
        assert {todo.status for todo in plan} == {Status.DONE}
        assert "scripted model" in shown.text()
        await app.close_session()

    app = app_on(workshop, thread=thread)
    async with app.run_test(size=(120, 40)) as pilot:
        shown = Screen(app, app.session, workshop, pilot)
        await shown.shows("6/6")
        assert app.session.plan == plan
        kinds = [type(entry).__name__ for entry in app.transcript.entries]
        assert kinds == [
            type(entry).__name__ for entry in entries if type(entry).__name__ != "Turn"
        ]
