"""Brings a list made by hand, or under another discipline, into a form the model can go on from.

A person ticks, adds and moves todos one at a time. What they touched stays as they left it;
the statuses of the others follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from todo_agent.plan.plan import Draft, Plan, Status

Tidy: TypeAlias = Callable[[Plan, Draft], Draft]
"""Takes the plan there was and the list that is wanted."""
ORDER = {Status.DONE: 0, Status.ACTIVE: 1, Status.PENDING: 2}


def as_it_is(previous: Plan, wanted: Draft) -> Draft:
    """Every list will do."""
    return wanted


def one_active(previous: Plan, wanted: Draft) -> Draft:
    """Unless all are done, have exactly one in progress (S1-07).

    Of several, the one that was not in progress before stays; without any, the first
    pending one is taken up.
    """
    active = [i for i, todo in enumerate(wanted) if todo.status is Status.ACTIVE]
    pending = [i for i, todo in enumerate(wanted) if todo.status is Status.PENDING]
    if len(active) == 1 or not (active or pending):
        return wanted
    before = {todo.content for todo in previous if todo.status is Status.ACTIVE}
    fresh = [i for i in active if wanted[i].content not in before]
    chosen = (fresh or active or pending)[0]
    return tuple(
        todo
        if todo.status is Status.DONE
        else replace(todo, status=Status.ACTIVE if i == chosen else Status.PENDING)
        for i, todo in enumerate(wanted)
    )


def in_order(previous: Plan, wanted: Draft) -> Draft:
    """Put the done ones first, then the one in progress, then the pending ones (S2-09)."""
    return tuple(sorted(one_active(previous, wanted), key=lambda todo: ORDER[todo.status]))
