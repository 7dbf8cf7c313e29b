"""The keys a person chose work, and the help names those that work right here."""

from __future__ import annotations

import pytest
from textual.keys import Keys

from tests.tui.stand_in import StandIn, plan
from tests.tui.support import screen
from tests.tui.test_snapshots import PLAN
from todo_agent.key_names import KEY_ACTIONS, MODIFIERS, NAMED, TAKEN, key_conflict, key_problem
from todo_agent.tui.app import TodoAgentApp
from todo_agent.tui.screens.help import Help
from todo_agent.tui.widgets.plan_pane import PlanList
from todo_agent.tui.widgets.prompt import Prompt


def test_every_action_has_a_binding_with_its_default_keys():
    bound = {
        binding.id: binding.key
        for owner in (TodoAgentApp, Prompt, PlanList)
        for binding in owner.BINDINGS
        if not isinstance(binding, tuple) and binding.id
    }
    assert bound == {action.name: action.keys for action in KEY_ACTIONS}


def test_the_named_keys_are_keys_that_the_screen_library_knows():
    known = {key.value for key in Keys}
    written = {"space", "slash", "backslash", "at", "minus", "plus", "underscore"}
    assert NAMED - written <= known
    assert all(key_problem(key) == "" for action in KEY_ACTIONS for key in action.keys.split(","))


def test_the_defaults_do_not_clash_among_themselves_or_with_what_is_taken():
    assert key_conflict({}) == ""
    assert not {key for action in KEY_ACTIONS for key in action.keys.split(",")} & TAKEN.keys()


@pytest.mark.parametrize("modifier", sorted(MODIFIERS - {"shift"}))
def test_a_letter_needs_a_modifier(modifier):
    assert (
        key_problem("x") == "'x' is for writing; use it with ctrl or alt, or take a key such as f5"
    )
    assert key_problem(f"{modifier}+x") == ""


async def test_a_chosen_key_works_and_the_default_does_not():
    async with screen(StandIn(plan=PLAN), keys={"toggle_plan": "f9,ctrl+y"}) as shown:
        assert shown.app.plan_pane.display
        await shown.press("ctrl+t")
        assert shown.app.plan_pane.display
        await shown.press("f9")
        assert not shown.app.plan_pane.display
        await shown.press("ctrl+y")
        assert shown.app.plan_pane.display


@pytest.mark.parametrize("where", ["prompt", "f3"])
async def test_a_key_of_the_prompt_and_the_plan_is_chosen_for_both(where):
    async with screen(StandIn(plan=PLAN), keys={"next_mode": "f8"}) as shown:
        if where != "prompt":
            await shown.press(where)
        before = shown.session.mode
        await shown.press("shift+tab")
        assert shown.session.mode is before
        await shown.press("f8")
        assert shown.session.mode is not before


async def test_the_help_names_the_chosen_keys():
    async with screen(keys={"toggle_plan": "f9"}, size=(120, 70)) as shown:
        await shown.press("question_mark")
        await shown.shows("Writing")
        rows = [line.split() for line in shown.text().splitlines() if "hide the plan" in line]
        assert [row[1] for row in rows] == ["f9", "/plan"]


async def test_the_help_in_the_plan_begins_with_the_keys_of_the_plan():
    async with screen(StandIn(plan=plan("> fix", ". test")), size=(120, 70)) as shown:
        await shown.press("f3", "question_mark")
        await shown.shows("In the plan")
        text = shown.text()
        assert "Writing" not in text
        assert text.index("Next status") < text.index("Everywhere") < text.index("Commands")


async def test_the_help_in_a_dialog_is_about_the_dialog():
    async with screen(size=(120, 60)) as shown:
        await shown.type("/permissions")
        await shown.press("enter")
        await shown.shows("built in")
        await shown.press("f1")
        await shown.shows("In this dialog")
        assert "Keep in the configuration" in shown.text()
        assert "Everywhere" not in shown.text()
        await shown.press("f1")
        await shown.until(lambda: not isinstance(shown.app.screen, Help))
        await shown.shows("built in")
