"""How long threads take: `python benchmarks/threads.py`. Medians, on the disk of this directory."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message, Text, ToolResult, ToolUse, assistant, user
from todo_agent.agent.provider import Usage
from todo_agent.agent.state import Key
from todo_agent.threads.store import ThreadStore

LENGTHS = (100, 2_000, 20_000)
"""Messages in a thread."""
STEPS = 200
"""How many steps are measured at each length."""
ROUNDS = 5
MANY = 1_000
"""Threads in a store."""
PLAN: Key[Json] = Key("plan", None, to_json=lambda value: value, from_json=lambda value: value)
TODOS: Json = {"todos": [{"content": "a todo " * 8, "status": "done"} for _ in range(20)]}
CALL = Commit((assistant(ToolUse("c", "read", {"path": "a" * 40})),), usage=Usage(1, 1))


PLAIN = Commit((Message("user", (ToolResult("c", (Text("line\n" * 20),)),)),))
PLANNED = Commit(PLAIN.messages, PLAN.set(TODOS))


def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        by_length(Path(folder))
        large_result(ThreadStore(Path(folder, "large")))
        many_threads(ThreadStore(Path(folder, "many")))


def by_length(folder: Path) -> None:
    """Do the same with threads of different lengths; the ratio is to the shortest."""
    shortest: dict[str, float] = {}

    def show_ratio(what: str, messages: int, seconds: float) -> None:
        ratio = seconds / shortest.setdefault(what, seconds)
        show(f"{what}, {messages:,} messages", seconds, f"{ratio:6.2f} x")

    for length in LENGTHS:
        store = ThreadStore(folder / str(length))
        thread_id = stored(store, story(length))
        for what, result in (("a step", PLAIN), ("a step with a new plan", PLANNED)):
            written, committed = step(store, thread_id, result)
            show_ratio(f"write {what}", length, written)
            show_ratio(f"commit {what}", length, committed)
        show_ratio("resume", length, timed(lambda: store.open(thread_id).close()))  # noqa: B023
        show_ratio("list it", length, timed(store.list))


def step(store: ThreadStore, thread_id: str, result: Commit) -> tuple[float, float]:
    """Return how long an answer with a call, and the call's result, take.

    First on the disk alone, then with what it costs to hold all messages in one tuple.
    """

    async def measure(conversation: Conversation) -> tuple[float, float]:
        written, committed = [], []
        for _ in range(STEPS):
            began = time.perf_counter()
            await conversation.record(CALL)
            await conversation.record(result)
            between = time.perf_counter()
            await conversation.commit(CALL)
            await conversation.commit(result)
            written.append(between - began)
            committed.append(time.perf_counter() - between)
        return statistics.median(written), statistics.median(committed)

    fork = store.fork(thread_id)
    try:
        return asyncio.run(measure(fork.conversation))
    finally:
        fork.close()
        store.remove(fork.id)


def large_result(store: ThreadStore) -> None:
    content = Commit((*CALL.messages, result_of("0123456789ab" * 2**20)))
    thread_id = stored(store, [content])
    show("resume, one result of 12 MB", timed(lambda: store.open(thread_id).close()))


def many_threads(store: ThreadStore) -> None:
    for _ in range(MANY):
        stored(store, [Commit((user("a request"),), PLAN.set(TODOS))])
    show(f"list {MANY:,} threads", timed(store.list))
    show(f"find none of {MANY:,} in a directory", timed(lambda: store.newest(Path("/nowhere"))))
    known = store.list()[0].id
    show(f"find one of {MANY:,} by its id", timed(lambda: store.resolve(known)))


def story(length: int) -> Iterable[Commit]:
    yield Commit((user("a request"),), PLAN.set(TODOS))
    for _ in range(length // 2):
        yield CALL
        yield Commit((result_of("line\n" * 100),))


def result_of(text: str) -> Message:
    return Message("user", (ToolResult("c", (Text(text),)),))


def stored(store: ThreadStore, content: Iterable[Commit]) -> str:
    async def commit_all() -> None:
        for commit in content:
            await thread.conversation.commit(commit)

    thread = store.create(Path.cwd())
    asyncio.run(commit_all())
    thread.close()
    return thread.id


def timed(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def show(what: str, seconds: float, ratio: str = "") -> None:
    print(f"{what:46} {seconds * 1000:9.2f} ms {ratio}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
