from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.threads.support import PLAN, content, look, plan, record, stored
from todo_agent.agent.conversation import Commit
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Text, ToolUse, assistant, user
from todo_agent.threads.store import ThreadError, ThreadStore
from todo_agent.threads.upgrade import upgrade

OLD: Json = {
    "id": "../escape",
    "title": "An old\nthread",
    "cwd": "/old",
    "created": 12.5,
    "messages": [
        {"role": "user", "content": "hello \ud83d"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "x", "input": {}}],
        },
        {"role": "nobody", "content": "?"},
        7,
    ],
    "state": {"plan": plan(("a", "done"))},
}


def test_a_thread_of_the_first_format_gets_a_journal_and_keeps_its_file(
    store: ThreadStore, root: Path
) -> None:
    folder = root / "old"
    folder.mkdir(parents=True)
    (folder / "thread.json").write_text(json.dumps(OLD))
    before = (folder / "thread.json").read_bytes()
    assert [(i.id, i.title, i.messages, i.damaged) for i in store.list()] == [
        ("old", "An old", 2, False)
    ]
    seen = content(look(store, "old"))
    assert sorted(path.name for path in folder.iterdir()) == ["thread.json"]
    thread = store.open("old")
    assert content(thread) == seen
    assert thread.conversation.messages == (user("hello \ufffd"), assistant(ToolUse("c", "x", {})))
    assert (thread.title, thread.cwd, thread.created) == ("An old", "/old", 12.5)
    assert thread.conversation.state[PLAN] == plan(("a", "done"))
    backup = folder / "thread.json.version-0"
    taken_over = "This thread was stored by an older version and is taken over"
    assert thread.notices == (
        f"{taken_over}, without 2 unreadable messages.",
        f"What was there before is kept: {backup}.",
    )
    assert backup.read_bytes() == before
    record(thread, [Commit((assistant(Text("on we go")),))])
    thread.close()
    again = store.open("old")
    assert (again.notices, len(again.conversation.messages)) == ((), 3)
    again.close()


def test_the_smallest_old_thread_is_taken_over(store: ThreadStore, root: Path) -> None:
    folder = root / "old"
    folder.mkdir(parents=True)
    (folder / "thread.json").write_text('{"id":"old","messages":[]}')
    thread = store.open("old")
    thread.close()
    assert (thread.conversation.messages, thread.mode) == ((), "ask")


@pytest.mark.parametrize("data", [None, [], {}, {"schema": 1, "messages": []}, {"schema": [0]}])
def test_what_is_not_old_is_not_upgraded(data: Json) -> None:
    assert upgrade(data) is None


@pytest.mark.parametrize("name", ["messages.jsonl", "thread.json"])
def test_a_thread_of_a_newer_version_is_read_and_left_alone(
    store: ThreadStore, root: Path, name: str
) -> None:
    thread_id = stored(store)
    file = root / thread_id / name
    file.write_text(
        file.read_text().replace('{"v":1', '{"v":2').replace('"schema":1', '"schema":2')
    )
    before = {path.name: path.read_bytes() for path in (root / thread_id).iterdir()}
    thread = store.open(thread_id)
    assert (thread.read_only, len(thread.conversation.messages)) == (True, 4)
    (notice,) = thread.notices
    assert notice.startswith("A newer version of todo-agent wrote this thread.")
    with pytest.raises(ThreadError, match="newer version"):
        store.fork(thread_id)
    with pytest.raises(ThreadError, match="reading only"):
        store.rename(thread_id, "x")
    thread.close()
    assert {path.name: path.read_bytes() for path in (root / thread_id).iterdir()} == before


def test_a_newer_version_may_write_records_that_nobody_here_knows(
    store: ThreadStore, root: Path
) -> None:
    thread_id = stored(store)
    journal = root / thread_id / "messages.jsonl"
    with journal.open("a") as file:
        file.write('{"v":2,"kind":"snapshot","state":{}}\n')
    before = journal.read_bytes()
    thread = store.open(thread_id)
    thread.close()
    assert (thread.read_only, len(thread.conversation.messages)) == (True, 4)
    assert journal.read_bytes() == before
