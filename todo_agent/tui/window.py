"""What the terminal's window is told beside the screen: its title, and that something happened."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Protocol

from todo_agent.plan.plan import Plan
from todo_agent.tui import terminal
from todo_agent.tui.notifying import notified
from todo_agent.tui.progress import Progress
from todo_agent.tui.settings import TuiSettings


class Desk(Protocol):
    """What the window needs of the app."""

    # ruff: noqa: D102 -- each is documented at the app
    settings: TuiSettings

    def say(self, text: str, *, level: str = "info") -> None: ...
    def write(self, sequence: str) -> None: ...
    def work_in_turn(self, work: Coroutine[object, object, object], *, group: str) -> None: ...


class Window:
    """The window around the screen."""

    def __init__(self, app: Desk) -> None:
        self._app = app
        self.focused: bool | None = None
        """Whether the person looks here; None where the terminal does not tell."""

    def open(self) -> None:
        """Keep the title that the window has."""
        self._app.write(terminal.SAVE_TITLE)

    def close(self) -> None:
        """Give the window its title back."""
        self._app.write(terminal.RESTORE_TITLE)

    def show(self, plan: Plan) -> None:
        """Show in the title how far the plan is."""
        progress = Progress.of(plan)
        shown = f" — {progress.label} {progress.current}".rstrip() if progress.total else ""
        self._app.write(terminal.title(f"todo-agent{shown}"))

    def notify(self, what: str) -> None:
        """Tell a person who looks elsewhere."""
        if self._app.settings.notify != "off" and not self.focused:
            self._app.work_in_turn(self._tell(f"todo-agent {what}"), group="notify")

    async def _tell(self, message: str) -> None:
        settings = self._app.settings
        sequence, problem = await notified(
            settings.notify, message, command=settings.notify_command
        )
        self._app.write(sequence)
        if problem:
            self._app.say(problem, level="warning")
