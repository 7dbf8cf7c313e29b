"""What becomes of the other todos when a person touches one."""

from __future__ import annotations

import pytest

from tests.plan.support import plan, texts
from todo_agent.plan.discipline import Discipline
from todo_agent.plan.disciplines import FREE, GUARDED, SEQUENTIAL
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.plan.refusal import Refusal

BEFORE = ("x a", "> b", "c", "d")


def edited(discipline: Discipline, *wanted: str, before: tuple[str, ...] = BEFORE) -> list[str]:
    written = discipline.edit(plan(*before), plan(*wanted))
    assert isinstance(written, Plan)
    return texts(written)


def test_a_free_plan_is_as_the_person_left_it():
    assert edited(FREE, "> a", "> b", "x c", "d") == ["> a", "> b", "x c", "d"]


@pytest.mark.parametrize(
    ("wanted", "becomes"),
    [
        (("x a", "x b", "c", "d"), ["x a", "x b", "> c", "d"]),
        (("x a", "> b", "> c", "d"), ["x a", "b", "> c", "d"]),
        (("x a", "> b", "c", "x d"), ["x a", "> b", "c", "x d"]),
        (("x a", "c", "d"), ["x a", "> c", "d"]),
        (("x a", "b", "c", "d"), ["x a", "> b", "c", "d"]),
        (("x a", "x b", "x c", "x d"), ["x a", "x b", "x c", "x d"]),
        ((), []),
    ],
)
def test_a_guarded_plan_keeps_exactly_one_in_progress(wanted, becomes):
    assert edited(GUARDED, *wanted) == becomes


@pytest.mark.parametrize(
    ("wanted", "becomes"),
    [
        (("x a", "> b", "c", "x d"), ["x a", "x d", "> b", "c"]),
        (("x a", "> b", "c", "> d"), ["x a", "> d", "b", "c"]),
        (("a", "> b", "c", "d"), ["> b", "a", "c", "d"]),
        (("new", "x a", "> b", "c", "d"), ["x a", "> b", "new", "c", "d"]),
        ((), []),
    ],
)
def test_a_sequential_plan_keeps_its_order_of_statuses(wanted, becomes):
    assert edited(SEQUENTIAL, *wanted) == becomes


def test_an_edit_is_held_to_contents_and_limits():
    assert isinstance(GUARDED.edit(Plan(), plan(" ")), Refusal)
    refusal = SEQUENTIAL.edit(Plan(), plan("x" * 4001))
    assert refusal == Refusal("too_long", "todos[0].content has 4001 characters; the most is 4000.")
    assert SEQUENTIAL.edit(Plan(), plan("  a ")) == plan("> a")


def test_what_was_over_a_limit_before_may_stay_but_not_grow():
    before = Plan(tuple(Todo("x" * 500 + str(i), id=str(i)) for i in range(60)))
    ticked = Plan((Todo(before.todos[0].content, Status.DONE, "0"), *before.todos[1:]))
    assert FREE.edit(before, ticked) == ticked
    longer = FREE.edit(before, Plan((*before.todos, Todo("one more"))))
    assert longer == Refusal("too_many", "61 todos are too many; the most is 50.")


def test_a_todo_that_is_brought_back_has_its_old_id():
    before, earlier = Plan((Todo("a", id="1"),)), Plan((Todo("a", id="1"), Todo("b", id="2")))
    assert FREE.edit(before, earlier) == earlier


def test_a_write_from_outside_a_run_is_judged_by_shape_and_rules_alike():
    assert GUARDED.write(None, {"todos": "x"}) == GUARDED.shape.parse({"todos": "x"})
    rows = [{"content": "a", "status": "in_progress"}]
    assert GUARDED.write(None, {"todos": rows}) == plan("> a")
