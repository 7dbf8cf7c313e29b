"""A plan written under one discipline, taken over by another."""

from __future__ import annotations

from dataclasses import replace

from todo_agent.plan.discipline import Discipline
from todo_agent.plan.identity import NoIds
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.plan.rules import done_then_active_then_pending, one_active_unless_done


def convert(plan: Plan, to: Discipline) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan as the discipline can hold it, and what had to change, in sentences.

    Contents beyond the limits are kept: the limits judge only what is written next (S0-42).
    """
    todos = plan.todos
    notes: list[str] = []
    if done_then_active_then_pending in to.rules and done_then_active_then_pending(None, todos):
        order = {Status.DONE: 0, Status.ACTIVE: 1, Status.PENDING: 2}
        todos = tuple(sorted(todos, key=lambda todo: order[todo.status]))
        notes.append("Finished todos were moved to the front.")
    needs_one = {one_active_unless_done, done_then_active_then_pending} & set(to.rules)
    if needs_one and one_active_unless_done(None, todos):
        todos = _one_active(todos)
        notes.append("Exactly one todo is in progress now: the first open one.")
    if not isinstance(to.identity, NoIds) or any(todo.id for todo in todos):
        todos = to.identity.assign(plan, todos).todos
    return Plan(todos), tuple(notes)


def _one_active(todos: tuple[Todo, ...]) -> tuple[Todo, ...]:
    active = next(
        (i for i, todo in enumerate(todos) if todo.status is Status.ACTIVE),
        next(i for i, todo in enumerate(todos) if todo.status is Status.PENDING),
    )
    return tuple(
        todo
        if todo.status is Status.DONE
        else replace(todo, status=Status.ACTIVE if i == active else Status.PENDING)
        for i, todo in enumerate(todos)
    )
