"""Where the plan stands in a thread's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from todo_agent.agent.json import Json
from todo_agent.agent.state import Key
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


def _text(data: Json) -> str:
    return data if isinstance(data, str) else ""


PLAN: Key[Plan] = Key("plan", Plan(), to_json=plan_to_json, from_json=plan_from_json)
"""The committed plan, the same under every discipline."""
PLAN_NOTE: Key[str] = Key("plan_note", "", to_json=lambda note: note, from_json=_text)
"""What a person changed since the model last wrote the plan, in words for the model."""
