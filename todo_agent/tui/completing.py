"""What the prompt offers to complete: commands at its beginning, files behind an `@`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from todo_agent.tui.fuzzy import best
from todo_agent.tui.widgets.completions import Completion

if TYPE_CHECKING:
    from todo_agent.tui.commands import Command
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
