"""The journal of a thread: one commit is one line and one fsync. It is the truth."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from todo_agent.agent.history import append
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message
from todo_agent.agent.provider import NO_USAGE
from todo_agent.threads.errors import NotSavedError
from todo_agent.threads.files import open_private, replace_file, set_aside, sync_dir, write_all
from todo_agent.threads.records import (
    SCHEMA,
    CommitRecord,
    Header,
    HeaderRecord,
    Record,
    decode,
    encode,
    salvage,
)


class Replay:
    """What a thread is after some records."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.header = Header()
        self.messages: list[Message] = []
        self.values: dict[str, Json] = {}
        self.usage = NO_USAGE
        self.context_tokens = 0
        self.updated = 0.0
        self.seq = 0
        """The number of the last record."""
        self.commits = 0
        for record in records:
            self.apply(record)

    def apply(self, record: Record) -> None:
        """Go on by one record."""
        self.seq = max(self.seq, record.seq)
        self.updated = record.at
        match record:
            case HeaderRecord(header=header):
                self.header = header
            case CommitRecord():
                self._commit(record)

    def _commit(self, record: CommitRecord) -> None:
        self.commits += 1
        if record.keep is not None:
            del self.messages[record.keep :]
        for message in record.messages:
            # `append` looks no further back; the whole each time would cost its square.
            self.messages[-2:] = append(tuple(self.messages[-2:]), message)
        self.values = {
            name: value
            for name, value in {**self.values, **record.update}.items()
            if value is not None
        }
        self.usage = self.usage + record.usage
        if record.usage != NO_USAGE:
            self.context_tokens = record.usage.context_tokens


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in a journal."""

    replay: Replay
    damaged: int = 0
    """Lines that are not whole records. What is whole in them is in the replay."""
    missing: int = 0
    """Records that the numbering says are gone."""
    whole_bytes: int = 0
    """Where the last whole line ends."""
    torn: bytes = b""
    """The beginning of a last line that was never finished."""
    unfinished: bool = False
    """The last record is whole and only its line end is missing."""
    newest_schema: int = SCHEMA


def read(path: Path) -> Reading:
    """Read a journal; a file that is not there is an empty one.

    No content of the file makes this raise, and every whole record is in the replay.

    Raises:
        OSError: the file cannot be read.
    """
    replay = Replay()
    damaged = missing = whole_bytes = 0
    torn, unfinished, newest = b"", False, SCHEMA
    for line in _lines(path):
        finished = line.endswith(b"\n")
        records, whole = _records(line)
        if not finished and not records:
            torn = line
            continue
        whole_bytes += len(line)
        unfinished = not finished
        damaged += not whole
        for record in records:
            missing += max(0, record.seq - replay.seq - 1)
            newest = max(newest, record.schema)
            replay.apply(record)
    return Reading(replay, damaged, missing, whole_bytes, torn, unfinished, newest)


def repair(path: Path, reading: Reading) -> str:
    """Make a journal fit for the next append; return what was done, or "".

    What was not a whole record is kept aside.

    Raises:
        OSError: it could not be done; the journal is as it was.
    """
    if reading.damaged or reading.missing:
        aside = set_aside(path, path.read_bytes())
        rewrite(path, records(path))
        return (
            f"The journal was damaged: {_count(reading.damaged, 'line')} could not be read, "
            f"{_count(reading.missing, 'record')} in between are gone. "
            f"The original is kept as {aside}."
        )
    if reading.torn:
        aside = set_aside(path, reading.torn)
        os.truncate(path, reading.whole_bytes)
        return (
            "The last change was not written to the end, and is lost. "
            f"What there was of it is kept as {aside}."
        )
    if reading.unfinished:
        fd = open_private(path, os.O_WRONLY | os.O_APPEND)
        try:
            write_all(fd, b"\n")
        finally:
            os.close(fd)
    return ""


def records(path: Path) -> Iterator[Record]:
    """Yield every whole record of a journal, in order."""
    for line in _lines(path):
        yield from _records(line)[0]


def rewrite(path: Path, content: Iterable[Record]) -> None:
    """Write a whole journal, numbering the records anew."""
    lines = (encode(replace(record, seq=seq)) for seq, record in enumerate(content, 1))
    replace_file(path, b"".join(lines), durable=True)


class Journal:
    """Appends to one journal. It must be whole, and nobody else may write to it meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None
        self._end: int | None = None
        """Where a failed append has to be cut off; None when there is none."""

    def append(self, new: Sequence[Record]) -> None:
        """Write records with one write and one fsync.

        Raises:
            NotSavedError: nothing of it is in the journal.
        """
        data = b"".join(encode(record) for record in new)
        try:
            fd = self._ready()
            self._end = os.fstat(fd).st_size
            write_all(fd, data)
            os.fsync(fd)
            self._end = None
        except OSError as error:
            self._cut_off()
            reason = error.strerror or str(error)
            raise NotSavedError(f"cannot write {self._path}: {reason}") from error

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _ready(self) -> int:
        if self._fd is None:
            self._fd = open_private(self._path, os.O_RDWR | os.O_APPEND)
            sync_dir(self._path.parent)
        if os.fstat(self._fd).st_nlink == 0:
            raise FileNotFoundError(None, "it was removed or replaced while the thread was open")
        if self._end is not None:
            os.ftruncate(self._fd, self._end)
        return self._fd

    def _cut_off(self) -> None:
        if self._fd is None or self._end is None:
            return
        try:
            os.ftruncate(self._fd, self._end)
        except OSError:
            return  # The next append begins with it.
        self._end = None


def _lines(path: Path) -> Iterator[bytes]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        yield from file


def _records(line: bytes) -> tuple[tuple[Record, ...], bool]:
    """Return the whole records of a line, and whether it is nothing but one."""
    try:
        return (decode(line),), True
    except ValueError:
        return salvage(line), False


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
