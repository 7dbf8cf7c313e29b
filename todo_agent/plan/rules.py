"""Rules between the plan that is and the list that shall be. Pure functions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

from todo_agent.plan.plan import Draft, Plan, Status
from todo_agent.plan.refusal import Refusal
from todo_agent.plan.shapes import shown

Rule: TypeAlias = Callable[["Plan | None", Draft], "Refusal | None"]
"""Judges a draft against the previous plan, which is None before the first write."""


def contents_say_something(previous: Plan | None, draft: Draft) -> Refusal | None:
    """No content is empty or only white space (S0-21, S0-29, S1-05, S1-06, S2-03)."""
    for index, todo in enumerate(draft):
        if not todo.content.strip():
            return Refusal("empty_content", f"todos[{index}].content is empty.")
    return None


def ids_once(previous: Plan | None, draft: Draft) -> Refusal | None:
    """No id stands on two todos (S0-24)."""
    counts = Counter(todo.id for todo in draft if todo.id is not None)
    for index, todo in enumerate(draft):
        if todo.id is not None and counts[todo.id] > 1:
            return Refusal("duplicate_id", f"todos[{index}].id {shown(todo.id)} is given twice.")
    return None


def ids_known(previous: Plan | None, draft: Draft) -> Refusal | None:
    """Every id is one of the stored list (S0-25)."""
    known = dict.fromkeys(todo.id for todo in previous or () if todo.id is not None)
    for index, todo in enumerate(draft):
        if todo.id is not None and todo.id not in known:
            listed = ", ".join(known) or "none"
            return Refusal(
                "unknown_id",
                f"todos[{index}].id {shown(todo.id)} is not in the list; known ids: {listed}. "
                "Leave the id out for a new todo.",
            )
    return None


def empty_only_over_done(previous: Plan | None, draft: Draft) -> Refusal | None:
    """The list is emptied only when nothing is open (S1-10, S1-11)."""
    if draft or previous is None or not previous.open:
        return None
    return Refusal(
        "empty_over_unfinished",
        f"{len(previous.open)} todos are not completed; the list can be emptied after that.",
    )


def one_active_unless_done(previous: Plan | None, draft: Draft) -> Refusal | None:
    """Unless all are done, exactly one is in progress (S1-07, S1-08)."""
    if all(todo.status is Status.DONE for todo in draft):
        return None
    active = sum(todo.status is Status.ACTIVE for todo in draft)
    if active == 1:
        return None
    return Refusal(
        "not_one_in_progress",
        f"{active} todos are in_progress; exactly one must be, until all are completed.",
    )


def done_then_active_then_pending(previous: Plan | None, draft: Draft) -> Refusal | None:
    """A run of completed todos, one in progress, the rest pending (S2-04, S2-09)."""
    current = _first_open(draft)
    if current == len(draft):
        return None
    if draft[current].status is not Status.ACTIVE:
        return Refusal(
            "first_not_in_progress",
            f"todos[{current}] is the first that is not completed, so it must be in_progress.",
        )
    for index in range(current + 1, len(draft)):
        if draft[index].status is not Status.PENDING:
            return Refusal(
                "later_not_pending",
                f"todos[{index}] stands behind the one in progress, so it must be pending.",
            )
    return None


def fresh_at_first(previous: Plan | None, draft: Draft) -> Refusal | None:
    """The first list has nothing completed (S2-05)."""
    if previous is not None or _first_open(draft) == 0:
        return None
    return Refusal(
        "completed_on_first_write", "The first list of a request cannot have completed todos."
    )


def texts_stay(previous: Plan | None, draft: Draft) -> Refusal | None:
    """Neither number, nor texts, nor order of the todos change (S2-12)."""
    if previous is None:
        return None
    before, after = [todo.content for todo in previous], [todo.content for todo in draft]
    if before == after:
        return None
    if len(before) != len(after):
        return Refusal(
            "length_changed",
            f"The list has {len(before)} todos and keeps them; {len(after)} were sent.",
        )
    index = next(i for i in range(len(before)) if before[i] != after[i])
    code = "order_changed" if Counter(before) == Counter(after) else "content_changed"
    return Refusal(
        code,
        f"todos[{index}].content must stay {json.dumps(before[index], ensure_ascii=False)}; "
        "texts and order are fixed.",
    )


def done_stays_done(previous: Plan | None, draft: Draft) -> Refusal | None:
    """Nothing completed is opened again, and a finished list stays (S2-10, S2-11)."""
    if previous is None or _first_open(draft) >= previous.done:
        return None
    index = _first_open(draft)
    return Refusal("reopened", f"todos[{index}] was completed and cannot be opened again.")


def one_step(previous: Plan | None, draft: Draft) -> Refusal | None:
    """At most one todo is completed by a call (S2-07)."""
    if previous is None or _first_open(draft) <= previous.done + 1:
        return None
    return Refusal(
        "too_many_completed",
        f"{_first_open(draft) - previous.done} todos were completed at once; complete one a call.",
    )


def _first_open(draft: Draft) -> int:
    """Return the index of the first todo that is not done, or the length."""
    return next((i for i, t in enumerate(draft) if t.status is not Status.DONE), len(draft))
