"""What is stored of a thread: read it, say what is wrong with it, and put that right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from todo_agent.agent.json import Json
from todo_agent.threads.errors import ThreadError
from todo_agent.threads.files import replace_file, set_aside
from todo_agent.threads.folder import Folder
from todo_agent.threads.journal import Reading, Replay, mend_end, read, rewrite
from todo_agent.threads.records import SCHEMA, CommitRecord, Header, HeaderRecord, Record, parse
from todo_agent.threads.summary import PLAN, Summary
from todo_agent.threads.titles import title_of
from todo_agent.threads.upgrade import Upgraded, upgrade


@dataclass(frozen=True, slots=True)
class Stored:
    """A thread as its two files tell it."""

    reading: Reading
    """The journal."""
    json: bytes | None
    """thread.json; None if there is none."""
    summary: Summary | None
    """What thread.json says, if it is of this version."""
    old: Upgraded | None
    """What thread.json says, if it is of an older version and the journal is empty."""
    newer: bool
    """A newer version of the program wrote here."""
    added: tuple[Record, ...]
    """What the journal lost and the rest still tells: the header, the plan."""

    @property
    def records(self) -> tuple[Record, ...]:
        """Everything that is left of the thread."""
        return (*self.reading.records, *(self.old.records if self.old else ()), *self.added)

    @property
    def lost(self) -> int:
        """How many records were behind the journal's present end."""
        return 0 if self.summary is None else max(0, self.summary.seq - self.reading.seq)

    @property
    def unreadable(self) -> bool:
        """Whether there is a thread.json, and it is none."""
        return self.json is not None and self.summary is None and self.old is None

    @property
    def patchy(self) -> bool:
        """Whether records are missing before the journal's end, or stand in the wrong form."""
        return bool(self.reading.damaged or self.reading.missing or self.old or self.added)

    @property
    def sound(self) -> bool:
        """Whether everything can stay as it is."""
        cut = self.reading.torn or self.reading.unfinished
        return not (cut or self.patchy or self.lost or self.unreadable)


def load(folder: Folder) -> Stored:
    """Read a thread without changing anything.

    Raises:
        ThreadError: it was removed meanwhile.
        OSError: a file cannot be read.
    """
    if not folder.exists():
        raise ThreadError(f"Thread {folder.id} was removed.")
    # In this order, or what another process commits in between would look lost.
    content = folder.summary.read_bytes() if folder.summary.exists() else None
    reading = read(folder.journal)
    data = parsed(content)
    summary = summary_in(data)
    old = None if reading.records else upgrade(data)
    return Stored(
        reading,
        content,
        summary,
        old,
        newer=max(reading.schema, _schema(data)) > SCHEMA,
        added=_added((*reading.records, *(old.records if old else ())), summary),
    )


def mend(folder: Folder, stored: Stored) -> tuple[tuple[Record, ...], tuple[Path, ...]]:
    """Make a claimed folder fit for the next commit.

    Returns the records in its journal, and the copies of what was there before.

    Raises:
        OSError: it could not be done; nothing is lost.
    """
    if stored.sound:
        return stored.records, ()
    reading = stored.reading
    kept: list[Path] = []
    if reading.damaged or reading.missing:
        kept.append(set_aside(folder.journal, folder.journal.read_bytes()))
    elif reading.torn:
        kept.append(set_aside(folder.journal, reading.torn))
    if stored.json is not None and (stored.unreadable or stored.lost):
        kept.append(set_aside(folder.summary, stored.json))
    if stored.json is not None and stored.old:
        backup = folder.summary.with_name(f"{folder.summary.name}.version-{stored.old.schema}")
        replace_file(backup, stored.json)
        kept.append(backup)
    if stored.patchy:
        return rewrite(folder.journal, stored.records), tuple(kept)
    if reading.torn or reading.unfinished:
        mend_end(folder.journal, reading)
    return stored.records, tuple(kept)


def faults(stored: Stored) -> tuple[str, ...]:
    """Say what is wrong with a stored thread, in sentences."""
    reading, found = stored.reading, []
    if stored.newer:
        found.append(
            "A newer version of todo-agent wrote this thread. It is open for reading only, "
            "and something of it may not be shown."
        )
    if reading.damaged or reading.missing:
        found.append(
            f"The journal is damaged: {_count(reading.damaged, 'line')} could not be read whole, "
            f"{_count(reading.missing, 'change')} in between gone."
        )
    if reading.torn:
        found.append("The last change was not written to its end, and is lost.")
    if stored.lost:
        found.append(
            f"The end of the journal is gone, with {_count(stored.lost, 'change')}. "
            "The plan is the newest one that thread.json knew."
        )
    if stored.unreadable and not stored.newer:
        found.append(
            "Its thread.json is damaged; what it said is in the journal too."
            if reading.records
            else "Both files of this thread are damaged; there was nothing left to read."
        )
    if stored.old:
        found.append(_upgraded(stored.old))
    return tuple(found)


def parsed(content: bytes | None) -> Json:
    """Return the JSON in a file, or None where there is none."""
    if content is None:
        return None
    try:
        return parse(content)
    except ValueError:
        return None


def summary_in(data: Json) -> Summary | None:
    """Return what a thread.json says, or None if this is none."""
    try:
        return Summary.from_json(data)
    except ValueError:
        return None


def _added(records: tuple[Record, ...], summary: Summary | None) -> tuple[Record, ...]:
    seq = max((record.seq for record in records), default=0)
    has_header = any(isinstance(record, HeaderRecord) for record in records)
    cut_short = summary is not None and summary.seq > seq
    if has_header and not cut_short:
        return ()
    replay = Replay(records)
    added: list[Record] = []
    told = Header(title=title_of(replay.messages), created=replay.updated)
    header = told if summary is None else summary.header
    if not has_header or header != replay.header:
        added.append(HeaderRecord(seq + 1, replay.updated, header))
    plan = summary.state.get(PLAN) if summary is not None and cut_short else None
    if plan is not None and plan != replay.values.get(PLAN):
        update = {PLAN: plan}
        added.append(CommitRecord(seq + 2, replay.updated, update=update, by="restore"))
    return tuple(added)


def _schema(data: Json) -> int:
    schema = data.get("schema") if isinstance(data, Mapping) else None
    return schema if isinstance(schema, int) else SCHEMA


def _upgraded(old: Upgraded) -> str:
    left_out = f", without {_count(old.unreadable, 'unreadable message')}" if old.unreadable else ""
    return f"This thread was stored by an older version and is taken over{left_out}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
