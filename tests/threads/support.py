"""Commits, and threads made of them."""

from __future__ import annotations

import asyncio
import resource
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from todo_agent.agent.conversation import Commit
from todo_agent.agent.json import Json
from todo_agent.agent.messages import (
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from todo_agent.agent.provider import Usage
from todo_agent.agent.state import Key
from todo_agent.threads.store import OpenMode, Thread, ThreadStore

PLAN: Key[Json] = Key("plan", None, to_json=lambda v: v, from_json=lambda v: v)


def plan(*rows: tuple[str, str]) -> Json:
    return {"todos": [{"content": content, "status": status} for content, status in rows]}


def result(call_id: str) -> Message:
    return Message("user", (ToolResult(call_id, (Text(f"result of {call_id}"),)),))


STORY = (
    Commit((user("Fix the parser\nIt is broken."),), by="user"),
    Commit(
        (
            assistant(
                Thinking("ünïcode thoughts", "c2lnbmF0dXJl"),
                Text("I look."),
                ToolUse("c1", "read", {"path": "a\u2028b", "n": 10**30}),
                ToolUse("c2", "read", {"path": '{"v":1,"kind":"commit"}'}),
            ),
        ),
        usage=Usage(100, 20, 30, 4),
    ),
    Commit((result("c2"),)),
    Commit((result("c1"),), PLAN.set(plan(("look", "done"), ("fix", "in_progress")))),
    Commit((assistant(Text("This goes wrong.")),), usage=Usage(200, 10)),
    Commit((assistant(Text("Done 🎉")),), PLAN.set(plan(("fix", "done"))), keep=3),
)
"""A turn with two calls that finish out of order, and an answer that is undone."""


def record(thread: Thread, commits: Iterable[Commit] = STORY) -> Thread:
    """Commit to an open thread."""

    async def commit_all() -> None:
        for commit in commits:
            await thread.conversation.commit(commit)

    asyncio.run(commit_all())
    return thread


def stored(store: ThreadStore, commits: Iterable[Commit] = STORY) -> str:
    """Store a thread and return its id."""
    thread = record(store.create(Path("/project"), model="a-model"), commits)
    thread.close()
    return thread.id


def look(store: ThreadStore, thread_id: str) -> Thread:
    return store.open(thread_id, mode=OpenMode.READ_ONLY)


def content(thread: Thread) -> tuple[object, ...]:
    """All there is to a thread but its id and its times."""
    conversation = thread.conversation
    return (
        thread.title,
        thread.cwd,
        thread.model,
        thread.mode,
        conversation.messages,
        conversation.state,
        conversation.usage,
        conversation.context_tokens,
    )


def modes(root: Path) -> dict[str, str]:
    """Return the rights of everything below a directory that are not the usual ones."""
    usual = {True: 0o700, False: 0o600}
    found = {path: stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"))}
    return {str(p.name): oct(mode) for p, mode in found.items() if mode != usual[p.is_dir()]}


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Let no file grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
