from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.threads.support import (
    PLAN,
    STORY,
    content,
    look,
    modes,
    plan,
    record,
    stored,
)
from todo_agent.agent.conversation import EXTRA, Commit
from todo_agent.agent.messages import user
from todo_agent.threads.ids import new_id
from todo_agent.threads.store import ThreadError, ThreadInfo, ThreadStore


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def ids(*names: str) -> ThreadIds:
    return ThreadIds(names)


class ThreadIds:
    """Gives threads the names of a test."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = iter(names)

    def __call__(self, now: float) -> str:
        return next(self._names)


def test_a_thread_comes_back_whole(store: ThreadStore) -> None:
    thread = record(store.create(Path("/project"), model="a-model", mode="plan"))
    thread.conversation.extra["note"] = {"seen": ["a"]}
    record(thread, [Commit((user("and on"),))])
    thread.close()
    opened = store.open(thread.id)
    assert content(opened) == content(thread)
    assert opened.title == "Fix the parser"
    assert opened.conversation.state[EXTRA] == {"note": {"seen": ["a"]}}
    assert (opened.created, opened.updated) == (thread.created, thread.updated)
    assert (opened.notices, opened.read_only, opened.unsaved_reason) == ((), False, "")
    opened.close()


def test_nothing_is_stored_before_the_first_commit(store: ThreadStore, root: Path) -> None:
    thread = store.create(Path("/project"))
    thread.rename("A name")
    thread.set_mode("plan")
    assert not root.exists()
    record(thread, STORY[:1])
    thread.close()
    assert (look(store, thread.id).title, look(store, thread.id).mode) == ("A name", "plan")


def test_a_commit_costs_one_line_whatever_came_before(store: ThreadStore, root: Path) -> None:
    thread = record(store.create(Path("/project")), [Commit((user("x"),))] * 50)
    lines = (root / thread.id / "messages.jsonl").read_bytes().splitlines()
    thread.close()
    assert len(lines) == 51
    assert max(map(len, lines[1:])) - min(map(len, lines[1:])) < 20


def test_header_changes_are_kept(store: ThreadStore) -> None:
    thread_id = stored(store)
    thread = store.open(thread_id)
    thread.rename("  Another\x1b[31m title\nwith a second line ")
    thread.set_model("b-model")
    thread.set_mode("auto")
    thread.close()
    opened = look(store, thread_id)
    assert (opened.title, opened.model, opened.mode) == ("Another title", "b-model", "auto")
    assert store.list()[0].title == "Another title"
    store.rename(thread_id, "Third")
    assert look(store, thread_id).title == "Third"


def test_a_title_needs_something_to_show(store: ThreadStore) -> None:
    thread_id = stored(store)
    with pytest.raises(ThreadError, match="at least one character"):
        store.rename(thread_id, " \x07\n ")


def test_the_list_is_newest_first_and_shows_the_plan(store: ThreadStore, root: Path) -> None:
    clock = count(100)
    timed = ThreadStore(root, clock=lambda: float(next(clock)), new_id=ids("a", "b"))
    first, second = stored(timed), stored(timed, STORY[:4])
    found = timed.list()
    assert found == [
        ThreadInfo(
            second,
            "Fix the parser",
            "/project",
            updated=111.0,
            created=107.0,
            model="a-model",
            messages=3,
            plan=plan(("look", "done"), ("fix", "in_progress")),
        ),
        ThreadInfo(
            first,
            "Fix the parser",
            "/project",
            updated=106.0,
            created=100.0,
            model="a-model",
            messages=4,
            plan=plan(("fix", "done")),
        ),
    ]
    assert [(info.done, info.total) for info in found] == [(1, 2), (1, 1)]


def test_the_newest_thread_of_a_directory_is_found_by_its_real_path(
    store: ThreadStore, tmp_path: Path
) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    thread = record(store.create(project), STORY[:1])
    thread.close()
    record(store.create(other), STORY[:1]).close()
    newest = store.newest(tmp_path / "link")
    assert newest is not None
    assert newest.id == thread.id
    assert store.newest(tmp_path / "nowhere") is None


def test_the_newest_thread_of_a_directory_that_is_gone_is_found(
    store: ThreadStore, tmp_path: Path
) -> None:
    thread = record(store.create(tmp_path / "gone"), STORY[:1])
    thread.close()
    newest = store.newest(tmp_path / "gone")
    assert newest is not None
    assert newest.id == thread.id


@pytest.mark.parametrize("cwd", ["", ".", "/a\0b", "/a\ud800b", "/" + "x" * 5000])
def test_a_stored_path_that_is_none_is_nobodys_directory(
    store: ThreadStore, root: Path, tmp_path: Path, cwd: str
) -> None:
    thread_id = stored(store)
    summary = root / thread_id / "thread.json"
    summary.write_text(json.dumps(json.loads(summary.read_text()) | {"cwd": cwd}))
    assert store.newest(Path()) is None
    assert store.newest(tmp_path / "gone") is None


def test_a_thread_killed_within_a_turn_is_as_new_as_its_journal(
    store: ThreadStore, root: Path
) -> None:
    killed, other = stored(store), stored(store)
    journal = root / killed / "messages.jsonl"
    later = journal.stat().st_mtime + 60
    os.utime(journal, (later, later))
    assert [(info.id, info.updated == later) for info in store.list()] == [
        (killed, True),
        (other, False),
    ]


def test_a_relative_directory_is_stored_whole(store: ThreadStore) -> None:
    assert store.create(Path("project")).cwd == str(Path("project").absolute())


def test_a_title_in_a_file_is_made_safe_to_show(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    for name in ("thread.json", "messages.jsonl"):
        file = root / thread_id / name
        file.write_text(file.read_text().replace("Fix the parser", r"\u001b]0;x\u0007A\nB", 1))
    assert (store.list()[0].title, look(store, thread_id).title) == ("A", "A")


def test_a_unique_prefix_is_enough(root: Path) -> None:
    store = ThreadStore(root, new_id=ids("813336ff-14d0", "813336aa-0000", "813336"))
    for _ in range(2):
        stored(store)
    assert store.resolve("813336ff") == "813336ff-14d0"
    assert store.resolve("813336FF") == "813336ff-14d0"
    with pytest.raises(ThreadError) as ambiguous:
        store.resolve("8133")
    assert str(ambiguous.value) == "'8133' fits 2 threads: 813336ff-14d0, 813336aa-0000."
    stored(store)
    assert store.resolve("813336") == "813336"


@pytest.mark.parametrize("name", ["zzz", "con", "CON"])
def test_an_unknown_id_is_an_error(store: ThreadStore, name: str) -> None:
    stored(store)
    with pytest.raises(ThreadError, match=f"There is no thread '{name.lower()}'"):
        store.open(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "../../evil",
        "/etc/passwd",
        "a/b",
        "..",
        ".",
        "x\0y",
        "a" * 300,
        "é",
        "\u212a",
        "a\n",
    ],
)
def test_what_is_no_id_never_becomes_a_path(store: ThreadStore, name: str) -> None:
    stored(store)
    for use in (store.resolve, store.open, store.fork, store.remove):
        with pytest.raises(ThreadError, match=r"is no thread id|Name a thread"):
            use(name)


def test_ids_sort_by_time_and_can_be_used() -> None:
    made = [new_id(float(now)) for now in (1, 1_000, 1_700_000_000, 1_700_000_001, 30_000_000_000)]
    assert made == sorted(made)
    assert all(re.fullmatch("[a-z0-9]{15}", name) for name in made)
    assert len({new_id(1.0) for _ in range(100)}) == 100


def test_an_id_in_a_file_leads_nowhere(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    for name in ("thread.json", "messages.jsonl"):
        file = root / thread_id / name
        file.write_text(file.read_text().replace('{"', '{"id":"../escape","', 1))
    thread = record(store.open(thread_id), [Commit((user("more"),))])
    thread.close()
    assert [info.id for info in store.list()] == [thread_id]
    assert sorted(path.name for path in root.iterdir()) == [thread_id]
    assert len(look(store, thread_id).conversation.messages) == 5


@pytest.mark.parametrize("name", ["messages.jsonl", "thread.json", "lock", ""])
def test_a_link_out_of_the_store_is_refused(
    store: ThreadStore, root: Path, tmp_path: Path, name: str
) -> None:
    thread_id = stored(store)
    inside, outside = root / thread_id / name, tmp_path / "outside"
    inside.rename(outside)
    inside.symlink_to(outside)
    before = outside.read_bytes() if outside.is_file() else None
    for use in (store.open, store.fork, store.remove):
        with pytest.raises(ThreadError, match="is a symbolic link"):
            use(thread_id)
    assert [info.damaged for info in store.list()] == [True]
    assert before == (outside.read_bytes() if outside.is_file() else None)


@pytest.mark.parametrize("mask", [0o000, 0o777])
def test_only_the_owner_can_read_whatever_the_umask(
    store: ThreadStore, root: Path, mask: int
) -> None:
    with umask(mask):
        thread_id = stored(store)
        folder = root / thread_id
        for path in (root, folder):
            path.chmod(0o755)
        for path in folder.iterdir():
            path.chmod(0o644)
        with (folder / "messages.jsonl").open("ab") as journal:
            journal.write(b"garbage\n")
        store.rename(thread_id, "Another title")
        store.fork(thread_id).close()
    names = {path.name for path in folder.iterdir()}
    assert names == {"lock", "messages.jsonl", "messages.jsonl.damaged-1", "thread.json"}
    assert modes(folder) == {}
    assert [oct(path.stat().st_mode) for path in root.iterdir()] == ["0o40700"] * 2


def test_a_fork_goes_its_own_way(store: ThreadStore) -> None:
    thread_id = stored(store)
    fork = store.fork(thread_id)
    assert content(fork) == content(look(store, thread_id))
    record(fork, [Commit((user("elsewhere"),), PLAN.set(None))])
    fork.close()
    assert len(look(store, thread_id).conversation.messages) == 4
    assert look(store, fork.id).conversation.state.to_json() == {}


def test_a_removed_thread_is_gone(store: ThreadStore, root: Path) -> None:
    thread_id, other = stored(store), stored(store)
    (root / thread_id / "more").mkdir()
    store.remove(thread_id)
    assert [info.id for info in store.list()] == [other]
    assert sorted(path.name for path in root.iterdir()) == [other]


def test_a_thread_removed_in_between_is_not_opened_as_an_empty_one(root: Path) -> None:
    store = StoreWithARival(root)
    for use in (store.open, store.fork, store.rename_it):
        thread_id = stored(store)
        with pytest.raises(ThreadError, match=f"Thread {thread_id} was removed"):
            use(thread_id)
        assert list(root.iterdir()) == []


class StoreWithARival(ThreadStore):
    """Somebody else removes each thread as soon as it is found."""

    def resolve(self, prefix: str) -> str:
        found = super().resolve(prefix)
        ThreadStore(self._root).remove(found)
        return found

    def rename_it(self, thread_id: str) -> None:
        self.rename(thread_id, "Another title")


def test_a_reader_changes_nothing(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    folder = root / thread_id
    (folder / "lock").unlink()
    with (folder / "messages.jsonl").open("ab") as journal:
        journal.write(b'{"v":1,"kind')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    thread = look(store, thread_id)
    with pytest.raises(OSError, match="open for reading only"):
        record(thread, [Commit((user("more"),))])
    with pytest.raises(ThreadError, match="open for reading only"):
        thread.rename("x")
    thread.set_mode("plan")
    thread.close()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_place_that_is_no_directory_cannot_hold_threads(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = ThreadStore(tmp_path / "file" / "threads")
    with pytest.raises(ThreadError, match=r"cannot hold threads: .*file is no directory"):
        store.create(Path("/project"))


def test_other_things_in_the_root_are_not_threads(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    (root / "empty").mkdir()
    (root / "Upper").mkdir()
    (root / "a-file").write_text("")
    assert [info.id for info in store.list()] == [thread_id]
    assert json.loads((root / thread_id / "thread.json").read_text())["id"] == thread_id


def test_a_thread_without_a_commit_leaves_nothing(store: ThreadStore, root: Path) -> None:
    store.create(Path("/project")).close()
    assert not root.exists()


def test_opening_and_closing_writes_nothing(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    before = {path: path.stat().st_mtime_ns for path in (root / thread_id).iterdir()}
    store.open(thread_id).close()
    assert {path: path.stat().st_mtime_ns for path in (root / thread_id).iterdir()} == before


def test_a_todo_of_several_lines_stays_one(store: ThreadStore) -> None:
    written = plan(("Fix bug\nAdd tests", "pending"), ("a\r\nb\n```\n- [x] fake", "pending"))
    thread_id = stored(store, [Commit(update=PLAN.set(written))])
    assert look(store, thread_id).conversation.state[PLAN] == written
    assert (store.list()[0].plan, store.list()[0].total) == (written, 2)
