"""Goes back to before a message, and copies a thread: nothing is ever taken out of one."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Protocol, TypeVar

from todo_agent.errors import TodoAgentError
from todo_agent.rewind import Scope, Turn
from todo_agent.tui.planning import Planning
from todo_agent.tui.progress import change
from todo_agent.tui.screens.picker import Choice, Picker
from todo_agent.tui.screens.rewind import Rewind
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import ago, count
from todo_agent.tui.themes import Marks

if TYPE_CHECKING:
    from todo_agent.session import Session, Workbench
    from todo_agent.tools.snapshots import Undone

T = TypeVar("T")


class Desk(Protocol):
    """What going back needs of the app."""

    # ruff: noqa: D102 -- each is documented at the app
    workbench: Workbench
    session: Session | None
    planning: Planning

    def say(self, text: str, *, level: str = "info") -> None: ...
    def take_draft(self) -> str: ...
    def put_draft(self, text: str) -> None: ...
    def open_sheet(
        self, sheet: Sheet[T], use: Callable[[T | None], None] | None = None
    ) -> None: ...
    def work_on(self, work: Coroutine[object, object, object], *, group: str) -> None: ...
    async def open_thread(
        self, thread: str | None, opening: Awaitable[Session] | None = None
    ) -> bool: ...


class Rewinding:
    """The way back in a thread."""

    def __init__(self, app: Desk, marks: Marks, *, clock: Callable[[], float] = time.time) -> None:
        self._app = app
        self._marks = marks
        self._clock = clock

    def open(self) -> None:
        """Let the person choose a message to go back to; a run is stopped for it."""
        session = self._app.session
        if session is not None:
            self._app.work_on(self._choose(session), group="rewind")

    def fork(self) -> None:
        """Go on in a copy of the thread."""
        session = self._app.session
        if session is None or not session.messages:
            self._app.say("There is nothing to copy yet.", level="warning")
        else:
            self._app.work_on(self._fork(session), group="rewind")

    async def _fork(self, session: Session) -> None:
        await session.interrupt()
        if await self._app.open_thread(session.id, self._app.workbench.fork(session.id)):
            self._app.say(f"This is a copy. The other thread stays: /resume {session.id}")

    async def _choose(self, session: Session) -> None:
        await session.interrupt()
        try:
            turns = await session.turns()
        except TodoAgentError as error:
            self._app.say(str(error), level="warning")
            return
        if not turns:
            self._app.say("There is no message to go back to.", level="warning")
            return
        now = self._clock()
        choices = [
            Choice(str(number), turn.moment.text, _told(turn, now))
            for number, turn in reversed(list(enumerate(turns)))
        ]

        def picked(number: str | None) -> None:
            if number is not None:
                self._app.work_on(self._ask(session, turns[int(number)]), group="rewind")

        self._app.open_sheet(Picker("Go back to before", choices), picked)

    async def _ask(self, session: Session, turn: Turn) -> None:
        try:
            preview = await session.preview(turn)
        except TodoAgentError as error:
            self._app.say(str(error), level="warning")
            return

        def chosen(scope: Scope | None) -> None:
            if scope is not None:
                self._app.work_on(self._go(session, turn, scope), group="rewind")

        self._app.open_sheet(Rewind(preview, self._marks, cwd=session.cwd), chosen)

    async def _go(self, session: Session, turn: Turn, scope: Scope) -> None:
        app = self._app
        plan = session.plan
        undone: Undone | None = None
        problem = ""
        # The branch comes first: where it cannot be made, nothing else has changed.
        try:
            branch = (
                await app.workbench.branch(session.id, turn.moment) if scope.conversation else None
            )
        except TodoAgentError as error:
            app.say(f"Everything stays as it is: {error}", level="error")
            return
        if scope.files:
            try:
                undone = await session.rewind_files(turn, tell=branch is None)
            except TodoAgentError as error:
                problem = f"Not all files could be taken back: {error}"
        if branch is not None:
            await app.open_thread(session.id, _ready(branch))
            app.put_draft(app.take_draft() or turn.moment.text)
            app.say(f"A branch begins here. The whole thread stays: /resume {session.id}")
        back = turn.before if scope.plan else plan
        if app.session is not None and back != app.session.plan:
            app.planning.edit(back, by="restore")
        if problem:
            app.say(problem, level="error")
        if undone is not None:
            self._tell(undone)

    def _tell(self, undone: Undone) -> None:
        if undone.restored:
            names = ", ".join(path.name for path in undone.restored)
            self._app.say(f"As they were: {names}.")
        if undone.conflicts:
            names = ", ".join(path.name for path in undone.conflicts)
            text = f"Left as they are, because somebody else changed them too: {names}."
            self._app.say(text, level="warning")


async def _ready(session: Session) -> Session:
    return session


def _told(turn: Turn, now: float) -> str:
    """Return when a turn was and what it changed."""
    parts = [ago(now - turn.moment.at)]
    if turn.files:
        parts.append(count(len(turn.files), "file"))
    plan = change(turn.before, turn.after)
    if plan:
        parts.append(f"plan {plan}")
    return " · ".join(parts)
