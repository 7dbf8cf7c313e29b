"""A plan written under one discipline, taken over by another."""

from __future__ import annotations

from collections import Counter

from todo_agent.plan.discipline import Discipline
from todo_agent.plan.identity import NoIds
from todo_agent.plan.plan import Draft, Plan

MAX_NAMED = 5


def convert(plan: Plan, to: Discipline) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan as the discipline can hold it, and what had to change, in sentences.

    No todo and no content is lost. Contents beyond the limits are kept: the limits judge
    only what is written next (S0-42).
    """
    todos = to.tidy(plan, plan.todos)
    notes = [*_moved(plan.todos, todos), *_with_another_status(plan.todos, todos)]
    if isinstance(to.identity, NoIds) and any(todo.id for todo in todos):
        notes.append("The todos have no ids any more.")
    return to.identity.assign(plan, todos), tuple(notes)


def _moved(before: Draft, after: Draft) -> tuple[str, ...]:
    if [todo.content for todo in before] == [todo.content for todo in after]:
        return ()
    return ("The todos were reordered: done, in progress, pending.",)


def _with_another_status(before: Draft, after: Draft) -> tuple[str, ...]:
    changed = list((Counter(after) - Counter(before)).elements())
    named = [f'"{t.content}" is {t.status.value} now.' for t in changed[:MAX_NAMED]]
    more = len(changed) - len(named)
    return (*named, *([f"So it is with {more} more."] if more else []))
