from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.threads.support import STORY, content, look, record, stored
from todo_agent.agent.conversation import Commit
from todo_agent.agent.messages import user
from todo_agent.threads.store import ThreadBusy, ThreadStore

WRITER = Path(__file__).with_name("writer.py")
REPOSITORY = WRITER.parents[2]


@contextmanager
def writer(root: Path, thread_id: str, task: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, WRITER, root, thread_id, task],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(REPOSITORY)},
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def says(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_second_opener_is_told_and_may_read_or_fork(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    with writer(root, thread_id, "hold") as holder:
        assert says(holder) == "open"
        with pytest.raises(ThreadBusy, match=f"Thread {thread_id} is open in another"):
            store.open(thread_id)
        with pytest.raises(ThreadBusy):
            store.remove(thread_id)
        reader = look(store, thread_id)
        fork = record(store.fork(thread_id), [Commit((user("in the fork"),))])
        fork.close()
    assert (reader.read_only, reader.notices) == (True, ())
    assert content(look(store, thread_id)) == content(reader)
    assert len(look(store, fork.id).conversation.messages) == 5


def test_a_thread_is_free_when_its_process_was_killed(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store)
    with writer(root, thread_id, "hold") as holder:
        assert says(holder) == "open"
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        store.open(thread_id).close()


def test_a_second_opener_in_the_same_process_is_told(store: ThreadStore) -> None:
    first = record(store.create(Path("/project")))
    with pytest.raises(ThreadBusy):
        store.open(first.id)
    first.close()
    store.open(first.id).close()


def test_nothing_acknowledged_is_missing_after_a_kill(store: ThreadStore, root: Path) -> None:
    thread_id = stored(store, STORY[:1])
    acknowledged = 0
    for kill in range(10):
        with writer(root, thread_id, "write") as process:
            for _ in range(3 + kill):
                acknowledged = int(says(process))
            process.send_signal(signal.SIGKILL)
            assert process.stdout is not None
            later = process.stdout.read().split("\n")[:-1]
            acknowledged = max([acknowledged, *map(int, later)])
        messages = look(store, thread_id).conversation.messages
        numbers = [int(message.text.split()[1]) for message in messages[1:]]
        assert numbers == list(range(1, len(messages)))
        assert len(messages) > acknowledged
