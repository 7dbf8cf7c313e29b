"""Which todo of a new list is which of the old one."""

from __future__ import annotations

from itertools import count

from todo_agent.plan.identity import ByClaim, NoIds
from todo_agent.plan.plan import Plan, Todo


def numbered() -> ByClaim:
    numbers = count(1)
    return ByClaim(lambda: f"n{next(numbers)}")


def ids(plan: Plan) -> list[str | None]:
    return [todo.id for todo in plan]


def stored(**todos: str) -> Plan:
    return Plan(tuple(Todo(content, id=id_) for id_, content in todos.items()))


def test_s0_12_an_explicit_id_claims_before_an_earlier_equal_content():
    draft = (Todo("a"), Todo("a", id="s1"))
    assert ids(numbered().assign(stored(s1="a"), draft)) == ["n1", "s1"]


def test_s0_11_a_todo_claimed_and_renamed_no_longer_stands_for_its_old_content():
    draft = (Todo("b", id="s1"), Todo("a"))
    assert ids(numbered().assign(stored(s1="a"), draft)) == ["s1", "n1"]


def test_s0_13_equal_contents_take_the_stored_ones_in_order():
    draft = (Todo("a"), Todo("a"), Todo("a"))
    assert ids(numbered().assign(stored(s1="a", s2="a"), draft)) == ["s1", "s2", "n1"]


def test_s0_16_a_fresh_id_is_none_that_is_in_use():
    source = iter(["s1", "s2", "s1", "new"])
    draft = (Todo("x"), Todo("y", id="s2"))
    assert ids(ByClaim(lambda: next(source)).assign(stored(s1="a", s2="b"), draft)) == ["new", "s2"]


def test_of_two_todos_with_one_id_the_first_keeps_it():
    draft = (Todo("a", id="s1"), Todo("b", id="s1"))
    assert ids(numbered().assign(stored(s1="a"), draft)) == ["s1", "n1"]


def test_without_ids_every_id_is_dropped():
    assert NoIds().assign(None, (Todo("a", id="s1"),)) == Plan((Todo("a"),))
