"""The threads on disk: make, find, open, list, copy, rename and remove them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

from todo_agent.agent.conversation import EXTRA
from todo_agent.agent.state import Key, State
from todo_agent.agent.suspension import SUSPENDED
from todo_agent.threads.errors import NotSavedError, ThreadBusy, ThreadError, reason
from todo_agent.threads.folder import Claim, Folder
from todo_agent.threads.ids import check_id, is_id, new_id
from todo_agent.threads.journal import Replay, rewrite
from todo_agent.threads.listing import info
from todo_agent.threads.loading import faults, load, mend
from todo_agent.threads.records import Header, HeaderRecord
from todo_agent.threads.search import fits
from todo_agent.threads.summary import Summary, ThreadInfo
from todo_agent.threads.thread import Clock, Disk, Thread, new_replay

__all__ = [
    "NotSavedError",
    "OpenMode",
    "Thread",
    "ThreadBusy",
    "ThreadError",
    "ThreadInfo",
    "ThreadStore",
]

MAX_CANDIDATES = 10
"""How many threads an error names when a prefix fits more."""
OWN_KEYS = (EXTRA, SUSPENDED)
"""Values that the loop itself reads; what is stored of them must be such a value."""


class OpenMode(Enum):
    """What an open thread is for."""

    WRITE = "write"
    READ_ONLY = "read-only"


class ThreadStore:
    """All threads below one directory.

    Every method blocks on the disk.

    Args:
        root: the directory; it need not exist yet.
        clock: seconds since 1970.
        new_id: makes the id of a thread that begins at a given time.
    """

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock = time.time,
        new_id: Callable[[float], str] = new_id,
    ) -> None:
        self._root = root
        self._clock = clock
        self._new_id = new_id

    def create(self, cwd: Path, *, model: str = "", mode: str = "ask") -> Thread:
        """Return a new thread. Nothing of it is stored before its first commit.

        Raises:
            ThreadError: threads cannot be stored here; `Thread.in_memory` does without.
        """
        self._refuse_unwritable()
        now = self._clock()
        header = Header(cwd=str(cwd.absolute()), model=model, mode=mode, created=now)
        folder = Folder(self._root, self._new_id(now))
        return Thread(folder.id, new_replay(header), Disk(folder), clock=self._clock)

    def open(self, id_or_prefix: str, *, mode: OpenMode = OpenMode.WRITE) -> Thread:
        """Open a thread; what is damaged of it is repaired and told in its notices.

        A thread that a newer version wrote, or that the disk does not let anybody change, is
        opened for reading only, and its notices say so.

        Raises:
            ThreadBusy: another process has it open for writing, and so should this one.
            ThreadError: it is unknown or ambiguous, or cannot be read.
        """
        folder = self._find(id_or_prefix)
        with _readable(folder):
            if mode is OpenMode.READ_ONLY:
                return self._reader(folder)
            try:
                claim = Claim(folder)
            except OSError as error:
                return self._reader(folder, f"It cannot be changed: {reason(error)}.")
            return self._writer(folder, claim)

    def fork(self, id_or_prefix: str, *, before: int | None = None) -> Thread:
        """Copy a thread, also one in use elsewhere, and open the copy.

        Args:
            id_or_prefix: the thread; it stays as it is.
            before: the number of a record: what came with it and later is left out. A copy of
                which nothing is left then is stored with its first commit, as a new thread.

        Raises:
            ThreadError: it is unknown, cannot be read or copied, or a newer version wrote it.
        """
        source = self._find(id_or_prefix)
        with _readable(source):
            stored = load(source)
        if stored.newer:
            raise ThreadError(f"A newer version of todo-agent wrote thread {source.id}.")
        now = self._clock()
        records = [r for r in stored.records if before is None or r.seq < before]
        replay = Replay(records)
        title = replay.header.title if replay.messages else ""
        header = replace(replay.header, title=title, created=now, parent=source.id)
        copy = Folder(self._root, self._new_id(now))
        if not (replay.messages or replay.values):
            return Thread(copy.id, new_replay(header), Disk(copy), clock=self._clock)
        with _readable(copy):
            claim = Claim(copy)
            try:
                record = HeaderRecord(replay.seq + 1, now, header)
                rewrite(copy.journal, (*records, record))
            except OSError:
                claim.release()
                raise
            return self._writer(copy, claim, *faults(stored))

    def list(self) -> list[ThreadInfo]:
        """Return all threads, newest first; of each only thread.json is read.

        One whose thread.json cannot be read is there too, as damaged.

        Raises:
            ThreadError: the directory cannot be read.
        """
        shown = (info(folder) for folder in self._folders() if folder.exists())
        found = [thread for thread in shown if thread is not None]
        return sorted(found, key=lambda thread: (thread.updated, thread.id), reverse=True)

    def search(self, words: str) -> Sequence[ThreadInfo]:
        """Return the threads that have all the words, in any case, newest first.

        A word may be in the title, the directory, the plan or a message. No words fit all.

        Raises:
            ThreadError: the directory cannot be read.
        """
        wanted = words.casefold().split()
        return [info for info in self.list() if fits(Folder(self._root, info.id), info, wanted)]

    def newest(self, cwd: Path) -> ThreadInfo | None:
        """Return the newest thread that was begun in a directory, however its path is spelled."""
        return next((thread for thread in self.list() if _same(thread.cwd, cwd)), None)

    def rename(self, id_or_prefix: str, title: str) -> None:
        """Give a thread another title.

        Raises:
            ThreadError: it is unknown, in use or read-only, or the title is blank.
            NotSavedError: the disk refuses.
        """
        thread = self.open(id_or_prefix)
        try:
            thread.rename(title)
        finally:
            thread.close()

    def remove(self, id_or_prefix: str) -> None:
        """Remove a thread for good.

        Raises:
            ThreadError: it is unknown or in use, or something of it cannot be removed.
        """
        folder = self._find(id_or_prefix)
        with _readable(folder):
            Claim(folder).remove()

    def resolve(self, prefix: str) -> str:
        """Return the id of the one thread whose id begins like this.

        Raises:
            ThreadError: there is none or more than one, or this is the beginning of no id.
        """
        prefix = check_id(prefix)
        fitting = [f.id for f in self._folders() if f.id.startswith(prefix) and f.exists()]
        if prefix in fitting:
            return prefix
        if not fitting:
            raise ThreadError(f"There is no thread {prefix!r}. See: todo-agent threads list")
        if len(fitting) == 1:
            return fitting[0]
        shown = sorted(fitting, reverse=True)[:MAX_CANDIDATES]
        more = [f"and {len(fitting) - len(shown)} more"] * (len(fitting) > len(shown))
        raise ThreadError(f"{prefix!r} fits {len(fitting)} threads: {', '.join(shown + more)}.")

    def _find(self, id_or_prefix: str) -> Folder:
        folder = Folder(self._root, self.resolve(id_or_prefix))
        with _readable(folder):
            folder.refuse_special()
        return folder

    def _folders(self) -> Iterator[Folder]:
        try:
            names = sorted(entry.name for entry in os.scandir(self._root))
        except FileNotFoundError:
            return
        except OSError as error:
            raise ThreadError(f"Cannot read {self._root}: {reason(error)}.") from error
        yield from (Folder(self._root, name) for name in names if is_id(name))

    def _reader(self, folder: Folder, *reasons: str) -> Thread:
        stored = load(folder)
        replay = Replay(stored.records)
        notices = (*reasons, *faults(stored), *_drop_foreign(replay))
        return Thread(folder.id, replay, None, notices=notices, clock=self._clock)

    def _writer(self, folder: Folder, claim: Claim, *told: str) -> Thread:
        try:
            stored = load(folder)
            if stored.newer:
                claim.release()
                return self._reader(folder)
            try:
                records, kept = mend(folder, stored)
            except OSError as error:
                claim.release()
                return self._reader(folder, f"It cannot be repaired now: {reason(error)}.")
        except BaseException:
            claim.release()
            raise
        replay = Replay(records)
        notices = [*told, *faults(stored), *_drop_foreign(replay)]
        if kept:
            notices.append(
                f"What was there before is kept: {', '.join(str(path) for path in kept)}."
            )
        disk = Disk(folder, claim)
        if not stored.sound or stored.summary != Summary.of(folder.id, replay):
            disk.summarise(replay)
        return Thread(folder.id, replay, disk, notices=notices, clock=self._clock)

    def _refuse_unwritable(self) -> None:
        try:
            existing = next(p for p in (self._root, *self._root.parents) if p.exists())
        except OSError as error:
            raise ThreadError(f"{self._root} cannot hold threads: {reason(error)}.") from error
        if not existing.is_dir():
            raise ThreadError(f"{self._root} cannot hold threads: {existing} is no directory.")
        if not os.access(existing, os.W_OK | os.X_OK):
            raise ThreadError(f"{self._root} cannot hold threads: {existing} cannot be written.")


@contextmanager
def _readable(folder: Folder) -> Iterator[None]:
    """Name the thread in the errors of the disk."""
    try:
        yield
    except ThreadError:
        raise
    except OSError as error:
        raise ThreadError(
            f"Thread {folder.id} cannot be used: {error.filename or folder.path}: {reason(error)}."
        ) from error


def _same(stored: str, cwd: Path) -> bool:
    """Return whether a stored path is a directory, by whatever name."""
    try:
        if not Path(stored).is_absolute():
            return False
        if cwd.exists():
            return cwd.samefile(stored)
        return os.path.realpath(stored) == os.path.realpath(cwd)
    except (OSError, ValueError):
        # It is gone, or was never a path.
        return False


def _drop_foreign(replay: Replay) -> list[str]:
    """Forget values of the loop's own keys that are none, and say so."""
    notices = []
    for key in OWN_KEYS:
        if _is_foreign(key, State(replay.values)):
            del replay.values[key.name]
            notices.append(f"The stored value of {key.name!r} could not be understood.")
    return notices


def _is_foreign(key: Key[Any], state: State) -> bool:
    try:
        state[key]
    except ValueError:
        return True
    return False
