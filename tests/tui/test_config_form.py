"""The settings on the screen: what is shown, stored and applied."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.tui.stand_in import StandIn
from tests.tui.support import Screen, screen
from todo_agent import config as configuration
from todo_agent.agent.modes import Mode
from todo_agent.middleware.rules import Decision, Rule
from todo_agent.preferences import Preferences
from todo_agent.settings import SETTINGS, Config
from todo_agent.tui.screens.config_form import ConfigForm


def kept_in(file: Path, **environ: str) -> Preferences:
    def load() -> Config:
        return configuration.load(file, required=False, environ=environ)

    return Preferences(load(), file, load)


@asynccontextmanager
async def configured(
    file: Path,
    *,
    session: StandIn | None = None,
    environ: dict[str, str] | None = None,
    **more: Any,
) -> AsyncIterator[Screen]:
    preferences = kept_in(file, **(environ or {}))
    async with screen(session, preferences=preferences, **more) as shown:
        yield shown


async def change(shown: Screen, key: str, *keys: str) -> None:
    """Open the form, filter for a setting and press keys on it."""
    shown.app.configuring.open_form()
    await shown.until(lambda: isinstance(shown.app.screen, ConfigForm))
    await shown.press(*key.replace(".", " ").replace("_", " _ ").replace(" _ ", "_"))
    await shown.pilot.pause()
    await shown.press(*keys)


async def test_every_setting_is_in_the_form(tmp_path):
    async with configured(tmp_path / "c.toml", size=(120, 90)) as shown:
        await shown.type("/config")
        await shown.press("enter")
        await shown.shows("Settings")
        await shown.until(lambda: "quit" in shown.text())
        text = shown.text()
        missing = [key for key in SETTINGS if key.rpartition(".")[2] not in text]
        assert missing == []


async def test_a_setting_is_shown_with_its_value_its_source_and_its_use(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text("[ui]\nplan_width = 50\n")
    async with configured(file, environ={"TODO_AGENT_MODEL": "mine"}) as shown:
        await change(shown, "plan_width")
        await shown.shows("How wide the plan is, in columns.")
        await shown.shows("c.toml:2:1; takes effect at once")
        await shown.press("escape")
        await change(shown, "longest")
        await shown.shows("the default; takes effect with the next thread")
        await shown.press("escape")
        await change(shown, "TODO_AGENT")
        await shown.shows("TODO_AGENT_MODEL decides this, whatever the file says.")


async def test_a_switch_is_switched_stored_and_felt(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text("# mine\n")
    async with configured(file) as shown:
        await change(shown, "animate", "enter")
        await shown.shows("Stored; takes effect at once.")
        assert file.read_text() == "# mine\n\n[ui]\nanimate = false\n"
        assert shown.app.settings.animate is False
        await shown.press("ctrl+r")
        await shown.shows("Back to the default")
        await shown.until(lambda: shown.app.settings.animate is True)
        assert "animate" not in file.read_text()


async def test_a_number_is_checked_as_in_the_file_and_stored(tmp_path):
    file = tmp_path / "c.toml"
    async with configured(file) as shown:
        await change(shown, "plan_width", "enter", "x", "enter")
        await shown.shows("It must be a whole number from 20 to 120.")
        assert not file.exists()
        await shown.press("ctrl+u", "5", "5", "enter")
        await shown.shows("Stored")
        assert file.read_text() == "[ui]\nplan_width = 55\n"
        assert shown.app.settings.plan_width == 55


async def test_a_choice_is_picked(tmp_path):
    file = tmp_path / "c.toml"
    async with configured(file) as shown:
        await change(shown, "density", "enter")
        await shown.shows("compact")
        await shown.press("down", "enter")
        await shown.until(lambda: shown.app.has_class("-compact"))
        assert file.read_text() == '[ui]\ndensity = "compact"\n'


async def test_a_key_is_stored_and_never_shown(tmp_path):
    file = tmp_path / "c.toml"
    async with configured(file) as shown:
        await change(shown, "api_key", "enter", *"sk-word", "enter")
        await shown.shows("Stored")
        assert 'api_key = "sk-word"' in file.read_text()
        assert "sk-word" not in shown.text()
        await shown.press("enter")
        await shown.shows("the one that is set is not shown")
        assert "sk-word" not in shown.text()
        assert [(c.api_key, demo) for c, demo in shown.bench.configured] == [("sk-word", False)]


async def test_a_list_is_a_line_for_each(tmp_path):
    file = tmp_path / "c.toml"
    async with configured(file) as shown:
        await change(shown, "permissions.deny", "enter", *"run x", "ctrl+j", *"drink y", "enter")
        await shown.shows("It must be a list of rules, but 'drink y' is no rule")
        await shown.press(*["backspace"] * 7, *"run y", "enter")
        await shown.shows("Stored")
        assert shown.session.rules == tuple(Rule(Decision.DENY, "run", name) for name in ("x", "y"))


async def test_what_the_file_refuses_is_said_in_the_form(tmp_path):
    file = tmp_path / "c.toml"
    async with configured(file) as shown:
        await change(shown, "ui.keys.help", "enter", "ctrl+u", *"ctrl+o", "enter")
        await shown.shows("ctrl+o is chosen for toggle_details and for help")
        assert not file.exists()


async def test_a_file_that_cannot_be_written_is_said_in_the_form(tmp_path):
    file = tmp_path / "c" / "c.toml"
    async with configured(file) as shown:
        (tmp_path / "c").write_text("a file where a directory should be")
        await change(shown, "animate", "enter")
        await shown.until(
            lambda: "cannot be written" in shown.text() or "Not a dir" in shown.text()
        )


async def test_what_was_edited_beside_the_program_counts_when_the_form_opens(tmp_path):
    file = tmp_path / "c.toml"
    async with configured(file) as shown:
        file.write_text('[permissions]\nmode = "plan"\n')
        await change(shown, "mode")
        await shown.until(lambda: shown.session.mode is Mode.PLAN)


async def test_a_file_that_is_broken_by_now_is_named_and_what_held_goes_on(tmp_path):
    file = tmp_path / "c.toml"
    async with configured(file) as shown:
        file.write_text("mode = ")
        await shown.type("/config")
        await shown.press("enter")
        await shown.shows("Settings")
        await shown.press("escape")
        await shown.shows("What held before goes on to hold.")


@pytest.mark.parametrize("size", [(40, 12), (20, 6), (200, 60)])
async def test_the_form_fits_every_size(tmp_path, size):
    async with configured(tmp_path / "c.toml", size=size) as shown:
        await change(shown, "ui.theme")
        await shown.shows("theme")
