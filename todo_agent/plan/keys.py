"""Where the plan stands in a thread's state, and how it looks there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from todo_agent.agent.json import Json
from todo_agent.agent.state import Key, State
from todo_agent.plan.history import History, history_from_json, history_to_json
from todo_agent.plan.marks import Marks
from todo_agent.plan.plan import Plan, Status, Todo

STATUSES = {status.value: status for status in Status}


def plan_to_json(plan: Plan) -> Json:
    """Return the plan as JSON: rows of id, content and status."""
    return {
        "todos": [
            {"id": todo.id, "content": todo.content, "status": todo.status.value} for todo in plan
        ]
    }


def plan_from_json(data: Json) -> Plan:
    """Return the stored plan; rows that are none are left out, whatever wrote them (S0-41)."""
    rows = data.get("todos") if isinstance(data, Mapping) else None
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        return Plan()
    return Plan(tuple(todo for row in rows if (todo := _todo(row)) is not None))


def _todo(row: Json) -> Todo | None:
    match row:
        case {"content": str(content), **rest}:
            id_ = rest.get("id")
            status = STATUSES.get(str(rest.get("status")), Status.PENDING)
            return Todo(content, status, id_ if isinstance(id_, str) else None)
        case _:
            return None


def _marks_to_json(marks: Marks) -> Json:
    return {
        "discipline": marks.discipline,
        "run_open": marks.run_open,
        "interrupted": marks.interrupted,
        "known": None if marks.known is None else plan_to_json(marks.known),
    }


def _marks_from_json(data: Json) -> Marks:
    match data:
        case {
            "discipline": str(discipline),
            "run_open": bool(run_open),
            "interrupted": str(interrupted),
            "known": known,
        }:
            plan = None if known is None else plan_from_json(known)
            return Marks(discipline, run_open, interrupted, plan)
        case _:
            return Marks()


def _history_to_json(history: History) -> Json:
    return cast("Json", history_to_json(history))


PLAN: Key[Plan] = Key("plan", Plan(), to_json=plan_to_json, from_json=plan_from_json)
"""The committed plan, the same under every discipline."""
PLAN_MARKS: Key[Marks] = Key(
    "plan_marks", Marks(), to_json=_marks_to_json, from_json=_marks_from_json
)
"""What is remembered about the plan beside it."""
PLAN_HISTORY: Key[History] = Key(
    "plan_history", (), to_json=_history_to_json, from_json=history_from_json
)
"""The last versions of the plan: what it was, who made it so, and when."""
PLAN_KEYS: frozenset[Key[Any]] = frozenset({PLAN, PLAN_MARKS, PLAN_HISTORY})


def is_interrupted(state: State) -> bool:
    """Return whether a todo is in progress that nobody works on.

    It is meant for a state without a run under way: the last run was stopped, or broke, or
    its process died, while the todo was in progress.
    """
    return state[PLAN_MARKS].run_open and state[PLAN].active is not None
