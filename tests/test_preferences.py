"""The settings as a person sees and changes them while the program runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from todo_agent import config as configuration
from todo_agent.errors import ConfigError
from todo_agent.manual import descriptions
from todo_agent.preferences import Preferences, Row
from todo_agent.settings import SETTINGS


def preferences(file: Path, *assignments: str, **environ: str) -> Preferences:
    def load():
        return configuration.load(file, required=False, environ=environ, assignments=assignments)

    return Preferences(load(), file, load)


def test_every_setting_is_described_once_in_the_example():
    assert descriptions().keys() == SETTINGS.keys()
    assert all(descriptions().values())


def test_every_setting_is_shown_with_its_value_and_where_it_comes_from(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('model = "of-file"\n[ui]\nmouse = false\n')
    mine = preferences(file, "effort=low", TODO_AGENT_MODEL="of-variable")

    sources = {row.key: (row.shown, row.source) for row in mine.rows() if not row.default}

    assert sources == {
        "model": ('"of-variable"', "TODO_AGENT_MODEL"),
        "effort": ('"low"', "--set"),
        "ui.mouse": ("false", f"{file}:3:1"),
    }
    assert [row.overrules for row in mine.rows() if not row.default] == [True, True, False]


def test_no_key_is_shown(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('base_url = "https://ada:secret-word@host"\n')
    mine = preferences(file, ANTHROPIC_API_KEY="sk-secret-key")
    assert "secret-" not in repr(mine.rows())


def test_storing_writes_the_file_and_returns_what_holds_then(tmp_path):
    file = tmp_path / "config.toml"
    mine = preferences(file)
    assert mine.store("ui.plan_width", 50).plan_width == 50
    assert mine.row("ui.plan_width") == Row(
        "ui.plan_width",
        SETTINGS["ui.plan_width"].parse,
        50,
        "50",
        default=False,
        source=f"{file}:2:1",
        overrules=False,
        what="How wide the plan is, in columns.",
    )
    assert mine.store("ui.plan_width", None).plan_width == 38
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("key", "typed", "message"),
    [
        ("ui.plan_width", "wide", "This: ui.plan_width must be a whole number from 20 to 120"),
        ("limits.max_cost", "-1", "This: limits.max_cost must be an amount of US dollars above 0"),
        ("ui.density", "dense", "This: ui.density must be one of comfortable, compact"),
        ("permissions.deny", "drink x", "This: permissions.deny must be a list of rules, but"),
        ("api_key", "sk\u2011secret", "This: api_key must be a key of visible ASCII"),
        ("ui.notify_command", '"', "This: ui.notify_command must be a program"),
        ("ui.keys.help", "ctl+x", "This: ui.keys.help must be keys separated by commas, such as "),
        ("ui.keys.help", "x", "'x' is for writing; use it with ctrl or alt"),
        ("ui.keys.help", "ctrl+c", "ctrl+c clears, interrupts and quits"),
        ("ui.keys.help", "ctrl+o", "This: ctrl+o is chosen for toggle_details and for help"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path, key, typed, message):
    file = tmp_path / "config.toml"
    mine = preferences(file)
    with pytest.raises(ConfigError) as caught:
        mine.store(key, SETTINGS[key].parse.typed(typed))
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)
    assert not file.exists()


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("ui.plan_width", " 50 ", 50),
        ("limits.max_cost", "$2.50", 2.5),
        ("ui.mouse", "False", False),
        ("permissions.ask", "run a *\n\n write b\n", ("run a *", "write b")),
        ("ui.notify_command", "notify-send 'my agent'", ("notify-send", "my agent")),
        ("ui.keys.help", " f5 , ctrl+h,f5", "f5,ctrl+h"),
        ("model", " m ", "m"),
        ("base_url", "https://host/v1/", "https://host"),
    ],
)
def test_what_is_typed_becomes_a_value(key, typed, value):
    kind = SETTINGS[key].parse
    assert kind(kind.typed(typed)) == value


def test_keys_that_clash_in_the_file_are_named_with_their_place(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('[ui.keys]\nhelp = "ctrl+o"\n')
    with pytest.raises(ConfigError, match=r"toml:2:1: ctrl\+o is chosen for toggle_details"):
        preferences(file)


def test_an_unknown_action_is_named_with_its_place(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('[ui.keys]\ntoggle_plna = "f9"\n')
    with pytest.raises(
        ConfigError, match=r"toml:2:1: there is no setting ui.keys.toggle_plna. Did"
    ):
        preferences(file)
