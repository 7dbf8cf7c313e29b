"""How the guard judges rounds, beyond what the vectors show."""

from __future__ import annotations

import pytest

from tests.plan.support import plan
from todo_agent.plan.conduct import Guarded, Ledger, Round, Ruling, Silent

OPEN = plan("x a", "> b", "c")
ASKING = Guarded(questions_end_turns=True)


@pytest.mark.parametrize("text", ["Which one?", "Which *one?*\n", "“Which one?”", "どれ？", "أي؟ "])
def test_an_answer_that_asks_is_corrected_once_and_then_ends_the_run(text):
    ruling, ledger = ASKING.after_model(Round(text), OPEN, Ledger())
    assert (ruling.decision, ledger.strikes) == ("again", 1)
    assert ASKING.after_model(Round(text), OPEN, ledger) == (Ruling(), Ledger())


def test_an_answer_that_asks_nothing_is_corrected_again():
    ruling, ledger = ASKING.after_model(Round("Is it? Yes."), OPEN, Ledger({"finalization": 1}))
    assert (ruling.decision, ledger.strikes) == ("again", 2)


def test_by_default_a_question_is_an_answer_like_any_other():
    ruling, _ = Guarded().after_model(Round("Well?"), OPEN, Ledger({"finalization": 1}))
    assert ruling.decision == "again"


def test_s1_20_the_correction_names_what_is_open():
    ruling, _ = Guarded().after_model(Round("Done."), OPEN, Ledger())
    assert ruling.inject == (
        'You answered, but 2 of 3 todos are open: "b"; "c". Finish the work, or update the list '
        "with the tool if something is done or no longer needed."
    )


def test_many_and_long_open_todos_are_named_shortly():
    ruling, _ = Guarded().after_model(Round("Done."), plan(*["x" * 5000] * 40), Ledger())
    assert "and 35 more" in ruling.inject
    assert len(ruling.inject) < 800


def test_an_answer_is_not_final_while_a_person_has_typed_something():
    ruling, ledger = Guarded().after_model(Round("Done.", steered=True), OPEN, Ledger())
    assert (ruling, ledger) == (Ruling(), Ledger())


def test_s1_24_a_blank_answer_is_a_clean_round():
    ruling, ledger = Guarded().after_model(Round(" "), OPEN, Ledger({"finalization": 2}))
    assert (ruling, ledger) == (Ruling(), Ledger())


def test_s1_28_the_end_of_a_blocked_episode_says_what_stays_open():
    _, blocked = Guarded().after_model(Round("Done."), OPEN, Ledger({"finalization": 2}))
    ruling, ledger = Guarded().after_model(Round("I cannot."), OPEN, blocked)
    assert ruling == Ruling("stop", reason="Stopped with 2 of 3 todos open.")
    assert ledger == Ledger(suppressed=True)


def test_s1_40_threshold_and_interval_are_parameters():
    conduct, ledger, reminded = Guarded(stale_threshold=2, stale_interval=3), Ledger(), []
    for number in range(1, 10):
        ruling, ledger = conduct.after_model(Round(others=1), OPEN, ledger)
        reminded += [number] if ruling.inject else []
    assert reminded == [2, 5, 8]


def test_s0_49_a_silent_conduct_lets_everything_pass():
    for round_ in (Round("Done."), Round(others=1), Round(writes=2)):
        assert Silent().after_model(round_, OPEN, Ledger()) == (Ruling(), Ledger())
