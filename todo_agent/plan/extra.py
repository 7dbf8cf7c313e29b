"""The six keys of the guarded discipline in a conversation's extra dict (S1-51…S1-61)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from todo_agent.agent.json import Json
from todo_agent.plan.conduct import Blocked, Ledger
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.plan.shapes import Words
from todo_agent.plan.views import rows

ExtraRef: TypeAlias = Callable[[], dict[str, Json]]

TODOS = "todos"
RETRIES = "todo_guard_retries"
BLOCKED = "todo_guard_blocked"
SUPPRESSED = "todo_guard_suppressed"
STALE = "todo_stale_iterations"
CORRECTION = "todo_finalization_correction"


def read_plan(extra: Mapping[str, Json], words: Words) -> Plan | None:
    """Return the list, or None where there is none yet; rows that are none are left out."""
    stored = extra.get(TODOS)
    if not isinstance(stored, list):
        return None
    todos = []
    for row in stored:
        match row:
            case {"content": str(content), **rest}:
                status = words.status(str(rest.get("status"))) or Status.PENDING
                todos.append(Todo(content, status))
            case _:
                pass
    return Plan(tuple(todos))


def write_plan(extra: dict[str, Json], plan: Plan | None, words: Words) -> None:
    """Store the list; None for no list."""
    extra[TODOS] = None if plan is None else list(rows(plan, words))


def read_ledger(extra: Mapping[str, Json]) -> Ledger:
    """Return the guard's state; an absent key has its neutral value (S1-59)."""
    retries, stale = extra.get(RETRIES), extra.get(STALE)
    blocked = None
    match extra.get(BLOCKED):
        case {"guard": str(guard), "message": str(message)}:
            blocked = Blocked(guard, message)
        case _:
            pass
    counts = retries.items() if isinstance(retries, Mapping) else ()
    return Ledger(
        retries={name: count for name, count in counts if isinstance(count, int)},
        blocked=blocked,
        suppressed=extra.get(SUPPRESSED) is True,
        stale=stale if isinstance(stale, int) else 0,
        correction=extra.get(CORRECTION) is True,
    )


def write_ledger(extra: dict[str, Json], ledger: Ledger) -> None:
    """Store the guard's state; keys are emptied, never removed (S1-59)."""
    if ledger == read_ledger(extra):
        return
    blocked = ledger.blocked
    extra[RETRIES] = dict(ledger.retries)
    extra[BLOCKED] = _payload(blocked) if blocked else None
    extra[SUPPRESSED] = ledger.suppressed
    extra[STALE] = ledger.stale
    extra[CORRECTION] = ledger.correction


def _payload(blocked: Blocked) -> Json:
    return {"guard": blocked.guard, "message": blocked.message}
