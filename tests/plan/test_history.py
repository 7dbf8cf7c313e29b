"""The versions of a plan, and what changed between them."""

from __future__ import annotations

import json

from tests.plan.support import plan
from todo_agent.plan.history import (
    MAX_CHARS,
    MAX_VERSIONS,
    Difference,
    History,
    Version,
    difference,
    history_from_json,
    history_to_json,
    with_version,
)
from todo_agent.plan.plan import Plan, Status, Todo


def test_todos_with_ids_are_followed_through_every_change():
    before = Plan((Todo("a", id="1"), Todo("b", id="2"), Todo("c", id="3")))
    after = Plan((Todo("c", Status.DONE, "3"), Todo("A", id="1"), Todo("d", id="4")))
    changes = difference(before, after)
    assert changes.sentences() == (
        'added "d"',
        'dropped "b"',
        'changed "a" to "A"',
        'set "c" to done',
        "put the todos into another order",
    )


def test_todos_without_ids_are_matched_by_their_content():
    changes = difference(plan("a", "a", "b"), plan("a", "> b"))
    assert changes == Difference(
        dropped=(Todo("a"),), moved=((Todo("b", Status.ACTIVE), Status.PENDING),)
    )


def test_equal_plans_differ_in_nothing():
    assert not difference(plan("a", "a"), plan("a", "a"))


def versions(*plans: Plan) -> History:
    history: History = ()
    for at, version in enumerate(plans):
        history = with_version(history, Version(version, "model", float(at)))
    return history


def test_a_version_that_changes_nothing_is_none():
    assert [v.at for v in versions(plan("a"), plan("a"), plan("x a"), plan("a"))] == [0, 2, 3]


def test_the_history_is_bounded_in_number():
    history = versions(*(plan(str(n)) for n in range(MAX_VERSIONS + 5)))
    assert [v.at for v in history] == [float(n) for n in range(5, MAX_VERSIONS + 5)]


def test_the_history_is_bounded_in_size_and_keeps_the_last_version_whatever_its_size():
    small, large = plan("x" * (MAX_CHARS // 2)), plan("y" * MAX_CHARS * 2)
    assert [v.plan for v in versions(small, large)] == [large]
    assert len(versions(small, plan("z" * (MAX_CHARS // 2)))) == 2


def test_a_history_is_stored_with_each_content_once_and_comes_back_whole():
    history = (
        Version(Plan((Todo("é\n", Status.ACTIVE, "1"), Todo("b"))), "model", 1.5),
        Version(Plan((Todo("é\n", Status.DONE, "1"),)), "user", 2.0),
        Version(Plan(), "restore", 3.0),
    )
    data = json.loads(json.dumps(history_to_json(history)))
    assert data["contents"] == ["é\n", "b"]
    assert history_from_json(data) == history


def test_what_is_no_version_is_left_out():
    good = {"by": "user", "at": 1, "todos": [[0, "done", None]]}
    bad = [
        None,
        {"by": "nobody", "at": 1, "todos": []},
        {"by": "user", "at": "x", "todos": []},
        {"by": "user", "at": 1, "todos": [[7, "done", None]]},
        {"by": "user", "at": 1, "todos": [[0, "gone", None]]},
        {"by": "user", "at": 1, "todos": "x"},
    ]
    data = {"contents": ["a"], "versions": [*bad, good]}
    assert history_from_json(data) == (Version(plan("x a"), "user", 1),)
    assert history_from_json(None) == history_from_json({"versions": []}) == ()
