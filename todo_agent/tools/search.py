"""Finds files and lines: ripgrep where it is there, the same results without it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from todo_agent.tools.environment import command_environment
from todo_agent.tools.globs import Glob
from todo_agent.tools.processes import start
from todo_agent.tools.workspace import printable

MAX_SECONDS = 30
MAX_MATCHES = 100_000
"""A search stops here."""
MAX_FILES = 1_000_000
MAX_LINE_CHARS = 300

_RIPGREP = (
    "rg",
    "--no-config",
    "--hidden",
    "--glob=!.git",
    "--no-require-git",
    "--no-ignore-dot",
    "--no-ignore-exclude",
    "--no-ignore-global",
    "--no-messages",
    "--null",
)
"""Only .gitignore files count, so that both ways find the same."""


class SearchError(Exception):
    """A search that cannot be made or took too long; the message is for the model."""


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """A matching line."""

    path: str
    """Relative to the searched directory, as the system spells it."""
    number: int
    line: str


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches below one directory."""

    directory: Path
    environ: Mapping[str, str]

    async def files(self) -> Sequence[str]:
        """Return all files below, relative, in no particular order.

        Raises:
            SearchError: it took too long, or they are too many.
        """
        names = _Split(b"\0", limit=MAX_FILES)
        await self._run(self._command("files"), names.feed)
        if names.full:
            raise SearchError(f"There are more than {MAX_FILES:,} files; choose a path below.")
        return [os.fsdecode(name).removeprefix("./") for name in names.pieces]

    async def lines(self, pattern: str, *, name: str = "", glob: Glob | None = None) -> _Found:
        """Return the lines that match a pattern: of one file, or of all that the glob keeps.

        Raises:
            SearchError: the pattern is no pattern, or the search took too long.
        """
        found = _Found([])
        messages: list[str] = []

        def take(piece: bytes) -> bool:
            file, separator, rest = piece.partition(b"\0")
            if not separator:
                messages.append(piece.decode("utf-8", "replace"))
                return False
            path = os.fsdecode(file).removeprefix("./")
            if glob is not None and not glob.matches(path):
                return False
            number, _, line = rest.partition(b":")
            if not number.isdigit():
                return False
            text = line[: 4 * MAX_LINE_CHARS].decode("utf-8", "replace")[:MAX_LINE_CHARS]
            found.matches.append(Match(path, int(number), text.rstrip("\r")))
            return True

        lines = _Split(b"\n", limit=MAX_MATCHES, wanted=take)
        code = await self._run(self._command("search", pattern, name, glob), lines.feed)
        found.stopped = lines.full
        if code not in (0, 1) and not found.matches:
            said = " ".join(" ".join(messages).split())[:500]
            raise SearchError(f"The search failed: {said or f'exit code {code}'}.")
        return found

    def _command(
        self, what: str, pattern: str = "", name: str = "", glob: Glob | None = None
    ) -> Sequence[str]:
        ripgrep = shutil.which("rg", path=self.environ.get("PATH"))
        if ripgrep is None:
            walker = [sys.executable, "-P", "-m", "todo_agent.tools.walker", what]
            return walker if what == "files" else [*walker, pattern, *([name] if name else [])]
        options = _RIPGREP[1:]
        if what == "files":
            return [ripgrep, *options, "--files", "./"]
        types = glob.type_options() if glob is not None and not name else ()
        lines = ("--line-number", "--with-filename", "--no-heading", "--color=never")
        return [ripgrep, *options, *lines, *types, f"--regexp={pattern}", "--", f"./{name}"]

    async def _run(self, command: Sequence[str], feed: Callable[[bytes], bool]) -> int | None:
        """Run a command until it ends or `feed` has enough; the code is None in that case."""
        enough = asyncio.Event()

        def take(data: bytes) -> None:
            if not enough.is_set() and not feed(data):
                enough.set()

        package = str(Path(__file__).parents[2])
        env = {**command_environment(self.environ), "PYTHONPATH": package}
        try:
            process = await start(command, cwd=self.directory, env=env, feed=take)
        except OSError as error:
            raise SearchError(f"The search could not be started: {error}.") from error
        ends = [
            asyncio.ensure_future(process.wait_for_output()),
            asyncio.ensure_future(enough.wait()),
        ]
        try:
            await asyncio.wait(ends, timeout=MAX_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if ends[0].done():
                return await process.wait()
            if not enough.is_set():
                raise SearchError(
                    f"The search was stopped after {MAX_SECONDS} s. Narrow it with path or glob."
                )
            return None
        finally:
            for end in ends:
                end.cancel()
            await process.end()


@dataclass(slots=True)
class _Found:
    """The lines that were found."""

    matches: list[Match]
    stopped: bool = False
    """There are more than `MAX_MATCHES`."""


class _Split:
    """Splits a stream at a separator and counts the wanted pieces up to a limit."""

    def __init__(
        self, separator: bytes, *, limit: int, wanted: Callable[[bytes], bool] | None = None
    ) -> None:
        self.pieces: list[bytes] = []
        self.full = False
        self._separator = separator
        self._left = limit
        self._wanted = wanted
        self._rest = b""

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; False when the limit is reached."""
        *pieces, self._rest = (self._rest + data).split(self._separator)
        for piece in pieces:
            if self._wanted is None:
                self.pieces.append(piece)
            elif not self._wanted(piece):
                continue
            self._left -= 1
            if self._left < 0:
                self.full = True
                return False
        return True


def shown_path(directory: str, path: str) -> str:
    """Return a found path as people read it, relative to the workspace root."""
    return printable(path if directory == "." else f"{directory}/{path}")
