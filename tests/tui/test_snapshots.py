"""What the main screens look like, cell by cell.

After a change that is meant: `pytest tests/tui/test_snapshots.py --snapshot-update`.
"""

from __future__ import annotations

from typing import Any, cast

import pytest

from tests.tui.stand_in import DIFF, Bench, Info, StandIn, plan
from todo_agent.agent.events import (
    ApprovalRequested,
    TextDelta,
    ThinkingDelta,
    ToolOutput,
    ToolStarted,
)
from todo_agent.agent.messages import Display
from todo_agent.agent.outcomes import Failed, Question
from todo_agent.agent.provider import Usage
from todo_agent.tui.app import TodoAgentApp
from todo_agent.tui.settings import TuiSettings
from todo_agent.tui.themes import ASCII, UNICODE

SIZES = [(120, 40), (80, 24), (40, 12)]
EVERY_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
PLAN = plan(
    "x Read the failing test and the code it covers",
    "x Find where the discount is applied twice",
    "> Fix `apply_discount` so that it runs once per order",
    ". Add a test for stacked discounts",
    ". Run the whole test suite",
    ". Update the changelog",
)
ANSWER = """The discount was applied **twice**: once for the subtotal, once when rounding.

```python
def total(self) -> Decimal:
    return apply_discount(self.subtotal, self.code).quantize(CENT)
```

- `shop/cart.py` now applies it once
- the test expects `90.00` and gets it
"""


class Stage:
    """An app on a stand-in whose scenes are played before the picture is taken."""

    def __init__(self, **settings: Any) -> None:
        self.session = StandIn(cost_usd=0.04)
        infos = (Info("k3x9qa", "Fix the failing checkout test", done=3, total=7),)
        self.app = TodoAgentApp(
            cast("Any", Bench({None: self.session}, infos)),
            thread=None,
            prompt="",
            settings=TuiSettings(animate=False, **settings),
            marks=ASCII if settings.get("ascii") else UNICODE,
            clock=lambda: 0.0,
        )

    def work(self) -> None:
        session = self.session
        session.send("The checkout test fails since yesterday. Find out why and fix it.")
        session.emit(ThinkingDelta("Let me look at the test first."), TextDelta("I'll look.\n"))
        session.set_plan(PLAN)
        session.calls("read", "tests/test_checkout.py", Display("84 lines"))
        failed = Display("exit 1", "E  assert 81 == 90\n1 failed, 11 passed", "output")
        session.calls("shell", "pytest -q", failed, is_error=True)
        session.calls("edit", "shop/cart.py", Display("+3 -2", DIFF, "diff", "shop/cart.py"))
        session.emit(TextDelta(ANSWER))

    def run_tests(self) -> None:
        self.session.emit(ToolStarted("t", "shell", "pytest", {}), ToolOutput("t", "12 passed\n"))

    def finish(self) -> None:
        self.session.usage = Usage(12_000, 900)
        self.session.cost_usd = 0.08
        self.session.now += 74
        self.session.end()

    def ask(self) -> None:
        question = Question(
            "q",
            "The command is not on the allow list.",
            tool="shell",
            title="rm -rf build",
            rule="run rm -rf build",
            preview=Display("", "cd /srv/www && rm -rf \u200bbuild"),
        )
        self.session.emit(ApprovalRequested(question))


def picture(snap_compare, stage: Stage, *scenes, press=(), size=(120, 40)) -> bool:
    async def play(pilot) -> None:
        app = stage.app
        await _until(pilot, lambda: app.session is not None)
        for scene in scenes:
            scene()
            await pilot.pause()
        await _until(pilot, lambda: not app.transcript.busy)
        for key in press:
            await pilot.press(key)
        await _until(pilot, lambda: not app.transcript.busy and not _colouring(app))
        await pilot.pause(0.1)

    return snap_compare(stage.app, run_before=play, terminal_size=size)


def _colouring(app: TodoAgentApp) -> bool:
    return any(w.group == "colours" and not w.is_finished for w in app.workers)


async def _until(pilot, holds) -> None:
    for _ in range(400):
        if holds():
            return
        await pilot.pause(0.005)
    raise AssertionError("it never came")


@EVERY_SIZE
def test_an_empty_thread(snap_compare, size):
    assert picture(snap_compare, Stage(), size=size)


@EVERY_SIZE
def test_a_working_agent(snap_compare, size):
    stage = Stage()
    assert picture(snap_compare, stage, stage.work, stage.run_tests, size=size)


@EVERY_SIZE
def test_a_finished_turn(snap_compare, size):
    stage = Stage()
    assert picture(snap_compare, stage, stage.work, stage.finish, size=size)


@EVERY_SIZE
def test_open_details(snap_compare, size):
    stage = Stage()
    assert picture(snap_compare, stage, stage.work, press=["ctrl+o"], size=size)


@EVERY_SIZE
def test_an_approval(snap_compare, size):
    stage = Stage()
    assert picture(snap_compare, stage, stage.work, stage.ask, size=size)


@EVERY_SIZE
def test_the_plan_in_hand(snap_compare, size):
    stage = Stage()
    assert picture(snap_compare, stage, stage.work, stage.finish, press=["f3", "down"], size=size)


@EVERY_SIZE
def test_commands_on_offer(snap_compare, size):
    assert picture(snap_compare, Stage(), press=["slash", "m"], size=size)


@EVERY_SIZE
def test_queued_messages(snap_compare, size):
    stage = Stage()

    def queue() -> None:
        stage.session.send("also fix the docs")
        stage.session.send("and the changelog,\nplease")

    assert picture(snap_compare, stage, stage.work, queue, size=size)


@EVERY_SIZE
def test_the_help(snap_compare, size):
    assert picture(snap_compare, Stage(), press=["question_mark"], size=size)


@EVERY_SIZE
def test_a_failure(snap_compare, size):
    stage = Stage()

    def fail() -> None:
        stage.session.end(Failed("The API refused the key (401).", kind="auth"))

    assert picture(snap_compare, stage, stage.work, fail, size=size)


def test_the_light_theme(snap_compare):
    stage = Stage(theme="todo-agent-light")
    assert picture(snap_compare, stage, stage.work, stage.finish)


def test_a_theme_of_textual(snap_compare):
    stage = Stage(theme="nord")
    assert picture(snap_compare, stage, stage.work, stage.finish)


def test_ascii_only(snap_compare):
    stage = Stage(ascii=True)
    assert picture(snap_compare, stage, stage.work, stage.finish)
