"""The person's edits of the plan: in the pane, by command, or back to an earlier version."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Protocol, TypeVar

from todo_agent.plan.history import Author, History
from todo_agent.plan.plan import Plan, Todo
from todo_agent.tui.plan_edits import added, reworded
from todo_agent.tui.screens.edit_text import EditText
from todo_agent.tui.screens.plan_history import PlanHistory
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.themes import Marks

if TYPE_CHECKING:
    from todo_agent.session import Session

T = TypeVar("T")


class Desk(Protocol):
    """What planning needs of the app."""

    # ruff: noqa: D102 -- each is documented at the app
    session: Session | None

    @property
    def plan(self) -> Plan: ...
    def warn(self, text: str, *, title: str = "") -> None: ...
    def work_in_turn(self, work: Coroutine[object, object, object], *, group: str) -> None: ...
    def open_sheet(
        self, sheet: Sheet[T], use: Callable[[T | None], None] | None = None
    ) -> None: ...


class Planning:
    """The way of an edit from the screen to the session."""

    def __init__(self, app: Desk, marks: Marks) -> None:
        self._app = app
        self._marks = marks

    def edit(self, plan: Plan, *, by: Author = "user") -> None:
        """Make a plan by hand the plan, or bring one back; say why where it is refused."""
        self._app.work_in_turn(self._edit(plan, by), group="plan")

    async def _edit(self, plan: Plan, by: Author) -> None:
        if self._app.session is None:
            return
        refused = await self._app.session.edit_plan(plan, by=by)
        if refused is not None:
            self._app.warn(refused, title="The plan stays as it was")

    def write_new(self, after: int) -> None:
        """Ask for the text of a new todo behind another."""

        def planned(content: str) -> Plan:
            plan = self._app.plan
            return added(plan, content, at=min(after + 1, len(plan)))

        self._write("New todo", "", planned)

    def rewrite(self, index: int) -> None:
        """Ask for another text of a todo; what else changes meanwhile is kept."""
        todo = self._app.plan.todos[index]
        self._write("Edit todo", todo.content, lambda content: self._rewritten(todo, content))

    def _rewritten(self, todo: Todo, content: str) -> Plan | None:
        plan = self._app.plan
        key = todo.id or todo.content
        now = next((i for i, t in enumerate(plan) if (t.id or t.content) == key), None)
        if now is not None:
            return reworded(plan, now, content)
        self._app.warn("The todo is not in the plan any more. /todo add writes a new one.")
        return None

    def _write(self, title: str, text: str, planned: Callable[[str], Plan | None]) -> None:
        def done(content: str | None) -> None:
            plan = None if content is None else planned(content)
            if plan is not None:
                self.edit(plan)

        self._app.open_sheet(EditText(title, text), done)

    def undo(self) -> None:
        """Bring back the plan as it was before its last change."""
        history = self._history
        if len(history) < 2:
            self._app.warn("The plan has no earlier version.")
        else:
            self.edit(history[-2].plan, by="restore")

    def show_history(self) -> None:
        """Show the versions of the plan, to bring one back."""
        if not self._history:
            self._app.warn("The plan has no versions yet.")
            return

        def picked(plan: Plan | None) -> None:
            if plan is not None:
                self.edit(plan, by="restore")

        self._app.open_sheet(PlanHistory(self._history, self._marks, now=time.time()), picked)

    @property
    def _history(self) -> History:
        return () if self._app.session is None else self._app.session.plan_history
