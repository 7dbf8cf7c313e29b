"""Keeps what files held before the agent changed them, so that a turn can be undone."""

from __future__ import annotations

import json
import os
import stat
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from todo_agent.agent.messages import Display
from todo_agent.tools.diff import diff_display
from todo_agent.tools.files import FileError, read_bytes, replace_file
from todo_agent.tools.seen import digest_of


@dataclass(frozen=True, slots=True)
class Kept:
    """One change of one file, by the digests of its contents; None where there was none."""

    turn: int
    path: Path
    before: str | None
    after: str
    mode: int = 0o644
    """Of the file before, or of one that was new."""
    messages: int | None = None
    """How long the conversation was; None where that was not kept."""


@dataclass(frozen=True, slots=True)
class Change:
    """What some changes did to one file together."""

    path: Path
    before: str | None
    mode: int
    own: frozenset[str]
    """The contents that the agent gave it."""
    whole: bool
    """Whether nobody else changed it in between."""

    def can_be_undone(self, digest: str | None) -> bool:
        """Return whether a file with such a content holds the agent's work and nothing else."""
        return self.whole and digest in self.own


@dataclass(frozen=True, slots=True)
class Undone:
    """What came of undoing changes."""

    restored: tuple[Path, ...]
    conflicts: tuple[Path, ...]
    """Changed by somebody else too; left as they are."""


class Snapshots:
    """The earlier contents of the files that the tools of one thread changed.

    They are kept below a directory of their own: each content once, under its digest, and a
    journal with a line for every change. What commands change is not seen here. Pass
    `keep` to the tools.

    Args:
        directory: where they are kept; it need not exist.
        messages: returns how long the conversation is.
    """

    def __init__(self, directory: Path, messages: Callable[[], int] = lambda: 0) -> None:
        self._messages = messages
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
            kept = Kept(self.turn, path, digest, self._store(after), mode, self._messages())
            self._append(kept)
        except OSError as error:
            raise FileError(
                f"{path} was not changed: what it holds could not be kept for undo "
                f"({error.strerror})."
            ) from error

    def changes(self, turn: int | None = None) -> Sequence[Change]:
        """Return what a turn, or all turns together, did to each file, in order of first change."""
        return _together(kept for kept in self._read() if turn is None or kept.turn == turn)

    def touched(self, starts: Sequence[int]) -> Sequence[tuple[Path, ...]]:
        """Return the files that were changed behind each of some messages, up to the next one.

        Args:
            starts: the positions of the messages in the conversation, in order.
        """
        found: list[dict[Path, None]] = [{} for _ in starts]
        for kept in self._read():
            behind = 0 if kept.messages is None else bisect_left(starts, kept.messages)
            if behind:
                found[behind - 1][kept.path] = None
        return [tuple(paths) for paths in found]

    def undo(self, turn: int) -> Undone:
        """Give every file that a turn changed what it held before.

        A file that holds neither what the agent left nor what it found was changed by
        somebody else: it is a conflict and stays.

        Raises:
            FileError: a file cannot be read or written; those before it are restored.
        """
        return self._undo(self.changes(turn))

    def undo_behind(self, message: int) -> Undone:
        """Give every file that was changed behind a message what it held before.

        Args:
            message: its position in the conversation.

        Raises:
            FileError: a file cannot be read or written; those before it are restored.
        """
        return self._undo(self._behind(message))

    def preview(self, message: int) -> tuple[Sequence[Display], tuple[Path, ...]]:
        """Return what `undo_behind` would do to each file, and what it would leave alone.

        Raises:
            FileError: a file cannot be read.
        """
        shown: list[Display] = []
        conflicts: list[Path] = []
        for change in self._behind(message):
            present, digest = _present(change.path)
            if digest == change.before:
                continue
            if not change.can_be_undone(digest):
                conflicts.append(change.path)
                continue
            before = "" if change.before is None else _text(self._load(change.before))
            shown.append(diff_display(_text(present), before, str(change.path)))
        return shown, tuple(conflicts)

    def copy(self, directory: Path, *, messages: int | None = None) -> None:
        """Keep the same for a copy of the thread.

        Args:
            directory: the one of the copy.
            messages: how many messages the copy has; None: all of them.

        Raises:
            FileError: it cannot be copied.
        """
        copied = Snapshots(directory)
        try:
            for kept in self._read():
                if messages is not None and (kept.messages is None or kept.messages > messages):
                    continue
                copied._contents.mkdir(mode=0o700, parents=True, exist_ok=True)
                for digest in filter(None, (kept.before, kept.after)):
                    copied._store(self._load(digest))
                copied._append(kept)
        except OSError as error:
            raise FileError(f"What is kept for undo cannot be copied: {error.strerror}.") from error

    def _behind(self, message: int) -> Sequence[Change]:
        return _together(
            kept for kept in self._read() if kept.messages is not None and kept.messages > message
        )

    def _undo(self, changes: Iterable[Change]) -> Undone:
        restored: list[Path] = []
        conflicts: list[Path] = []
        for change in changes:
            present, digest = _present(change.path)
            if digest == change.before:
                continue
            if not change.can_be_undone(digest):
                conflicts.append(change.path)
                continue
            self._restore(change, present)
            restored.append(change.path)
        return Undone(tuple(restored), tuple(conflicts))

    def diff(self, turn: int | None = None) -> Sequence[Display]:
        """Return, for each file a turn or all turns changed, the way from then to now."""
        shown: list[Display] = []
        for change in self.changes(turn):
            before = "" if change.before is None else _text(self._load(change.before))
            present = _text(_present(change.path)[0])
            if before != present:
                shown.append(diff_display(before, present, str(change.path)))
        return shown

    def _restore(self, change: Change, present: bytes) -> None:
        if change.before is None:
            change.path.unlink()
            return
        content = self._load(change.before)
        replace_file(change.path, content, based_on=present, still=lambda: True)
        change.path.chmod(change.mode)

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
            "messages": kept.messages,
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


def _together(changes: Iterable[Kept]) -> Sequence[Change]:
    """Return what changes did to each file, in order of the first."""
    joined: dict[Path, Change] = {}
    for kept in changes:
        first = joined.get(kept.path)
        if first is None:
            change = Change(kept.path, kept.before, kept.mode, frozenset({kept.after}), whole=True)
        else:
            seamless = kept.before in first.own or kept.before == first.before
            change = replace(first, own=first.own | {kept.after}, whole=first.whole and seamless)
        joined[kept.path] = change
    return tuple(joined.values())


def _present(path: Path) -> tuple[bytes, str | None]:
    """Return what a file holds, and the digest; nothing and None where there is none."""
    content = read_bytes(path, str(path))
    return content or b"", None if content is None else digest_of(content).hex()


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
            **rest,
        }:
            messages = rest.get("messages")
            known = messages if isinstance(messages, int) else None
            return Kept(turn, Path(path), before, after, mode, known)
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
