"""What the model sees of the plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from todo_agent.plan.plan import Plan, Status
from todo_agent.plan.shapes import Shape, Words

LIST = "todos"
"""The name of the section that shows the list."""
ALL_DONE_FROM = 3
"""A finished list of so many todos is answered with a word about a last check (S1-13)."""


class Section(NamedTuple):
    """A piece of the prompt."""

    name: str
    text: str
    cacheable: bool


class Shown(NamedTuple):
    """What a view may show."""

    plan: Plan
    shape: Shape
    guide: str


View: TypeAlias = Callable[[Shown], "tuple[Section, ...]"]
Reply: TypeAlias = Callable[[Plan, Words], str]


def nothing(shown: Shown) -> tuple[Section, ...]:
    """Show nothing at all; the model knows the plan from the tool's results (D13)."""
    return ()


def guide_and_list(shown: Shown) -> tuple[Section, ...]:
    """Show the guide on every step, and the plan while there is one (S0-37…S0-41).

    However long the stored list is, at most `max_todos` todos are shown, each cut to
    `max_chars` code points.
    """
    guide, shape = Section("todos-guide", shown.guide, cacheable=True), shown.shape
    todos = shown.plan.todos[: shape.max_todos]
    if not todos:
        return (guide,)
    lines = [heading(shown.plan)]
    for todo in todos:
        content = json.dumps(todo.content[: shape.max_chars], ensure_ascii=False)
        cut = " (cut)" if len(todo.content) > len(todo.content[: shape.max_chars]) else ""
        lines.append(f"- {shape.words.word(todo.status)}, id {todo.id}: {content}{cut}")
    hidden = len(shown.plan) - len(todos)
    if hidden:
        lines.append(f"({hidden} more are stored and not shown.)")
    return (guide, Section(LIST, "\n".join(lines), cacheable=False))


def suffix_and_list(shown: Shown) -> tuple[Section, ...]:
    """End the system prompt with the guide, and every request with the list (S1-41, S1-45)."""
    guide = Section("todos-guide", shown.guide, cacheable=True)
    if not shown.plan.todos:
        return (guide,)
    text = f"{heading(shown.plan)}\n{rows_as_json(shown.plan, shown.shape.words)}"
    return (guide, Section(LIST, text, cacheable=False))


def rows(plan: Plan, words: Words) -> list[dict[str, str]]:
    """Return the plan as rows of content and status."""
    return [{"content": todo.content, "status": words.word(todo.status)} for todo in plan]


def rows_as_json(plan: Plan, words: Words) -> str:
    """Return the plan's rows as JSON text."""
    return json.dumps(rows(plan, words), ensure_ascii=False)


def reply_with_ids(plan: Plan, words: Words) -> str:
    """Answer with the stored list and its ids (S0-07)."""
    if not plan.todos:
        return "The plan is empty now."
    stored = [{"id": todo.id, **row} for todo, row in zip(plan, rows(plan, words), strict=True)]
    return json.dumps({"todos": stored}, ensure_ascii=False)


def reply_with_rows(plan: Plan, words: Words) -> str:
    """Answer with the stored list as JSON, and perhaps a reminder behind it (S1-13)."""
    text = rows_as_json(plan, words)
    if len(plan) < ALL_DONE_FROM or plan.open:
        return text
    return f"{text}\n\nAll todos are completed. Check the result once more before you answer."


def reply_with_position(plan: Plan, words: Words) -> str:
    """Answer with the list, the current todo and whether everything is completed (S2-15)."""
    active = [index for index, todo in enumerate(plan) if todo.status is Status.ACTIVE]
    return json.dumps(
        {
            "todos": rows(plan, words),
            "in_progress_index": active[0] if active else None,
            "in_progress": plan.todos[active[0]].content if active else None,
            "completed": not plan.open,
        },
        ensure_ascii=False,
    )


def heading(plan: Plan) -> str:
    """Return the line above a list; a finished one must not be taken for a new order."""
    if plan.open:
        return "The current todo list, shown by the program:"
    return "The last todo list, shown by the program; all of it is done and asks for nothing:"
