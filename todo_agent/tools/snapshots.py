"""Keeps what files held before the agent changed them, so that a turn can be undone."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from todo_agent.agent.messages import Display
from todo_agent.tools.diff import diff_display
from todo_agent.tools.files import FileError, read_bytes, replace_file
from todo_agent.tools.seen import digest_of


@dataclass(frozen=True, slots=True)
class Kept:
    """What one turn did to one file, by the digests of its contents; None where there was none."""

    turn: int
    path: Path
    before: str | None
    after: str
    mode: int = 0o644
    """Of the file before, or of one that was new."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What came of undoing a turn."""

    restored: tuple[Path, ...]
    conflicts: tuple[Path, ...]
    """Changed by somebody else since; left as they are."""


class Snapshots:
    """The earlier contents of the files that the tools of one thread changed.

    They are kept below a directory of their own: each content once, under its digest, and a
    journal with a line for every change. What commands change is not seen here. Pass
    `keep` to the tools.
    """

    def __init__(self, directory: Path) -> None:
        self._contents = directory / "contents"
        self._journal = directory / "changes.jsonl"
        self.turn = max((kept.turn for kept in self._read()), default=0)
        """The number of the present turn."""

    def begin_turn(self) -> int:
        """Begin a turn: what is changed from now on is undone together. Returns its number."""
        self.turn += 1
        return self.turn

    def keep(self, path: Path, before: bytes | None, after: bytes) -> None:
        """Keep what a file holds before it is changed.

        Raises:
            FileError: it cannot be kept, so the change must not be made.
        """
        try:
            for directory in (self._contents.parent, self._contents):
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            mode = stat.S_IMODE(path.stat().st_mode) if before is not None else 0o644
            digest = None if before is None else self._store(before)
            kept = Kept(self.turn, path, digest, self._store(after), mode)
            self._append(kept)
        except OSError as error:
            raise FileError(
                f"{path} was not changed: what it holds could not be kept for undo "
                f"({error.strerror})."
            ) from error

    def changes(self, turn: int | None = None) -> Sequence[Kept]:
        """Return what a turn, or all turns together, did to each file, in order of first change."""
        joined: dict[Path, Kept] = {}
        for kept in self._read():
            if turn is not None and kept.turn != turn:
                continue
            first = joined.get(kept.path)
            joined[kept.path] = kept if first is None else replace(first, after=kept.after)
        return tuple(joined.values())

    def undo(self, turn: int) -> Undone:
        """Give every file that a turn changed what it held before.

        A file that holds neither what the turn left nor what it found was changed by
        somebody else: it is a conflict and stays.

        Raises:
            FileError: a file cannot be read or written; those before it are restored.
        """
        restored: list[Path] = []
        conflicts: list[Path] = []
        for kept in self.changes(turn):
            present = read_bytes(kept.path, str(kept.path))
            digest = None if present is None else digest_of(present).hex()
            if digest == kept.before:
                continue
            if digest != kept.after:
                conflicts.append(kept.path)
                continue
            self._restore(kept, present or b"")
            restored.append(kept.path)
        return Undone(tuple(restored), tuple(conflicts))

    def diff(self, turn: int | None = None) -> Sequence[Display]:
        """Return, for each file a turn or all turns changed, the way from then to now."""
        shown: list[Display] = []
        for kept in self.changes(turn):
            before = "" if kept.before is None else _text(self._load(kept.before))
            present = _text(read_bytes(kept.path, str(kept.path)) or b"")
            if before != present:
                shown.append(diff_display(before, present, str(kept.path)))
        return shown

    def _restore(self, kept: Kept, present: bytes) -> None:
        if kept.before is None:
            kept.path.unlink()
            return
        content = self._load(kept.before)
        replace_file(kept.path, content, based_on=present, still=lambda: True)
        kept.path.chmod(kept.mode)

    def _store(self, content: bytes) -> str:
        digest = digest_of(content).hex()
        path = self._contents / digest
        if not path.exists():
            temporary = path.with_suffix(f".{os.getpid()}")
            _write(temporary, content)
            temporary.replace(path)
        return digest

    def _load(self, digest: str) -> bytes:
        try:
            return (self._contents / digest).read_bytes()
        except OSError as error:
            raise FileError(f"What was kept for undo is gone: {error.strerror}.") from error

    def _append(self, kept: Kept) -> None:
        line = {
            "turn": kept.turn,
            "path": str(kept.path),
            "before": kept.before,
            "after": kept.after,
            "mode": kept.mode,
        }
        # The line break comes first, so that a line cut off by a crash spoils only itself.
        _write(self._journal, b"\n" + json.dumps(line).encode())

    def _read(self) -> Sequence[Kept]:
        """Return the journal; a line that was cut off by a crash tells of a change not made."""
        try:
            lines = self._journal.read_bytes().split(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(kept for line in lines if (kept := _kept(line)) is not None)


def _kept(line: bytes) -> Kept | None:
    try:
        data = json.loads(line)
    except ValueError:
        return None
    match data:
        case {
            "turn": int(turn),
            "path": str(path),
            "before": str() | None as before,
            "after": str(after),
            "mode": int(mode),
        }:
            return Kept(turn, Path(path), before, after, mode)
        case _:
            return None


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
