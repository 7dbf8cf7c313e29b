from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.threads.support import STORY, full_disk
from todo_agent.agent.json import Json
from todo_agent.threads.errors import NotSavedError
from todo_agent.threads.journal import Journal, Reading, Replay, first_header, read, rewrite
from todo_agent.threads.records import (
    CommitRecord,
    Header,
    HeaderRecord,
    Record,
    decode,
    encode,
    salvage,
)

RECORDS: tuple[Record, ...] = (
    HeaderRecord(1, 10.0, Header("Fix the parser", "/project", "a-model", created=9.5)),
    *(CommitRecord.of(commit, seq=seq, at=10.0 + seq) for seq, commit in enumerate(STORY, 2)),
)
LINES = tuple(encode(record) for record in RECORDS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "messages.jsonl"


def test_what_is_appended_is_read_again(path: Path) -> None:
    journal = Journal(path)
    for record in RECORDS:
        journal.append([record])
    journal.close()
    assert read(path) == Reading(RECORDS)
    assert path.read_bytes() == b"".join(LINES)


def test_one_record_is_one_line_whatever_is_in_it() -> None:
    assert [line.count(b"\n") for line in LINES] == [1] * len(LINES)


def test_a_lone_surrogate_is_stored_without_loss_and_as_utf8() -> None:
    record = CommitRecord(1, 0.0, update={"path": "caf\udce9", "other": "日本"})
    line = encode(record)
    line.decode("utf-8")
    assert decode(line) == record


def test_a_replay_joins_results_forgets_and_counts() -> None:
    replay = Replay(RECORDS)
    texts = [message.text for message in replay.messages]
    assert texts == ["Fix the parser\nIt is broken.", "I look.", "", "Done 🎉"]
    assert [r.tool_use_id for r in replay.messages[2].results] == ["c1", "c2"]
    assert (replay.usage.input_tokens, replay.context_tokens, replay.seq) == (300, 210, 7)


def test_a_null_in_an_update_removes_the_value() -> None:
    records = [
        CommitRecord(1, 0.0, update={"a": 1, "b": 2}),
        CommitRecord(2, 0.0, update={"a": None}),
    ]
    assert Replay(records).values == {"b": 2}


def test_a_journal_cut_anywhere_keeps_every_whole_record(path: Path) -> None:
    whole = b"".join(LINES)
    ends = [sum(map(len, LINES[:n])) for n in range(1, len(LINES) + 1)]
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        kept = sum(end - 1 <= cut for end in ends)
        unfinished = cut + 1 in ends
        begun = max([end for end in ends if end - 1 <= cut], default=0)
        torn = b"" if unfinished else whole[begun:cut]
        assert read(path) == Reading(RECORDS[:kept], torn=torn, unfinished=unfinished)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damage_costs_only_the_lines_it_hits(data: st.DataObject) -> None:
    whole = b"".join(LINES)
    start = data.draw(st.integers(0, len(whole) - 1))
    length = data.draw(st.integers(1, 400))
    garbage = data.draw(
        st.one_of(
            st.binary(min_size=length, max_size=length),
            st.just(b"\0" * length),
            st.just(b""),
            st.just(b"\n" * length),
        )
    )
    damaged = whole[:start] + garbage + whole[start + length :]
    ends = [sum(map(len, LINES[:n])) for n in range(len(LINES) + 1)]
    untouched = [
        record
        for record, begin, end in zip(RECORDS, ends, ends[1:], strict=False)
        if end <= start or begin >= start + length
    ]
    reading = _read_bytes(damaged)
    assert [r for r in reading.records if r in untouched] == untouched
    if list(reading.records) != list(RECORDS):
        lost = reading.damaged or reading.missing or reading.torn
        changed = len(reading.records) == len(RECORDS)
        cut_at_the_end = reading.records == RECORDS[: len(reading.records)]
        assert lost or changed or cut_at_the_end


def test_a_file_of_nulls_is_one_damaged_line(path: Path) -> None:
    path.write_bytes(b"\0" * 5 + b"\n")
    assert read(path) == Reading(damaged=1)


def test_records_behind_garbage_and_in_one_line_are_found() -> None:
    line = b"\0\0{garbage" + LINES[1].strip() + LINES[2].strip() + LINES[3][:40]
    assert salvage(line) == RECORDS[1:3]


def test_a_record_quoted_in_another_one_is_not_taken_for_one() -> None:
    quoting = CommitRecord(1, 0.0, update={"text": LINES[1].decode()})
    assert salvage(b"x" + encode(quoting)[:-4]) == ()


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_an_object_within_a_record_is_not_taken_for_one(cut: int) -> None:
    forged: Json = {"v": 1, "kind": "commit", "seq": 9, "at": 1, "by": "user", "keep": 0}
    for update in ({"a": forged}, {"a": forged, "b": 1}, {"a": [forged]}):
        line = encode(CommitRecord(1, 0.0, update=update))
        assert salvage(line[cut:]) == ()


def test_the_first_header_is_read_without_the_rest(path: Path) -> None:
    path.write_bytes(LINES[0] + b"\0" * 100)
    assert first_header(path) == Header("Fix the parser", "/project", "a-model", created=9.5)
    path.write_bytes(LINES[1] + LINES[0])
    assert first_header(path) is None
    path.write_bytes(b"x" * 10**6)
    assert first_header(path) is None


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"[" * 100_000,
        b'{"v":1,"kind":"commit","seq":1,"at":NaN}',
        b'{"v":1,"kind":"commit","seq":1,"at":-1}',
        b'{"v":1,"kind":"commit","seq":1,"at":1,"by":"nobody"}',
        b'{"v":1,"kind":"commit","seq":1,"at":1,"by":"user","keep":-1}',
        b'{"v":1,"kind":"commit","seq":1,"at":1,"by":"user","messages":[1]}',
        b'{"v":1,"kind":"commit","seq":1,"at":1,"by":"user","messages":[{"role":"x"}]}',
        b'{"v":1,"kind":"commit","seq":1,"at":1,"by":"user","update":[]}',
        b'{"v":1,"kind":"commit","seq":1,"at":1,"by":"user","usage":{}}',
        b'{"v":1,"kind":"meta","seq":1,"at":1,"title":1}',
    ],
)
def test_what_is_no_record_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- the message differs by what is wrong
        decode(line)


def test_a_full_disk_leaves_the_journal_as_it_was_and_the_record_can_be_tried_again(
    path: Path,
) -> None:
    journal = Journal(path)
    journal.append(RECORDS[:2])
    before = path.read_bytes()
    with full_disk(len(before) + 40), pytest.raises(NotSavedError) as refused:
        journal.append(RECORDS[2:3])
    assert str(refused.value) == f"cannot write {path}: File too large"
    assert path.read_bytes() == before
    journal.append(RECORDS[2:3])
    journal.close()
    assert read(path) == Reading(RECORDS[:3])


def test_a_failed_sync_cuts_the_record_off_and_it_can_be_tried_again(path: Path) -> None:
    disk = FailingDisk(path)
    journal = Journal(path, sync=disk.sync)
    journal.append(RECORDS[:2])
    disk.fails = True
    with pytest.raises(NotSavedError) as refused:
        journal.append(RECORDS[2:3])
    assert str(refused.value) == f"cannot write {path}: Input/output error"
    assert path.read_bytes() == b"".join(LINES[:2])
    disk.fails = False
    journal.append(RECORDS[2:3])
    journal.close()
    assert read(path) == Reading(RECORDS[:3])


def test_what_cannot_be_cut_off_at_once_is_cut_off_before_the_next_record(path: Path) -> None:
    disk = FailingDisk(path)
    journal = Journal(path, sync=disk.sync)
    journal.append(RECORDS[:2])
    disk.fails = disk.turns_read_only = True
    with pytest.raises(NotSavedError):
        journal.append(RECORDS[2:3])
    assert path.read_bytes() == b"".join(LINES[:3])
    with pytest.raises(NotSavedError):
        journal.append(RECORDS[4:5])
    disk.recover()
    journal.append(RECORDS[4:5])
    journal.close()
    assert path.read_bytes() == b"".join((*LINES[:2], LINES[4]))


class FailingDisk:
    """A disk that loses what it should keep, and may not even take it back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fails = False
        self.turns_read_only = False
        self._fd = -1
        self._kept = -1

    def sync(self, fd: int) -> None:
        if not self.fails:
            return
        if self.turns_read_only:
            self._fd, self._kept = fd, os.dup(fd)
            reader = os.open(self._path, os.O_RDONLY)
            os.dup2(reader, fd)
            os.close(reader)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def recover(self) -> None:
        os.dup2(self._kept, self._fd)
        os.close(self._kept)
        self.fails = False


def test_a_journal_that_was_removed_is_not_written_to_in_silence(path: Path) -> None:
    journal = Journal(path)
    journal.append(RECORDS[:1])
    path.unlink()
    with pytest.raises(NotSavedError, match="removed or replaced"):
        journal.append(RECORDS[1:2])
    journal.close()


def test_a_rewritten_journal_is_numbered_anew(path: Path) -> None:
    rewrite(path, (RECORDS[0], RECORDS[3]))
    reading = read(path)
    assert [record.seq for record in reading.records] == [1, 2]
    assert (reading.missing, reading.damaged) == (0, 0)


def _read_bytes(data: bytes) -> Reading:
    with TemporaryDirectory() as folder:
        path = Path(folder, "messages.jsonl")
        path.write_bytes(data)
        return read(path)
