"""The store of threads: create, open, fork, list, rename, remove."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum, auto
from pathlib import Path

from filelock import FileLock, Timeout

from todo_agent.agent.conversation import Commit
from todo_agent.agent.state import State, restoring
from todo_agent.threads.cache import ThreadInfo, read_info
from todo_agent.threads.errors import ThreadBusyError, ThreadError
from todo_agent.threads.files import keep_aside, make_private_directory
from todo_agent.threads.ids import checked, new_id
from todo_agent.threads.journal import SCHEMA, Contents, Header, Journal, read_journal
from todo_agent.threads.thread import CACHE, JOURNAL, Thread
from todo_agent.threads.upgrade import upgrade

LOCK = "lock"


class OpenMode(Enum):
    """What an opened thread is for."""

    WRITE = auto()
    READ_ONLY = auto()


class ThreadStore:
    """All threads below one directory.

    Args:
        root: the directory; it is made with the first thread.
        clock: seconds since the epoch.
        new_id: makes ids.
    """

    def __init__(
        self,
        root: Path,
        *,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = new_id,
    ) -> None:
        self._root = root
        self._clock = clock
        self._new_id = new_id

    def create(self, cwd: Path, *, model: str = "", mode: str = "") -> Thread:
        """Return a new thread. Nothing is on disk before its first commit."""
        header = Header(cwd=str(cwd), model=model, mode=mode, created=self._clock())
        return self._thread(self._new_id(), Contents(header=header), is_new=True)

    def open(self, wanted: str, *, mode: OpenMode = OpenMode.WRITE) -> Thread:
        """Open a thread by its id or a prefix that only it has. Reads the disk.

        Raises:
            ThreadBusyError: another process writes it; it can be opened read-only.
            ThreadError: it is unknown or ambiguous, or nothing of it can be read.
        """
        thread_id = self.resolve(wanted)
        lock = self._lock(thread_id) if mode is OpenMode.WRITE else None
        try:
            return self._open(thread_id, lock)
        except BaseException:
            if lock is not None:
                lock.release()
            raise

    def fork(self, wanted: str) -> Thread:
        """Return a new thread that begins as a copy of another one. Reads the disk.

        Raises:
            ThreadError: it is unknown, ambiguous or unreadable.
        """
        source = self.open(wanted, mode=OpenMode.READ_ONLY)
        old = source.conversation
        header = Header(f"{source.title} (copy)", source.cwd, source.model, source.mode)
        copy = self._thread(
            self._new_id(), Contents(header=replace(header, created=self._clock())), is_new=True
        )
        copy.append_now(Commit(old.messages, restoring(old.state, State()), by="restore"))
        return copy

    def list(self) -> Sequence[ThreadInfo]:
        """Return what is known of every thread, newest first; damaged ones too. Reads the disk."""
        infos = [read_info(self._root / name, name) for name in self._ids()]
        return sorted(infos, key=lambda info: info.updated, reverse=True)

    def newest(self, cwd: Path) -> ThreadInfo | None:
        """Return the thread of a directory that was used last. Reads the disk."""
        here = os.path.realpath(cwd)
        same = (i for i in self.list() if not i.damaged and os.path.realpath(i.cwd) == here)
        return next(same, None)

    def rename(self, wanted: str, title: str) -> None:
        """Give a thread another title.

        Raises:
            ThreadError: it cannot be opened for writing.
        """
        thread = self.open(wanted)
        try:
            thread.rename(title)
        finally:
            thread.close()

    def remove(self, wanted: str) -> None:
        """Remove a thread for good.

        Raises:
            ThreadError: it is unknown, ambiguous or in use, or cannot be removed.
        """
        thread_id = self.resolve(wanted)
        lock = self._lock(thread_id)
        try:
            shutil.rmtree(self._root / thread_id)
        except OSError as error:
            raise ThreadError(f"{error.filename}: {error.strerror}.") from error
        finally:
            lock.release()

    def resolve(self, wanted: str) -> str:
        """Return the id that a text stands for: an id, or a prefix that only one has.

        Raises:
            ThreadError: it stands for none or for several.
        """
        wanted = checked(wanted)
        found = [name for name in self._ids() if name.startswith(wanted)]
        if wanted in found:
            return wanted
        if len(found) == 1:
            return found[0]
        if not found:
            raise ThreadError(f"There is no thread {wanted}. See: todo-agent threads list")
        raise ThreadError(f"{wanted} stands for several threads: {', '.join(sorted(found)[:10])}.")

    def _ids(self) -> Sequence[str]:
        """Return the names of the directories that can be threads, and lead nowhere else."""
        try:
            with os.scandir(self._root) as entries:
                names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ThreadError(f"{self._root}: {error.strerror}.") from error
        return [name for name in names if _is_id(name)]

    def _lock(self, thread_id: str) -> FileLock:
        path = self._root / thread_id / LOCK
        lock = FileLock(path, timeout=0, mode=0o600)
        try:
            lock.acquire()
            path.chmod(0o600)
        except Timeout as error:
            raise ThreadBusyError(
                f"Thread {thread_id} is open in another todo-agent. "
                f"Work in a copy: todo-agent --resume {thread_id} --fork"
            ) from error
        except OSError as error:
            raise ThreadError(f"{path}: {error.strerror}.") from error
        return lock

    def _open(self, thread_id: str, lock: FileLock | None) -> Thread:
        directory = self._root / thread_id
        if lock is not None:
            upgrade(directory)
        path = directory / JOURNAL
        if path.is_symlink():
            raise ThreadError(f"{path} is a symlink; a thread's files are its own.")
        try:
            contents = read_journal(path)
        except FileNotFoundError:
            contents = Contents(lost_lines=1)
        except OSError as error:
            raise ThreadError(f"{path}: {error.strerror}.") from error
        notices = _notices(path, contents, writes=lock is not None)
        newer = contents.newest_schema > SCHEMA
        if lock is None or newer:
            if lock is not None:
                lock.release()
            return self._thread(thread_id, contents, notices=notices, read_only=True)
        return self._thread(thread_id, contents, notices=notices, lock=lock)

    def _thread(
        self,
        thread_id: str,
        contents: Contents,
        *,
        notices: tuple[str, ...] = (),
        read_only: bool = False,
        lock: FileLock | None = None,
        is_new: bool = False,
    ) -> Thread:
        directory = self._root / thread_id
        journal = Journal(directory / JOURNAL, seq=contents.seq, clock=self._clock)

        def take_lock() -> FileLock:
            make_private_directory(directory)
            return self._lock(thread_id)

        return Thread(
            thread_id,
            contents,
            journal,
            cache=directory / CACHE,
            notices=notices,
            read_only=read_only,
            lock=lock,
            take_lock=take_lock if is_new else None,
        )


def _notices(path: Path, contents: Contents, *, writes: bool) -> tuple[str, ...]:
    notices = []
    if contents.newest_schema > SCHEMA:
        notices.append("This thread was written by a newer todo-agent; it is read-only here.")
    if contents.lost_lines:
        where = ""
        if writes and path.exists():
            with contextlib.suppress(OSError):
                where = f" The file as it was found: {keep_aside(path).name}."
        lost = contents.lost_lines
        notices.append(
            f"{lost} damaged {'entry' if lost == 1 else 'entries'} of this thread could not be "
            f"read; everything else is here.{where}"
        )
    if contents.torn_bytes:
        notices.append("The last entry of this thread was never finished and is left out.")
    return tuple(notices)


def _is_id(name: str) -> bool:
    try:
        return checked(name) == name
    except ThreadError:
        return False
