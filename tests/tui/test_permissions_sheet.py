"""The rules on the screen are those that hold, and what is changed is what is stored."""

from __future__ import annotations

import pytest

from tests.tui.stand_in import StandIn
from tests.tui.support import Screen
from tests.tui.test_config_form import configured
from todo_agent.config_file import ConfigFile
from todo_agent.middleware.rules import Decision, Rule
from todo_agent.tui.screens.permissions import PermissionsSheet

FILE = """\
[permissions]
allow = ["run make test"]
deny = [
    "read .env",  # secrets
]
"""


async def opened(shown: Screen) -> None:
    await shown.type("/permissions")
    await shown.press("enter")
    await shown.until(lambda: isinstance(shown.app.screen, PermissionsSheet))
    await shown.shows("built in")


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text(FILE)
    return file


async def test_every_rule_in_force_is_shown_with_its_place(file):
    granted = Rule(Decision.ALLOW, "run", "make lint")
    session = StandIn(granted_rules=(granted,))
    async with configured(file, session=session) as shown:
        await opened(shown)
        rows = [line.split() for line in shown.text().splitlines() if " run " in line]
        await shown.shows("deny  read .env")
        assert [" ".join(words[1:5]) for words in rows] == [
            "allow run make test",
            "allow run make lint",
        ]
        await shown.shows("this session")
        await shown.shows("c.toml:2:1")


async def test_a_rule_is_added_to_the_file_and_holds_at_once(file):
    async with configured(file) as shown:
        await opened(shown)
        await shown.press("a", *["backspace"] * 10, *"deny run rm *", "enter")
        await shown.shows("Stored: deny run rm *")
        assert file.read_text() == FILE.replace("# secrets\n", '# secrets\n    "run rm *",\n')
        assert Rule(Decision.DENY, "run", "rm *") in shown.session.rules


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("forbid run x", "A rule begins with allow, ask or deny, not 'forbid'."),
        ("deny drink x", "'drink x' is no rule"),
        ("deny run", "after run it has to say what it is about"),
    ],
)
async def test_what_is_no_rule_is_said_and_what_was_typed_stays(file, typed, problem):
    async with configured(file) as shown:
        await opened(shown)
        await shown.press("a", *["backspace"] * 10, *typed, "enter")
        await shown.shows(problem)
        await shown.shows(typed)
        assert file.read_text() == FILE


async def test_a_rule_is_removed_from_the_file_with_its_line_alone(file):
    async with configured(file) as shown:
        await opened(shown)
        await shown.press("down", "d")
        await shown.shows("Removed: allow run make test")
        assert ConfigFile.read(file).data == {"permissions": {"deny": ["read .env"]}}
        assert "# secrets" in file.read_text()
        assert shown.session.rules == (Rule(Decision.DENY, "read", ".env"),)


async def test_what_the_session_granted_is_taken_back_or_kept_for_good(file):
    lint, docs = (Rule(Decision.ALLOW, "run", f"make {name}") for name in ("lint", "docs"))
    session = StandIn(granted_rules=(lint, docs))
    async with configured(file, session=session) as shown:
        await opened(shown)
        await shown.press("down", "down", "d")
        await shown.shows("No longer: allow run make lint")
        assert session.granted_rules == (docs,)
        await shown.press("s")
        await shown.shows("Stored: allow run make docs")
        assert session.granted_rules == ()
        assert ConfigFile.read(file).data["permissions"]["allow"] == [
            "run make test",
            "run make docs",
        ]


async def test_what_is_built_in_stays(file):
    async with configured(file) as shown:
        await opened(shown)
        await shown.press("end", "d")
        await shown.pilot.pause()
        assert file.read_text() == FILE
