"""What the prompt offers to complete: commands at its beginning, files behind an `@`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Protocol

from todo_agent.tui.fuzzy import best
from todo_agent.tui.widgets.completions import Completion

if TYPE_CHECKING:
    from todo_agent.tui.commands import Command, Commands
    from todo_agent.tui.widgets.completions import Completions
    from todo_agent.tui.widgets.prompt import Prompt

LIMIT = 30
_COMMAND = re.compile(r"/([\w-]*)\Z")
_FILE = re.compile(r"(?:\A|\s)@([^\s@]*)\Z")


class Files:
    """The names of the workspace's files, listed once when they are first needed."""

    def __init__(self, lister: Callable[[], Sequence[str]]) -> None:
        self._lister = lister
        self.names: Sequence[str] = ()
        self.loaded = False

    async def load(self) -> None:
        """List them, in a thread."""
        self.loaded = True
        self.names = await asyncio.to_thread(self._lister)


def completions(
    prompt: Prompt, commands: Sequence[Command], files: Sequence[str]
) -> Sequence[Completion]:
    """Return what to offer for the draft as it stands."""
    before = prompt.before_cursor
    command = _COMMAND.match(before)
    if command is not None and before == prompt.text:
        found = best(command[1], commands, text=lambda c: c.name, limit=LIMIT)
        return [
            Completion(
                f"/{c.name} " if c.arguments else f"/{c.name}",
                f"/{c.name} {c.arguments}".rstrip(),
                c.what,
                runs=not c.needs_arguments,
            )
            for c in found
        ]
    file = _FILE.search(before)
    if file is None:
        return ()
    found_files = best(file[1], files, text=lambda name: name, limit=LIMIT)
    return [Completion(f"@{name} ", name) for name in found_files]


class Desk(Protocol):
    """What completing needs of the app."""

    # ruff: noqa: D102 -- each is documented at the app
    prompt: Prompt
    completions: Completions
    commands: Commands

    def submit_draft(self) -> None: ...
    def work_on(self, work: Coroutine[object, object, object], *, group: str) -> None: ...


class Completing:
    """The list above the prompt, and what its keys do."""

    def __init__(self, app: Desk, lister: Callable[[], Sequence[str]]) -> None:
        self._app = app
        self._files = Files(lister)

    def offer(self) -> None:
        """Offer what fits behind the cursor."""
        if not self._files.loaded and "@" in self._app.prompt.text:
            self._app.work_on(self._load_files(), group="files")
        self._show_fitting()

    async def _load_files(self) -> None:
        await self._files.load()
        self._show_fitting()

    def _show_fitting(self) -> None:
        app = self._app
        self._show(completions(app.prompt, app.commands.commands, self._files.names))

    def _show(self, offers: Sequence[Completion]) -> None:
        self._app.completions.offer(offers)
        self._app.prompt.completing = bool(offers)

    def use(self, key: str) -> None:
        """Move in the list, take an offer, or close the list."""
        match key:
            case "up":
                self._app.completions.move(-1)
            case "down":
                self._app.completions.move(1)
            case "escape":
                self._show(())
            case _:
                self._take(send=key == "enter")

    def _take(self, *, send: bool) -> None:
        chosen = self._app.completions.chosen
        self._show(())
        if chosen is None:
            return
        self._app.prompt.complete(chosen.insert)
        if send and chosen.runs:
            self._app.submit_draft()
