"""What becomes of a person's file when one setting in it is changed."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from todo_agent.config_file import ConfigFile

FILE = """\
# mine
model = "a"   # the cheap one

[permissions]
# what I trust
allow = [
    "run make test",  # every day
    # the next one is for Fridays
    "run make lint"
]
deny = ["read .env"] # never

[ui]
  mouse = true
# theme = "todo-agent-dark"
"""


def file_of(text: str) -> ConfigFile:
    return ConfigFile(Path("c.toml"), text, tomllib.loads(text), hashlib.sha256().hexdigest())


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("model", "b", 'model = "a"   # the cheap one', 'model = "b"   # the cheap one'),
        ("ui.mouse", False, "  mouse = true", "  mouse = false"),
        (
            "permissions.allow",
            ["run make test", "run make lint", "run ls"],
            '    "run make lint"\n]',
            '    "run make lint",\n    "run ls",\n]',
        ),
        ("permissions.allow", ["run make lint"], '    "run make test",  # every day\n', ""),
        (
            "permissions.deny",
            ["read .env", "run rm *"],
            'deny = ["read .env"] # never',
            'deny = [\n    "read .env",\n    "run rm *",\n] # never',
        ),
        (
            "ui.theme",
            "nord",
            '# theme = "todo-agent-dark"\n',
            '# theme = "todo-agent-dark"\ntheme = "nord"\n',
        ),
        ("effort", "low", "# mine\n", 'effort = "low"\n# mine\n'),
        ("ui.keys.help", "f5", None, '\n[ui.keys]\nhelp = "f5"\n'),
    ],
)
def test_one_change_leaves_every_other_character_alone(key, value, before, after):
    expected = FILE + after if before is None else FILE.replace(before, after)
    assert file_of(FILE).with_value(key, value) == expected


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("model", 'model = "a"   # the cheap one\n'),
        ("permissions.allow", FILE[FILE.index("allow") : FILE.index("deny")]),
        ("ui.mouse", "  mouse = true\n"),
        ("ui.theme", ""),
    ],
)
def test_taking_a_setting_out_takes_its_lines_alone(key, line):
    assert file_of(FILE).without(key) == FILE.replace(line, "")


def test_line_ends_of_another_system_stay():
    assert (
        file_of('a = 1\r\nmodel = "x"\r\n').with_value("model", "y") == 'a = 1\r\nmodel = "y"\r\n'
    )


def test_a_table_on_one_line_is_still_read_right():
    text = 'ui = { mouse = true, keys = { help = "f5" } }\n'
    edited = file_of(text).with_value("ui.keys.quit", "f10")
    assert tomllib.loads(edited) == {
        "ui": {"mouse": True, "keys": {"help": "f5", "quit": "f10"}},
    }


rules = st.lists(st.text(min_size=1, max_size=12), max_size=4)


@given(
    before=rules, after=rules, remark=st.text(st.characters(exclude_categories=["C"]), max_size=9)
)
def test_any_list_becomes_any_other(before, after, remark):
    text = file_of(f"# {remark}\n").with_value("permissions.deny", before)
    assert tomllib.loads(text) == {"permissions": {"deny": before}}
    text = file_of(text).with_value("permissions.deny", after)
    assert tomllib.loads(text) == {"permissions": {"deny": after}}
