"""A workshop that is built while the screen is up already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from todo_agent.errors import ConfigError

if TYPE_CHECKING:
    from todo_agent.assemble import Workshop
    from todo_agent.session import Session
    from todo_agent.settings import Config
    from todo_agent.threads.moments import Moment
    from todo_agent.threads.store import ThreadInfo


class LateWorkshop:
    """Builds the workshop in a thread when it is first needed (see `Workbench`).

    Args:
        build: builds it of a configuration, or for the demo; may take long.
        config: the first configuration.
        demo: begin with the demo.
        newest: the first session is this directory's newest thread.
        fork: the first thread is opened as a copy.
    """

    def __init__(
        self,
        build: Callable[[Config, bool], Workshop],
        config: Config,
        *,
        demo: bool = False,
        newest: bool = False,
        fork: bool = False,
    ) -> None:
        self._build = build
        self._first = (config, demo)
        self._newest = newest
        self._fork = fork
        self._workshop: asyncio.Future[Workshop] | None = None
        self._last: Session | None = None
        self._found = ""
        """The thread that `newest` meant."""

    async def open(self, thread: str | None) -> Session:
        """Open a thread by id or unique prefix, or begin a new one."""
        workshop = await self._ready()
        if self._newest:
            thread = await asyncio.to_thread(workshop.newest)
            self._newest = False
            if thread is None:
                raise ConfigError(f"There is no thread of {workshop.cwd} yet.")
            self._found = thread
        fork, self._fork = self._fork and thread is not None, False
        if fork and thread is not None:
            self._last = await workshop.fork(thread)
        else:
            self._last = await workshop.open(thread)
        return self._last

    async def read(self, thread: str) -> Session:
        """Open a thread for reading only; without an id the newest that was wanted."""
        self._last = await (await self._ready()).read(thread or self._found)
        return self._last

    async def fork(self, thread: str) -> Session:
        """Open a copy of a thread."""
        self._last = await (await self._ready()).fork(thread or self._found)
        return self._last

    async def branch(self, thread: str, moment: Moment) -> Session:
        """Open a copy of a thread as it was before a message."""
        self._last = await (await self._ready()).branch(thread, moment)
        return self._last

    def threads(self) -> Sequence[ThreadInfo]:
        """Return all threads, newest first; none before the first session. Reads the disk."""
        return self._built.threads() if self._built else ()

    def files(self) -> Sequence[str]:
        """Return the workspace's files; none before the first session. Reads the disk."""
        return self._built.files() if self._built else ()

    async def warm_up(self) -> None:
        """Load what the first model call needs."""
        await (await self._ready()).warm_up()

    async def reconfigure(self, config: Config, *, demo: bool = False) -> None:
        """Open sessions of another workshop from now on, once it can be built."""
        workshop = await asyncio.to_thread(self._build, config, demo)
        self._workshop = asyncio.get_running_loop().create_future()
        self._workshop.set_result(workshop)

    def farewell(self) -> tuple[str, ...]:
        """Return what to tell when the screen is gone: how to come back, if that is possible."""
        last = self._last
        if last is None or not last.messages:
            return ()
        if last.unsaved_reason:
            return (f"The last changes are not saved: {last.unsaved_reason}",)
        return (f"To go on: todo-agent --resume {last.id}",)

    @property
    def _built(self) -> Workshop | None:
        done = self._workshop is not None and self._workshop.done()
        return self._workshop.result() if self._workshop is not None and done else None

    async def _ready(self) -> Workshop:
        if self._workshop is None:
            building = asyncio.to_thread(self._build, *self._first)
            self._workshop = asyncio.ensure_future(building)
        return await asyncio.shield(self._workshop)
