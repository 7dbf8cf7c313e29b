"""The journal of a thread: one commit is one line and one fsync. It is the truth."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from todo_agent.agent.history import append
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message
from todo_agent.agent.provider import NO_USAGE
from todo_agent.threads.errors import NotSavedError, reason
from todo_agent.threads.files import open_private, replace_file, sync_dir, write_all
from todo_agent.threads.records import (
    SCHEMA,
    CommitRecord,
    Header,
    HeaderRecord,
    Record,
    decode,
    encode,
    salvage,
    version,
)

MAX_HEADER_BYTES = 64 * 1024
"""More than a title, a path and two names take."""


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
        if record.keep is not None:
            del self.messages[record.keep :]
        for message in record.messages:
            # `append` looks no further back; the whole each time would cost its square.
            self.messages[-2:] = append(tuple(self.messages[-2:]), message)
        for name, value in record.update.items():
            if value is None:
                self.values.pop(name, None)
            else:
                self.values[name] = value
        self.usage = self.usage + record.usage
        if record.context_tokens is not None:
            self.context_tokens = record.context_tokens
        elif record.usage != NO_USAGE:
            self.context_tokens = record.usage.context_tokens


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in a journal."""

    records: tuple[Record, ...] = ()
    """Every whole record, in order."""
    damaged: int = 0
    """Lines that are not exactly one record each."""
    missing: int = 0
    """Records that are gone, by the numbering."""
    torn: bytes = b""
    """The beginning of a last line that was never finished."""
    unfinished: bool = False
    """The last record is whole and only the end of its line is missing."""
    schema: int = SCHEMA
    """The newest version that wrote here."""

    @property
    def seq(self) -> int:
        """The number of the last record."""
        return max((record.seq for record in self.records), default=0)


def read(path: Path) -> Reading:
    """Read a journal; a file that is not there is an empty one.

    No content of the file makes this raise.

    Raises:
        OSError: the file cannot be read.
    """
    records: list[Record] = []
    seq = damaged = missing = 0
    schema = SCHEMA
    finished = True
    for line in _lines(path):
        found, whole = _records(line)
        finished = line.endswith(b"\n")
        if not finished and not found:
            return Reading(tuple(records), damaged, missing, torn=line, schema=schema)
        damaged += not whole
        schema = max(schema, *(record.schema for record in found), 0 if whole else version(line))
        for record in found:
            missing += max(0, record.seq - seq - 1)
            seq = max(seq, record.seq)
        records += found
    return Reading(tuple(records), damaged, missing, unfinished=not finished, schema=schema)


def rewrite(path: Path, records: Iterable[Record]) -> tuple[Record, ...]:
    """Replace a whole journal, and return its records, numbered anew.

    Raises:
        OSError: it could not be done; the journal is as it was.
    """
    numbered = tuple(replace(record, seq=seq) for seq, record in enumerate(records, 1))
    replace_file(path, b"".join(map(encode, numbered)))
    return numbered


def mend_end(path: Path, reading: Reading) -> None:
    """Cut off a line that was never finished, and end a last record that only lacks its end.

    What stands before is not touched, so this takes no space on a full disk.

    Raises:
        OSError: it could not be done; no record is lost.
    """
    fd = open_private(path, os.O_WRONLY | os.O_APPEND)
    try:
        if reading.torn:
            os.ftruncate(fd, os.fstat(fd).st_size - len(reading.torn))
        if reading.unfinished:
            write_all(fd, b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)


def first_header(path: Path) -> Header | None:
    """Return the header in the first line of a journal; the rest of the file is not read.

    None where no header stands there.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        line = file.readline(MAX_HEADER_BYTES)
    try:
        record = decode(line)
    except ValueError:
        return None
    return record.header if isinstance(record, HeaderRecord) else None


class Journal:
    """Appends to one journal. It must be whole, and nobody else may write to it meanwhile.

    Args:
        path: the file; it is created with the first record.
        sync: returns when all that was written to a file is on disk, or raises OSError.
    """

    def __init__(self, path: Path, *, sync: Callable[[int], None] = os.fsync) -> None:
        self._path = path
        self._sync = sync
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
            self._sync(fd)
            self._end = None
        except OSError as error:
            self._cut_off()
            raise NotSavedError(f"cannot write {self._path}: {reason(error)}") from error

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _ready(self) -> int:
        if self._fd is None:
            self._fd = open_private(self._path, os.O_WRONLY | os.O_APPEND)
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
