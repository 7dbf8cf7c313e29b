"""The main screens and the designed states, each played on a stand-in."""

from __future__ import annotations

from tests.tui.stand_in import DIFF, Info
from tests.tui.support import Screen
from tests.tui.test_snapshots import ANSWER, PLAN
from todo_agent.agent.events import (
    ApprovalRequested,
    Compacted,
    QuestionAsked,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolOutput,
    ToolStarted,
    Warned,
)
from todo_agent.agent.messages import Display
from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import Blocked, Failed, Interrupted, Question
from todo_agent.agent.provider import Usage
from todo_agent.middleware.rules import Decision, Rule

TASK = "The checkout test fails since yesterday. Find out why and fix it."


async def empty(shown: Screen) -> None:
    """A thread without a word."""


async def working(shown: Screen) -> None:
    """The agent works off its plan."""
    session = shown.session
    session.send(TASK)
    session.emit(ThinkingDelta("Let me look at the test first."), TextDelta("I'll look.\n"))
    session.set_plan(PLAN)
    session.calls("read", "tests/test_checkout.py", Display("84 lines"))
    failed = Display("exit 1", "E  assert 81 == 90\n1 failed, 11 passed", "output")
    session.calls("shell", "pytest -q", failed, is_error=True)
    session.calls("edit", "shop/cart.py", Display("+3 -2", DIFF, "diff", "shop/cart.py"))
    session.emit(TextDelta(ANSWER))
    session.emit(ToolStarted("t", "shell", "pytest", {}), ToolOutput("t", "12 passed\n"))
    await shown.shows("12 passed")


async def details(shown: Screen) -> None:
    """Every call is open."""
    await working(shown)
    await shown.press("ctrl+o")


async def finished(shown: Screen) -> None:
    """The turn is over, with open todos."""
    await working(shown)
    shown.session.usage, shown.session.cost_usd = Usage(12_000, 900), 0.08
    shown.session.now += 74
    shown.session.end()
    await shown.shows("Stopped with")


async def plan_in_hand(shown: Screen) -> None:
    """The plan has the keys."""
    await finished(shown)
    await shown.press("f3", "down")


async def queued(shown: Screen) -> None:
    """Two messages wait for the next step."""
    await working(shown)
    shown.session.send("also fix the docs")
    shown.session.send("and the changelog,\nplease")


async def completions(shown: Screen) -> None:
    """Commands are on offer."""
    await shown.press("slash", "m")


async def approval_of_a_command(shown: Screen) -> None:
    """A command waits for a yes."""
    await working(shown)
    question = Question(
        "q",
        "The command is not on the allow list.",
        tool="shell",
        title="rm -rf build",
        rule="run rm -rf build",
        preview=Display("", "cd /srv/www && rm -rf \u200bbuild"),
    )
    shown.session.emit(ApprovalRequested(question))
    await shown.shows("Allow shell?")


async def approval_of_a_diff(shown: Screen) -> None:
    """A change of a file waits for a yes."""
    await working(shown)
    preview = Display("+3 -2", DIFF, "diff", "shop/cart.py")
    question = Question(
        "q", "This would write shop/cart.py.", tool="edit", title="shop/cart.py", preview=preview
    )
    shown.session.emit(ApprovalRequested(question))
    await shown.shows("Allow edit?")


async def question(shown: Screen) -> None:
    """The agent asks."""
    await working(shown)
    choices = ("once per order", "once per line", "as the customer likes")
    asked = Question("q", "When does the discount count?", kind="question", choices=choices)
    shown.session.emit(QuestionAsked(asked))
    await shown.shows("When does")


async def picker(shown: Screen) -> None:
    """A thread is picked."""
    shown.bench.infos = (
        Info("k3x9qa", "Fix the failing checkout test", done=3, total=7),
        Info("a81jd2", "Write the release notes", damaged=True),
    )
    await shown.type("/threads")
    await shown.press("enter")
    await shown.shows("Write the release notes")


async def config_form(shown: Screen) -> None:
    """The settings are open."""
    shown.app.configuring.open_form()
    await shown.shows("Settings")
    await shown.shows("max_tokens")
    await shown.press("down", "down")


async def wrong_setting(shown: Screen) -> None:
    """A setting is refused."""
    await config_form(shown)
    await shown.press(*"plan_width", "enter", "x", "enter")
    await shown.shows("It must be")


async def permissions(shown: Screen) -> None:
    """The rules are open."""
    shown.session.granted_rules = (
        Rule(Decision.ALLOW, "run", "make lint"),
        Rule(Decision.ASK, "write", "docs/**"),
        Rule(Decision.DENY, "read", ".env"),
    )
    await shown.type("/permissions")
    await shown.press("enter")
    await shown.shows("built in")


async def keys_help(shown: Screen) -> None:
    """The keys are listed."""
    await shown.press("question_mark")
    await shown.pilot.pause()


async def welcome(shown: Screen) -> None:
    """There is no model to ask yet."""
    shown.app.connecting.open()
    await shown.shows("How do you want to begin?")


async def key_is_entered(shown: Screen) -> None:
    """A key is typed."""
    await welcome(shown)
    await shown.press("2", *"sk-secret")


async def rate_limited(shown: Screen) -> None:
    """The server wants a pause."""
    shown.session.send(TASK)
    shown.session.emit(RetryScheduled(1, 12.0, "The API is busy (429 rate_limit_error)."))
    await shown.shows("Attempt 2")


async def no_network(shown: Screen) -> None:
    """No server answers."""
    shown.session.send(TASK)
    shown.session.end(Failed("api.anthropic.com cannot be reached.", kind="connection"))
    await shown.shows("cannot be reached")


async def refused_key(shown: Screen) -> None:
    """The key is refused."""
    shown.session.send(TASK)
    shown.session.end(Failed("The API refused the key (401).", kind="auth"))
    await shown.shows("refused the key")


async def interrupted(shown: Screen) -> None:
    """The person stopped the run."""
    await working(shown)
    shown.session.end(Interrupted())
    await shown.shows("interrupted after")


async def blocked(shown: Screen) -> None:
    """A middleware refused the message."""
    shown.session.send(TASK)
    shown.session.end(Blocked("policy", "no names of customers.", "input"))
    await shown.shows("refused by policy")


async def read_only(shown: Screen) -> None:
    """The thread is in use elsewhere."""
    shown.session.read_only = True
    shown.app.show_vitals()
    await shown.shows("read-only")


async def unsaved(shown: Screen) -> None:
    """The disk is full."""
    shown.session.unsaved_reason = "No space left on device"
    shown.session.emit(Warned("Not saved: No space left on device. Trying again.", code="unsaved"))
    await shown.shows("not saved")


async def context_nearly_full(shown: Screen) -> None:
    """The model's context is nearly full."""
    shown.session.context_tokens = 186_000
    shown.session.mode = Mode.AUTO
    shown.session.emit(Compacted(186_000, 24_000, 40))
    shown.app.show_vitals()
    await shown.shows("93% of")


async def context_filling(shown: Screen) -> None:
    """The context fills, in plan mode."""
    shown.session.context_tokens = 160_000
    shown.session.mode = Mode.PLAN
    shown.app.show_vitals()
    await shown.shows("80% of")


async def accepting_edits(shown: Screen) -> None:
    """Edits are free, and a command runs in the background."""
    shown.session.mode = Mode.ACCEPT_EDITS
    shown.session.background = (("job-1", "make serve", None),)
    shown.session.scripted = True
    shown.app.show_vitals()
    await shown.shows("accept-edits")


SCENES = (
    empty,
    working,
    details,
    finished,
    plan_in_hand,
    queued,
    completions,
    approval_of_a_command,
    approval_of_a_diff,
    question,
    picker,
    config_form,
    wrong_setting,
    permissions,
    keys_help,
    welcome,
    key_is_entered,
    rate_limited,
    no_network,
    refused_key,
    interrupted,
    blocked,
    read_only,
    unsaved,
    context_nearly_full,
    context_filling,
    accepting_edits,
)
