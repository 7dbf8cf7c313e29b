"""Lists and searches files where ripgrep is missing, in ripgrep's own output format.

It runs as a process of its own, so a slow pattern can be stopped and blocks nothing:
`python -P -m todo_agent.tools.walker files` and `… walker search PATTERN [FILE]`, in the
directory to search.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from todo_agent.tools.encoding import PROBE_BYTES, encoding_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class _Ignore:
    """One .gitignore, and the directory it speaks for."""

    directory: str
    spec: GitIgnoreSpec

    def verdict(self, path: str) -> bool | None:
        return self.spec.check_file(os.path.relpath(path, self.directory) + _slash(path)).include


def walk(top: Path) -> Iterator[str]:
    """Yield the files below a directory, relative to it: no symlinks, nothing ignored by git."""
    above = _ignores_above(top)
    if _ignored(str(top) + os.sep, above):
        above = ()
    yield from (os.path.relpath(path, top) for path in _files(str(top), above))


def search(
    top: Path, pattern: re.Pattern[str], names: Iterator[str]
) -> Iterator[tuple[str, int, str]]:
    """Yield the matching lines of text files: the file's name, the line's number, the line."""
    for name in names:
        try:
            data = (top / name).read_bytes()
        except OSError:
            continue
        encoding = encoding_of(data[:PROBE_BYTES])
        if encoding is None:
            continue
        text = data[len(encoding.mark) :].decode(encoding.codec, "replace")
        lines = text.removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, start=1):
            if pattern.search(line.removesuffix("\r")):
                yield name, number, line


def _files(directory: str, above: Sequence[_Ignore]) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    ignores = (*_read_ignore(directory), *above)
    for entry in entries:
        if entry.is_symlink() or entry.name == ".git":
            continue
        if entry.is_dir() and not _ignored(entry.path + os.sep, ignores):
            yield from _files(entry.path, ignores)
        elif entry.is_file() and not _ignored(entry.path, ignores):
            yield entry.path


def _ignored(path: str, ignores: Sequence[_Ignore]) -> bool:
    """Ask the nearest .gitignore that says anything."""
    verdicts = (ignore.verdict(path) for ignore in ignores)
    return next((verdict for verdict in verdicts if verdict is not None), False)


def _ignores_above(top: Path) -> Sequence[_Ignore]:
    found: list[_Ignore] = []
    inside = top
    for directory in top.parents:
        if (inside / ".git").exists():
            break
        found += _read_ignore(str(directory))
        inside = directory
    return found


def _read_ignore(directory: str) -> Sequence[_Ignore]:
    try:
        text = Path(directory, ".gitignore").read_text("utf-8", "replace")
    except OSError:
        return ()
    # Only a walk needs it.
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    return (_Ignore(directory, GitIgnoreSpec.from_lines(text.split("\n"))),)


def _slash(path: str) -> str:
    return "/" if path.endswith(os.sep) else ""


def main(arguments: Sequence[str]) -> int:
    """Write what was asked for to standard output; 2 where the pattern is no pattern."""
    out = sys.stdout.buffer
    top = Path.cwd()
    if arguments[0] == "files":
        for name in walk(top):
            out.write(os.fsencode(name) + b"\0")
        return 0
    try:
        pattern = re.compile(arguments[1])
    except re.error as error:
        out.write(f"regex parse error: {error}\n".encode(errors="replace"))
        return 2
    names = iter(arguments[2:]) if arguments[2:] else walk(top)
    for name, number, line in search(top, pattern, names):
        out.write(os.fsencode(name) + f"\0{number}:{line}\n".encode(errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
