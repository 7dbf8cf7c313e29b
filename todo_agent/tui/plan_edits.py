"""Edits of a plan by hand. Pure functions: a plan in, a plan out."""

from __future__ import annotations

from dataclasses import replace

from todo_agent.plan.plan import Plan, Status, Todo

NEXT = {
    Status.PENDING: Status.ACTIVE,
    Status.ACTIVE: Status.DONE,
    Status.DONE: Status.PENDING,
}


def added(plan: Plan, content: str, *, at: int | None = None) -> Plan:
    """Return the plan with one more pending todo, at an index or at the end."""
    todos = list(plan.todos)
    todos.insert(len(todos) if at is None else at, Todo(content, Status.PENDING))
    return Plan(tuple(todos))


def reworded(plan: Plan, index: int, content: str) -> Plan:
    """Return the plan with another text for one todo."""
    return _with(plan, index, replace(plan.todos[index], content=content))


def with_status(plan: Plan, index: int, status: Status) -> Plan:
    """Return the plan with another status for one todo."""
    return _with(plan, index, replace(plan.todos[index], status=status))


def with_next_status(plan: Plan, index: int) -> Plan:
    """Return the plan with the next status for one todo: pending, in progress, done."""
    return with_status(plan, index, NEXT[plan.todos[index].status])


def dropped(plan: Plan, index: int) -> Plan:
    """Return the plan without one todo."""
    return Plan(plan.todos[:index] + plan.todos[index + 1 :])


def moved(plan: Plan, index: int, to: int) -> Plan:
    """Return the plan with one todo at another place."""
    todos = list(plan.todos)
    todos.insert(to, todos.pop(index))
    return Plan(tuple(todos))


def _with(plan: Plan, index: int, todo: Todo) -> Plan:
    return Plan((*plan.todos[:index], todo, *plan.todos[index + 1 :]))
