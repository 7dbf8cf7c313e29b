"""How long threads take: `python benchmarks/threads.py`. Milliseconds, on a real disk."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from todo_agent.agent.conversation import Commit
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message, Text, ToolResult, ToolUse, assistant, user
from todo_agent.agent.provider import Usage
from todo_agent.agent.state import Key
from todo_agent.threads.store import ThreadStore

PLAN: Key[Json] = Key("plan", None, to_json=lambda value: value, from_json=lambda value: value)
TODOS: Json = {"todos": [{"content": "a todo " * 8, "status": "done"} for _ in range(20)]}


def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        store = ThreadStore(Path(folder))
        asyncio.run(commits(store))
        long_thread(store)
        large_result(store)
        many_threads(ThreadStore(Path(folder, "many")))


async def commits(store: ThreadStore) -> None:
    for length in (1, 1_000, 10_000):
        thread = store.create(Path.cwd())
        await thread.conversation.commit(Commit((user("a message " * 50),) * length))
        times = []
        for _ in range(100):
            began = time.perf_counter()
            await thread.conversation.commit(Commit((user("a message " * 50),)))
            times.append(time.perf_counter() - began)
        show(f"commit behind {length:,} messages (median)", statistics.median(times))
        thread.close()


def long_thread(store: ThreadStore) -> None:
    story = (
        Commit((assistant(ToolUse("c", "read", {"path": "a" * 40})),), usage=Usage(1, 1)),
        Commit((result("line\n" * 100),), PLAN.set(TODOS)),
    )
    thread_id = stored(store, story * 10_000)
    show("open a thread of 20,000 messages", timed(lambda: store.open(thread_id).close()))


def large_result(store: ThreadStore) -> None:
    content = Commit((assistant(ToolUse("c", "read", {})), result("0123456789ab" * 2**20)))
    thread_id = stored(store, [content])
    show("open a thread with a result of 12 MB", timed(lambda: store.open(thread_id).close()))


def many_threads(store: ThreadStore) -> None:
    for _ in range(1_000):
        stored(store, [Commit((user("a request"),), PLAN.set(TODOS))])
    show("list 1,000 threads", timed(lambda: len(store.list())))
    show("find a thread among 1,000", timed(lambda: store.newest(Path("/nowhere"))))


def result(text: str) -> Message:
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
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def show(what: str, seconds: float) -> None:
    print(f"{what:45} {seconds * 1000:8.2f} ms")


if __name__ == "__main__":
    main()
