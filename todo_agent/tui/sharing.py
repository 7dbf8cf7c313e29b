"""A thread that another window works on: read it, or go on in a copy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Protocol, TypeVar

from todo_agent.tui.screens.in_use import InUse, Way
from todo_agent.tui.screens.sheet import Sheet

if TYPE_CHECKING:
    from todo_agent.session import Session, Workbench

T = TypeVar("T")
IN_USE = "Another todo-agent works on this thread."
READING = "You read this thread. To write, go on in a copy of it."


class Desk(Protocol):
    """What sharing needs of the app."""

    # ruff: noqa: D102 -- each is documented at the app
    workbench: Workbench

    def say(self, text: str, *, level: str = "info") -> None: ...
    def submit(self, text: str) -> None: ...
    def take_draft(self) -> str: ...
    def put_draft(self, text: str) -> None: ...
    def open_sheet(
        self, sheet: Sheet[T], use: Callable[[T | None], None] | None = None
    ) -> None: ...
    def work_on(self, work: Coroutine[object, object, object], *, group: str) -> None: ...
    async def open_thread(
        self, thread: str | None, opening: Awaitable[Session] | None = None
    ) -> bool: ...


class Sharing:
    """The ways to a thread that cannot be written."""

    def __init__(self, app: Desk) -> None:
        self._app = app

    def offer(self, thread: str, why: str) -> None:
        """Offer to read a thread that is in use, or to go on in a copy."""

        def chosen(way: Way | None) -> None:
            match way:
                case Way.READ:
                    self._app.work_on(self._read(thread), group="session")
                case Way.COPY:
                    self._app.work_on(self._copy(thread), group="session")
                case None:
                    self._app.say(f"{IN_USE} It stays closed here: {why}.", level="warning")

        self._app.open_sheet(InUse(IN_USE, (Way.READ, Way.COPY)), chosen)

    def offer_copy(self, thread: str) -> None:
        """Offer to send the draft in a copy of the thread that is read."""

        def chosen(way: Way | None) -> None:
            if way is Way.COPY:
                self._app.work_on(self._copy_and_send(thread), group="session")

        self._app.open_sheet(InUse(READING, (Way.COPY,)), chosen)

    async def _read(self, thread: str) -> None:
        if await self._app.open_thread(thread, self._app.workbench.read(thread)):
            self._app.say("Open for reading only. Send something to go on in a copy.")

    async def _copy(self, thread: str) -> bool:
        opened = await self._app.open_thread(thread, self._app.workbench.fork(thread))
        if opened:
            self._app.say("This is a copy; the other thread stays as it is.")
        return opened

    async def _copy_and_send(self, thread: str) -> None:
        draft = self._app.take_draft()
        if await self._copy(thread) and draft.strip():
            self._app.submit(draft)
        else:
            self._app.put_draft(draft)
