from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.threads.support import STORY, content, full_disk, look, plan, record, stored
from todo_agent.agent.conversation import Commit
from todo_agent.agent.messages import user
from todo_agent.threads.store import ThreadError, ThreadInfo, ThreadStore


def reopen(store: ThreadStore, thread_id: str) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Open, commit once more, and open again: the messages, and what was told each time."""
    thread = store.open(thread_id)
    record(thread, [Commit((user("after the damage"),))])
    thread.close()
    again = store.open(thread_id)
    again.close()
    assert content(again) == content(thread)
    return len(again.conversation.messages), thread.notices, again.notices


def test_a_torn_last_line_is_cut_off_kept_and_told_once(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    journal = root / thread_id / "messages.jsonl"
    with journal.open("ab") as file:
        file.write(b'{"v":1,"kind":"commit","se')
    count, told, later = reopen(store, thread_id)
    aside = root / thread_id / "messages.jsonl.damaged-1"
    assert (count, later) == (5, ())
    assert told == (
        "The last change was not written to its end, and is lost.",
        f"What was there before is kept: {aside}.",
    )
    assert aside.read_bytes() == b'{"v":1,"kind":"commit","se'


def test_a_torn_last_line_takes_no_space_to_be_cut_off(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store, [Commit((user("x" * 1000),))] * 20)
    journal = root / thread_id / "messages.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b"torn")
    with full_disk(4000):
        thread = store.open(thread_id)
    thread.close()
    assert (thread.read_only, journal.read_bytes()) == (False, whole)


def test_a_copy_that_cannot_be_kept_leaves_nothing_and_the_damage_as_it_is(
    store: ThreadStore, root: Path
) -> None:
    thread_id = stored(store)
    journal = root / thread_id / "messages.jsonl"
    damaged = journal.read_bytes() + b"garbage\n"
    journal.write_bytes(damaged)
    with full_disk(500):
        thread = store.open(thread_id)
    assert (thread.read_only, len(thread.conversation.messages)) == (True, 4)
    assert sorted(path.name for path in (root / thread_id).iterdir()) == [
        "lock",
        "messages.jsonl",
        "thread.json",
    ]
    assert journal.read_bytes() == damaged


def test_a_fork_tells_what_is_damaged(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    with (root / thread_id / "messages.jsonl").open("ab") as journal:
        journal.write(b"garbage\n")
    fork = store.fork(thread_id)
    fork.close()
    assert fork.notices == (
        "The journal is damaged: 1 line could not be read whole, 0 changes in between gone.",
    )


def test_a_title_that_the_journal_lost_is_taken_from_thread_json(
    store: ThreadStore, root: Path
) -> None:
    thread_id = stored(store)
    journal = root / thread_id / "messages.jsonl"
    before = journal.read_bytes()
    store.rename(thread_id, "Another title")
    journal.write_bytes(before)
    store.open(thread_id).close()
    assert (store.list()[0].title, look(store, thread_id).title) == ("Another title",) * 2


@pytest.mark.parametrize("name", ["messages.jsonl", "thread.json", "lock"])
def test_a_pipe_keeps_nobody_waiting(store: ThreadStore, root: Path, name: str) -> None:
    thread_id = stored(store)
    pipe = root / thread_id / name
    pipe.unlink()
    os.mkfifo(pipe)
    assert [info.damaged for info in store.list()] == [True]
    with pytest.raises(ThreadError, match="neither a file nor a directory"):
        store.open(thread_id)


def test_a_last_line_without_its_end_is_not_lost(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    journal = root / thread_id / "messages.jsonl"
    journal.write_bytes(journal.read_bytes()[:-1])
    assert reopen(store, thread_id) == (5, (), ())


def test_damage_in_the_middle_costs_only_itself(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store, [Commit((user(f"message {n}"),)) for n in range(6)])
    journal = root / thread_id / "messages.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[2] = b"\0" * 20 + b"\n"
    lines[4] = b"garbage" + lines[4]
    damaged = b"".join(lines)
    journal.write_bytes(damaged)
    count, told, later = reopen(store, thread_id)
    aside = root / thread_id / "messages.jsonl.damaged-1"
    assert (count, later) == (6, ())
    assert told == (
        "The journal is damaged: 2 lines could not be read whole, 1 change in between gone.",
        f"What was there before is kept: {aside}.",
    )
    assert aside.read_bytes() == damaged
    texts = [message.text for message in look(store, thread_id).conversation.messages]
    assert texts == [*(f"message {n}" for n in (0, 2, 3, 4, 5)), "after the damage"]


@pytest.mark.parametrize("rest", [None, b"", b"\0\0\0\0\0"])
def test_a_thread_without_a_journal_keeps_its_header_and_plan(
    store: ThreadStore, root: Path, rest: bytes | None
) -> None:
    thread_id = stored(store)
    journal = root / thread_id / "messages.jsonl"
    journal.unlink()
    if rest is not None:
        journal.write_bytes(rest)
    summary = (root / thread_id / "thread.json").read_bytes()
    count, told, later = reopen(store, thread_id)
    opened = look(store, thread_id)
    assert (count, later, opened.title) == (1, (), "Fix the parser")
    assert opened.conversation.state.to_json() == {"plan": plan(("fix", "done"))}
    assert any(notice.startswith("The end of the journal is gone, with 7 ch") for notice in told)
    assert (root / thread_id / "thread.json.damaged-1").read_bytes() == summary


@pytest.mark.parametrize(
    "rest",
    [b"", b"\0\0", b"[]", b"{}", b'{"schema":1}', b"[" * 99999],
    ids=["empty", "nulls", "list", "object", "bare", "deep"],
)
def test_a_damaged_thread_json_is_kept_and_made_again_of_the_journal(
    store: ThreadStore, root: Path, rest: bytes
) -> None:
    thread_id = stored(store)
    summary = root / thread_id / "thread.json"
    good = summary.read_bytes()
    summary.write_bytes(rest)
    assert [(info.id, info.damaged) for info in store.list()] == [(thread_id, True)]
    thread = store.open(thread_id)
    thread.close()
    aside = root / thread_id / "thread.json.damaged-1"
    assert thread.notices == (
        "Its thread.json is damaged; what it said is in the journal too.",
        f"What was there before is kept: {aside}.",
    )
    assert (aside.read_bytes(), summary.read_bytes()) == (rest, good)
    again = store.open(thread_id)
    again.close()
    assert again.notices == ()


def test_a_missing_thread_json_is_made_again_of_the_journal(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    summary = root / thread_id / "thread.json"
    good = summary.read_bytes()
    summary.unlink()
    thread = store.open(thread_id)
    thread.close()
    assert (thread.notices, summary.read_bytes()) == ((), good)


def test_a_thread_without_thread_json_is_listed_by_its_first_header(
    store: ThreadStore, root: Path, tmp_path: Path
) -> None:
    thread = record(store.create(tmp_path, model="a-model"))
    thread.close()
    journal, summary = (root / thread.id / name for name in ("messages.jsonl", "thread.json"))
    summary.unlink()
    (found,) = store.list()
    assert found == ThreadInfo(
        thread.id,
        "Fix the parser",
        str(tmp_path),
        updated=journal.stat().st_mtime,
        created=thread.created,
        model="a-model",
        damaged=True,
    )
    assert store.newest(tmp_path) == found


def test_thread_json_that_is_behind_is_brought_up_to_date(store: ThreadStore, root: Path) -> None:
    thread = record(store.create(Path("/project")), STORY[:4])
    old = (root / thread.id / "thread.json").read_bytes()
    record(thread, STORY[4:])
    thread.close()
    (root / thread.id / "thread.json").write_bytes(old)
    store.open(thread.id).close()
    assert store.list()[0].messages == 4
    assert store.list()[0].plan == plan(("fix", "done"))


@pytest.mark.parametrize("rest", [b"", b"\0\0\0\0\0", b"{"])
def test_a_thread_of_which_nothing_is_left_opens_empty_and_keeps_the_file(
    store: ThreadStore, root: Path, rest: bytes
) -> None:
    folder = root / "lost"
    folder.mkdir(parents=True)
    (folder / "thread.json").write_bytes(rest)
    assert [(info.id, info.damaged) for info in store.list()] == [("lost", True)]
    count, told, later = reopen(store, "lost")
    assert (count, later) == (1, ())
    assert told == (
        "Both files of this thread are damaged; there was nothing left to read.",
        f"What was there before is kept: {folder / 'thread.json.damaged-1'}.",
    )
    assert (folder / "thread.json.damaged-1").read_bytes() == rest


def test_a_value_the_loop_cannot_read_is_dropped_and_told(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    with (root / thread_id / "messages.jsonl").open("a") as journal:
        update = {"extra": 7, "suspended": {"question": None}}
        line = {"v": 1, "kind": "commit", "seq": 8, "at": 1.0, "by": "user", "update": update}
        journal.write(json.dumps(line) + "\n")
    thread = store.open(thread_id)
    thread.close()
    assert thread.notices == (
        "The stored value of 'extra' could not be understood.",
        "The stored value of 'suspended' could not be understood.",
    )
    assert thread.conversation.extra == {}


PLACES = st.tuples(st.integers(0, 1800), st.integers(0, 1800))
GARBAGE = st.one_of(st.binary(max_size=50), st.integers(0, 1800).map(bytes))


@settings(max_examples=60, deadline=None)
@given(st.tuples(PLACES, PLACES), st.tuples(GARBAGE, GARBAGE))
def test_no_damage_makes_a_thread_unusable(
    places: tuple[tuple[int, int], ...], garbage: tuple[bytes, ...]
) -> None:
    with TemporaryDirectory() as folder:
        store = ThreadStore(Path(folder))
        thread_id = stored(store)
        files = ("messages.jsonl", "thread.json")
        for name, (start, length), put in zip(files, places, garbage, strict=True):
            file = Path(folder, thread_id, name)
            before = file.read_bytes()
            file.write_bytes(before[:start] + put + before[start + length :])
        assert [info.id for info in store.list()] == [thread_id]
        look(store, thread_id)
        reopen(store, thread_id)


def test_what_cannot_be_repaired_is_opened_for_reading(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    journal = root / thread_id / "messages.jsonl"
    with journal.open("ab") as file:
        file.write(b"garbage\n")
    before = journal.read_bytes()
    (root / thread_id / "messages.jsonl.new").mkdir()
    thread = store.open(thread_id)
    assert (thread.read_only, len(thread.conversation.messages)) == (True, 4)
    assert thread.notices[0].startswith("It cannot be repaired now: ")
    assert journal.read_bytes() == before
    (root / thread_id / "messages.jsonl.new").rmdir()
    assert not store.open(thread_id).read_only


def test_a_file_that_cannot_be_read_is_one_clear_error(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    journal = root / thread_id / "messages.jsonl"
    journal.unlink()
    journal.mkdir()
    with pytest.raises(ThreadError, match=rf"Thread {thread_id} cannot be used: .*messages\.jsonl"):
        store.open(thread_id)


def test_a_thread_that_cannot_be_claimed_is_opened_for_reading(
    store: ThreadStore, root: Path
) -> None:
    thread_id = stored(store)
    lock = root / thread_id / "lock"
    lock.unlink()
    lock.mkdir()
    thread = store.open(thread_id)
    assert (thread.read_only, len(thread.conversation.messages)) == (True, 4)
    assert thread.notices == ("It cannot be changed: Is a directory.",)


def test_a_copy_that_does_not_fit_leaves_nothing(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    with full_disk(100), pytest.raises(ThreadError, match=r"cannot be used: .*File too large"):
        store.fork(thread_id)
    assert [path.name for path in root.iterdir()] == [thread_id]


def test_a_root_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ThreadError, match=r"Cannot read .*file: Not a directory\."):
        ThreadStore(tmp_path / "file").list()
