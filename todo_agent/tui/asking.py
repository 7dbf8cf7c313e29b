"""The agent's questions: approvals and choices, shown one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from textual.screen import Screen

from todo_agent.agent.outcomes import Answer, Question
from todo_agent.tui.screens.approval import Approval
from todo_agent.tui.screens.question import AskScreen
from todo_agent.tui.screens.sheet import Sheet

if TYPE_CHECKING:
    from todo_agent.session import Session

T = TypeVar("T")


class Desk(Protocol):
    """What asking needs of the app."""

    # ruff: noqa: D102 -- each is documented at the app
    session: Session | None

    @property
    def place(self) -> str: ...
    @property
    def screen_stack(self) -> Sequence[Screen[Any]]: ...
    def open_sheet(
        self, sheet: Sheet[T], use: Callable[[T | None], None] | None = None
    ) -> None: ...


class Asking:
    """Questions that wait for the person, in the order in which they came."""

    def __init__(self, app: Desk) -> None:
        self._app = app
        self._waiting: list[Question] = []

    def ask(self, question: Question) -> None:
        """Put a question to the person, after those that wait already."""
        self._waiting.append(question)
        if len(self._waiting) == 1:
            self._show_first()

    def close(self, question_id: str) -> None:
        """Take a question away, answered or not."""
        self._waiting = [q for q in self._waiting if q.id != question_id]
        for screen in self._shown:
            if screen.question_id == question_id:
                screen.dismiss(None)
        self._show_first()

    def clear(self) -> None:
        """Forget the questions of a session that is left."""
        self._waiting.clear()

    @property
    def _shown(self) -> list[Approval | AskScreen]:
        return [s for s in self._app.screen_stack if isinstance(s, Approval | AskScreen)]

    def _show_first(self) -> None:
        if not self._waiting or self._shown:
            return
        question, *others = self._waiting
        screen: Approval | AskScreen
        if question.kind == "approval":
            screen = Approval(question, place=self._app.place, waiting=len(others))
        else:
            screen = AskScreen(question)

        def answered(answer: Answer | None) -> None:
            if answer is not None and self._app.session is not None:
                self._app.session.answer(question.id, answer)

        self._app.open_sheet(screen, answered)
