"""A plan of one discipline, taken over by another."""

from __future__ import annotations

import pytest

from tests.plan.support import plan, texts
from todo_agent.plan.conversion import convert
from todo_agent.plan.disciplines import DISCIPLINES, FREE, GUARDED, SEQUENTIAL
from todo_agent.plan.plan import Plan, Todo


def test_a_sequential_plan_becomes_guarded_without_a_word():
    steps = plan("x a", "> b", "c")
    assert convert(steps, GUARDED) == (steps, ())


def test_several_in_progress_become_one_and_it_is_said():
    before = plan("> a", "x b", "> c")
    assert convert(before, GUARDED) == (plan("> a", "x b", "c"), ('"c" is pending now.',))


def test_an_order_that_sequential_does_not_know_is_changed_and_said():
    after, notes = convert(plan("a", "> b", "x c"), SEQUENTIAL)
    assert texts(after) == ["x c", "> b", "a"]
    assert notes == ("The todos were reordered: done, in progress, pending.",)


def test_todos_get_ids_and_lose_them():
    with_ids, notes = convert(plan("a", "a"), FREE)
    assert notes == ()
    assert len({todo.id for todo in with_ids} - {None}) == 2
    without, notes = convert(Plan((Todo("> a", id="1"),)), SEQUENTIAL)
    assert notes == ('"> a" is in_progress now.', "The todos have no ids any more.")
    assert [todo.id for todo in without] == [None]


@pytest.mark.parametrize("discipline", DISCIPLINES.values(), ids=DISCIPLINES)
def test_no_todo_and_no_content_is_lost(discipline):
    before = plan("> a", "b" * 5000, "x a", " c ", *(str(n) for n in range(120)))
    after, _ = convert(before, discipline)
    assert sorted(todo.content for todo in after) == sorted(todo.content for todo in before)
    assert after.done == before.done


def test_many_changes_are_counted_instead_of_named():
    _, notes = convert(plan(*(f"> {n}" for n in range(9))), GUARDED)
    assert len(notes) == 6
    assert notes[-1] == "So it is with 3 more."
