from __future__ import annotations

import pytest

from tests.tui.stand_in import StandIn, plan
from tests.tui.support import screen
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.tui.themes import UNICODE
from todo_agent.tui.widgets.plan_pane import PlanPane

THREE = plan("x read", "> fix", ". test")


async def test_the_plan_is_beside_the_conversation_from_100_columns_on():
    async with screen(StandIn(plan=THREE), size=(100, 30)) as shown:
        text = shown.text()
        assert "1/3" in text
        for row in ("✓ read", "‖ fix", "○ test"):
            assert row in text
        assert not shown.app.plan_strip.display


async def test_it_is_a_strip_below_100_columns_and_opens():
    async with screen(StandIn(plan=THREE), size=(99, 30)) as shown:
        assert "‖ fix" in shown.text()
        assert "○ test" not in shown.text()
        await shown.press("ctrl+t")
        await shown.shows("○ test")
        await shown.press("f2")
        await shown.until(lambda: "○ test" not in shown.text())


async def test_there_is_no_pane_without_a_plan_and_one_as_soon_as_there_is():
    async with screen() as shown:
        assert not shown.app.plan_pane.display
        shown.session.begin("go")
        shown.session.set_plan(THREE)
        await shown.shows("▶ fix")


async def test_the_command_shows_and_hides_it_while_the_agent_works():
    async with screen(StandIn(plan=THREE)) as shown:
        shown.session.send("x")
        for there in (False, True):
            await shown.type("/plan")
            await shown.press("enter")
            await shown.until(lambda there=there: ("○ test" in shown.text()) is there)


async def test_it_can_stay_hidden_by_a_setting():
    async with screen(StandIn(plan=THREE), plan_visible=False) as shown:
        assert "○ test" not in shown.text()


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (120, 40)])
async def test_a_long_plan_never_pushes_out_the_rest(size):
    rows = [
        *(f"x step {n}" for n in range(90)),
        "> step 90",
        *(f". step {n}" for n in range(91, 200)),
    ]
    async with screen(StandIn(plan=plan(*rows)), size=size) as shown:
        await shown.press("f3")
        await shown.shows("step 90")
        assert shown.app.transcript.size.height >= 3
        assert shown.app.prompt.region.bottom <= size[1]
        await shown.press("escape")
        await shown.shows("more ↓")


async def test_a_word_longer_than_the_pane_is_broken_and_cut():
    async with screen(StandIn(plan=Plan((Todo("x" * 5000, Status.ACTIVE),)))) as shown:
        await shown.shows("…")
        lines = [line for line in shown.text().splitlines() if "xxxx" in line]
        assert len(lines) == 4


async def test_many_lines_are_one_row_until_it_is_opened():
    async with screen(StandIn(plan=Plan((Todo("Fix bug\nAdd tests"),)))) as shown:
        assert "○ Fix bug …" in shown.text()
        assert "Add tests" not in shown.text()
        await shown.press("f3", "o")
        await shown.shows("Add tests")


async def test_the_time_of_the_current_todo_shows_while_the_agent_works():
    now = [0.0]
    async with screen(StandIn(plan=THREE), clock=lambda: now[0]) as shown:
        await shown.shows("paused")
        shown.session.send("x")
        await shown.until(lambda: shown.app.status.activity == "working")
        now[0] = 125.0
        await shown.shows("2m 05s")


async def test_the_last_change_is_named_below():
    async with screen(StandIn(plan=THREE)) as shown:
        shown.session.set_plan(plan("x read", "x fix", "> test", ". docs"))
        await shown.shows("+1, 1 done")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("space",), plan("x read", "x fix", ". test")),
        (("down", "space"), plan("x read", "> fix", "> test")),
        (("d",), plan("x read", ". test")),
        (("J",), plan("x read", ". test", "> fix")),
        (("K",), plan("> fix", "x read", ". test")),
        (("home", "K"), THREE),
        (("x",), Plan()),
        (("e", "!", "enter"), plan("x read", "> fix!", ". test")),
        (("a", "n", "e", "w", "enter"), plan("x read", "> fix", ". new", ". test")),
        (("a", "escape"), THREE),
    ],
)
async def test_it_is_edited_by_keys(keys, expected):
    async with screen(StandIn(plan=THREE)) as shown:
        await shown.press("f3")
        await shown.press(*keys)
        await shown.until(lambda: shown.session.plan == expected)


async def test_a_refused_edit_says_why_and_changes_nothing():
    async with screen(StandIn(plan=THREE, refuses_plans="[/] too many todos")) as shown:
        await shown.press("f3", "d")
        await shown.shows("[/] too many todos")
        assert shown.session.plan == THREE


async def test_what_is_done_folds_into_one_line_and_the_cursor_skips_it():
    todos = plan("x read", "x fix", "> test", "x docs", ". ship")
    async with screen(StandIn(plan=todos)) as shown:
        await shown.press("f3", "f")
        await shown.shows("✓ 3 done")
        assert not any(done in shown.text() for done in ("read", "fix", "docs"))
        await shown.press("down")
        assert shown.app.plan_pane.todos.cursor == 4
        await shown.press("home")
        assert shown.app.plan_pane.todos.cursor == 2
        await shown.press("f")
        await shown.shows("✓ docs")


async def test_a_plan_that_is_all_done_and_folded_has_nothing_to_edit():
    async with screen(StandIn(plan=plan("x read", "x fix"))) as shown:
        await shown.press("f3", "f", "d", "space", "e")
        await shown.shows("✓ 2 done")
        assert shown.session.plan == plan("x read", "x fix")


async def test_a_change_is_undone_by_a_key_and_by_a_command():
    async with screen(StandIn(plan=THREE)) as shown:
        await shown.press("f3", "x")
        await shown.until(lambda: shown.session.plan == Plan())
        await shown.type("/todo undo")
        await shown.press("escape")
        shown.app.prompt.focus()
        await shown.press("enter")
        await shown.until(lambda: shown.session.plan == THREE)
        assert shown.session.plan_history[-1].by == "restore"


async def test_an_earlier_version_is_looked_at_and_brought_back():
    async with screen(StandIn(plan=THREE)) as shown:
        shown.session.set_plan(plan("x read", "x fix", "> test"))
        shown.session.set_plan(plan("x read", "x fix", "x test", ". ship it"))
        await shown.press("f3", "h")
        await shown.shows("Versions of the plan")
        text = shown.text()
        assert "+1, 1 done" in text
        assert "you" not in text
        await shown.press("down")
        await shown.shows("○ test")
        await shown.press("enter")
        await shown.until(lambda: shown.session.plan == THREE)


async def test_a_plan_without_a_past_says_so():
    async with screen(StandIn(plan=THREE)) as shown:
        await shown.press("f3", "u")
        await shown.shows("no earlier version")
        await shown.press("h")
        await shown.shows("no versions yet")


async def test_tab_goes_round():
    async with screen(StandIn(plan=THREE)) as shown:
        await shown.press("tab")
        assert shown.app.plan_pane.todos.has_focus
        await shown.press("tab")
        assert shown.app.transcript.has_focus
        await shown.press("tab")
        assert shown.app.prompt.has_focus


async def test_the_pane_can_stand_on_the_left():
    async with screen(StandIn(plan=THREE), plan_side="left", plan_width=30) as shown:
        assert shown.app.plan_pane.region.x == 0
        assert shown.app.plan_pane.region.width == 30
        assert shown.app.transcript.region.x == 30


def test_the_pane_needs_no_session():
    assert PlanPane(UNICODE).plan == Plan()
