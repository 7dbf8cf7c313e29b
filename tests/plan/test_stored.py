"""What is read back from a thread, whatever stands there."""

from __future__ import annotations

import json

import pytest

from tests.plan.support import plan
from todo_agent.agent.state import State
from todo_agent.plan.conduct import Blocked, Ledger
from todo_agent.plan.extra import read_ledger, read_plan, write_ledger, write_plan
from todo_agent.plan.keys import PLAN, PLAN_HISTORY, PLAN_MARKS, is_interrupted
from todo_agent.plan.marks import Marks
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.plan.shapes import Words


def stored(name: str, data: object) -> State:
    return State(json.loads(json.dumps({name: data})))


def test_a_state_without_a_plan_has_an_empty_one():
    assert (State()[PLAN], State()[PLAN_MARKS], State()[PLAN_HISTORY]) == (Plan(), Marks(), ())
    assert not is_interrupted(State())


def test_plan_and_marks_come_back_as_they_were():
    marks = Marks("free", run_open=True, interrupted="a", known=plan("x b"))
    whole = Plan((Todo("a\r\n- b", Status.ACTIVE, "1"), Todo("😀")))
    state = State().apply(PLAN.set(whole) | PLAN_MARKS.set(marks))
    again = State(json.loads(json.dumps(state.to_json())))
    assert (again[PLAN], again[PLAN_MARKS]) == (whole, marks)


@pytest.mark.parametrize("data", [3, "x", [], {}, {"todos": "x"}, {"todos": {}}])
def test_what_is_no_plan_is_read_as_none(data):
    assert stored("plan", data)[PLAN] == Plan()
    assert stored("plan_marks", data)[PLAN_MARKS] == Marks()
    assert stored("plan_history", data)[PLAN_HISTORY] == ()


def test_s0_41_rows_that_are_none_are_left_out_and_odd_ones_read_as_far_as_they_go():
    rows = [None, "x", {"status": "done"}, {"content": "a", "status": "odd", "id": 7}]
    assert stored("plan", {"todos": rows})[PLAN] == plan("a")


def test_s1_51_59_the_list_of_an_extra_dict_is_read_as_far_as_it_goes():
    assert read_plan({}, Words()) is read_plan({"todos": None}, Words()) is None
    rows = [None, {"content": 3}, {"content": "a", "status": "odd"}, {"content": "b"}]
    assert read_plan({"todos": rows}, Words()) == plan("a", "b")


def test_s1_57_the_ledger_is_kept_in_five_keys_and_comes_back():
    extra: dict[str, object] = {}
    ledger = Ledger({"finalization": 3}, Blocked("finalization", "Why?"), stale=2, correction=True)
    write_ledger(extra, ledger)  # type: ignore[arg-type]
    assert extra == {
        "todo_guard_retries": {"finalization": 3},
        "todo_guard_blocked": {"guard": "finalization", "message": "Why?"},
        "todo_guard_suppressed": False,
        "todo_stale_iterations": 2,
        "todo_finalization_correction": True,
    }
    assert read_ledger(extra) == ledger  # type: ignore[arg-type]


@pytest.mark.parametrize("junk", [None, "x", 3, [], {"finalization": "x"}])
def test_s1_59_junk_in_the_ledgers_keys_has_the_neutral_value(junk):
    names = ("todo_guard_retries", "todo_guard_blocked", "todo_guard_suppressed")
    assert read_ledger(dict.fromkeys(names, junk)) == Ledger()


def test_s1_59_keys_are_emptied_and_never_removed():
    extra: dict[str, object] = {}
    write_plan(extra, plan("a"), Words())  # type: ignore[arg-type]
    write_plan(extra, None, Words())  # type: ignore[arg-type]
    assert extra == {"todos": None}
