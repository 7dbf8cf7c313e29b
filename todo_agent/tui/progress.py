"""How far a plan is, in the words and the bar that every place of the screen shares."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from todo_agent.plan.history import difference
from todo_agent.plan.plan import Plan, Status
from todo_agent.tui.text import first_line
from todo_agent.tui.themes import Marks


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a plan is, in few words."""

    done: int
    total: int
    current: str
    """The first line of what is being worked on, or of what comes next."""

    @classmethod
    def of(cls, plan: Plan) -> Progress:
        """Return the progress of a plan."""
        current = plan.active or next(iter(plan.open), None)
        return cls(plan.done, len(plan), first_line(current.content)[0] if current else "")

    @property
    def label(self) -> str:
        """`3/7`."""
        return f"{self.done}/{self.total}"


def bar(progress: Progress, width: int, marks: Marks) -> Content:
    """Return a progress bar."""
    full = 0 if not progress.total else progress.done * width // progress.total
    return Content.assemble(
        (marks.bar_full * full, "$success"), (marks.bar_empty * (width - full), "$rule")
    )


def change(before: Plan, after: Plan) -> str:
    """Say what changed between two plans: `+2, 1 done`; nothing where nothing worth it did."""
    found = difference(before, after)
    done = sum(todo.status is Status.DONE for todo, _ in found.moved)
    done += sum(todo.status is Status.DONE for todo in found.added)
    reopened = sum(was is Status.DONE for _, was in found.moved)
    parts = [f"+{len(found.added)}"] if found.added else []
    parts += [f"-{len(found.dropped)}"] if found.dropped else []
    parts += [f"{len(found.reworded)} reworded"] if found.reworded else []
    parts += [f"{done} done"] if done else []
    parts += [f"{reopened} reopened"] if reopened else []
    return ", ".join(parts)
