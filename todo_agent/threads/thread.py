"""An open thread: its conversation, whose every commit goes to the journal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock

from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.state import State
from todo_agent.threads.errors import NotSavedError, ThreadError, reason
from todo_agent.threads.folder import Claim, Folder
from todo_agent.threads.ids import new_id
from todo_agent.threads.journal import Journal, Replay, read
from todo_agent.threads.moments import Moment, moments
from todo_agent.threads.records import CommitRecord, Header, HeaderRecord, Record
from todo_agent.threads.summary import Summary, write_summary
from todo_agent.threads.titles import clean_title, title_of

Clock = Callable[[], float]


class Disk:
    """Writes one thread. A new one claims its folder with the first record."""

    def __init__(self, folder: Folder, claim: Claim | None = None) -> None:
        self._folder = folder
        self._claim = claim
        self._journal = Journal(folder.journal)

    def append(self, records: Sequence[Record]) -> None:
        """Put records into the journal.

        Raises:
            NotSavedError: nothing of it is there.
        """
        try:
            self._claim = self._claim or Claim(self._folder)
        except ThreadError as error:
            raise NotSavedError(str(error)) from error
        except OSError as error:
            raise NotSavedError(f"cannot write {self._folder.path}: {reason(error)}") from error
        self._journal.append(records)

    def records(self) -> Sequence[Record]:
        """Return what is in the journal.

        Raises:
            OSError: it cannot be read.
        """
        return read(self._folder.journal).records

    def summarise(self, replay: Replay) -> None:
        """Write thread.json; where that fails, the next opening makes up for it."""
        with suppress(OSError):
            write_summary(self._folder.summary, Summary.of(self._folder.id, replay))

    def close(self) -> None:
        """Give the thread free."""
        self._journal.close()
        if self._claim is not None:
            self._claim.release()
            self._claim = None


class Thread:
    """A thread, live. `ThreadStore` and `in_memory` make it.

    What `rename`, `set_model` and `set_mode` change is written at once, or, where nothing
    was committed yet or the disk refuses, along with the next commit.
    """

    def __init__(
        self,
        thread_id: str,
        replay: Replay,
        disk: Disk | None,
        *,
        notices: Iterable[str] = (),
        unsaved_reason: str = "",
        clock: Clock = time.time,
    ) -> None:
        self.id = thread_id
        self.read_only = disk is None and not unsaved_reason
        self.notices = tuple(notices)
        """What to tell the person at the opening, in sentences."""
        self.unsaved_reason = unsaved_reason
        """Why the thread will be gone with the process; empty when it is kept."""
        self.conversation = Conversation(
            thread_id,
            messages=tuple(replay.messages),
            state=State(replay.values),
            usage=replay.usage,
            context_tokens=replay.context_tokens,
            record=self._record,
        )
        self._replay = replay
        self._header = replay.header
        self._disk = disk
        self._clock = clock
        self._summary_behind = False
        self._closed = False
        # A commit is written in a worker thread, a new title in the one of the screen.
        self._writing = Lock()

    @classmethod
    def in_memory(cls, cwd: Path, *, model: str = "", mode: str = "ask", reason: str) -> Thread:
        """Return a new thread that nothing is stored of, because of `reason`, a clause."""
        now = time.time()
        header = Header(cwd=str(cwd), model=model, mode=mode, created=now)
        notice = f"This conversation is not saved: {reason}"
        return cls(new_id(now), new_replay(header), None, notices=(notice,), unsaved_reason=reason)

    @property
    def title(self) -> str:
        """One line, at most 80 cells; empty before a person wrote something."""
        return self._header.title

    @property
    def cwd(self) -> str:
        """The directory it was begun in; empty when that is not known any more."""
        return self._header.cwd

    @property
    def model(self) -> str:
        """The model it was last used with."""
        return self._header.model

    @property
    def mode(self) -> str:
        """The permission mode it was last used with."""
        return self._header.mode

    @property
    def parent(self) -> str:
        """The thread that this one is a copy of; empty where it is none."""
        return self._header.parent

    def moments(self) -> tuple[Moment, ...]:
        """Return the messages of persons, to go back to. Reads the disk.

        Raises:
            ThreadError: the thread is not stored, is only read, or cannot be read.
        """
        if self._disk is None:
            raise ThreadError("Only a thread that is stored, and open for writing, can go back.")
        try:
            return moments(self._disk.records())
        except OSError as error:
            raise ThreadError(f"Thread {self.id} cannot be read: {reason(error)}.") from error

    @property
    def created(self) -> float:
        """When it began, in seconds since 1970."""
        return self._header.created

    @property
    def updated(self) -> float:
        """When it last changed, in seconds since 1970."""
        return self._replay.updated

    def rename(self, title: str) -> None:
        """Give it another title, cut to one line of 80 cells.

        Raises:
            ThreadError: nothing of the title can be shown, or the thread is read-only.
            NotSavedError: the title is not on disk yet; it will be with the next commit.
        """
        cleaned = clean_title(title)
        if not cleaned:
            raise ThreadError("A title needs at least one character that can be shown.")
        if self.read_only:
            raise ThreadError(_read_only(self.id))
        self._header = replace(self._header, title=cleaned)
        self._write_header()

    def set_model(self, name: str) -> None:
        """Remember the model."""
        self._header = replace(self._header, model=name)
        self._write_header_if_possible()

    def set_mode(self, mode: str) -> None:
        """Remember the permission mode."""
        self._header = replace(self._header, mode=mode)
        self._write_header_if_possible()

    def close(self) -> None:
        """Write what is not written yet, as far as the disk allows, and give the thread free.

        Nothing can be committed afterwards.
        """
        self._write_header_if_possible()
        with self._writing:
            self._closed = True
            if self._disk is None:
                return
            if self._summary_behind:
                self._disk.summarise(self._replay)
                self._summary_behind = False
            self._disk.close()

    async def _record(self, commit: Commit) -> None:
        await asyncio.to_thread(self._append, commit)

    def _append(self, commit: Commit) -> None:
        if self.read_only:
            raise NotSavedError(_read_only(self.id))
        with self._writing:
            if self._closed:
                raise NotSavedError(f"thread {self.id} is closed")
            if not self._header.title:
                self._header = replace(self._header, title=title_of(commit.messages))
            seq, at = self._replay.seq + 1, self._clock()
            if self._replay.seq and self._header == self._replay.header:
                self._write([CommitRecord.of(commit, seq=seq, at=at)])
                return
            header = HeaderRecord(seq, at, self._header)
            self._write([header, CommitRecord.of(commit, seq=seq + 1, at=at)])

    def _write_header_if_possible(self) -> None:
        with suppress(NotSavedError):
            self._write_header()

    def _write_header(self) -> None:
        with self._writing:
            unchanged = self._header == self._replay.header
            if unchanged or self.read_only or self._closed or not self._replay.seq:
                return
            self._write([HeaderRecord(self._replay.seq + 1, self._clock(), self._header)])

    def _write(self, records: Sequence[Record]) -> None:
        if self._disk is not None:
            self._disk.append(records)
        for record in records:
            self._replay.apply(record)
        if self._disk is None:
            return
        self._summary_behind = all(map(_within_turn, records))
        if not self._summary_behind:
            self._disk.summarise(self._replay)


def new_replay(header: Header) -> Replay:
    """Return what a thread is before its first record."""
    replay = Replay()
    replay.header = header
    replay.updated = header.created
    return replay


def _within_turn(record: Record) -> bool:
    """Return whether a record only goes on with a turn: lists show nothing that it changes.

    thread.json is written after every other one, and at the closing; how long the thread is
    does not matter to its cost.
    """
    if isinstance(record, HeaderRecord) or record.update or record.keep is not None:
        return False
    last = record.messages[-1] if record.messages else None
    return last is None or last.role == "user" or bool(last.calls)


def _read_only(thread_id: str) -> str:
    return f"thread {thread_id} is open for reading only; go on in a fork of it"
