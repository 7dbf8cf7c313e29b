"""`thread.json`: what a list shows of a thread, without reading its journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from todo_agent.agent.json import Json
from todo_agent.threads.journal import Contents, read_journal
from todo_agent.threads.thread import CACHE, JOURNAL

MAX_BYTES = 20_000_000
"""A larger `thread.json` is no cache of ours."""


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """One thread in a list."""

    id: str
    title: str = ""
    cwd: str = ""
    model: str = ""
    updated: float = 0.0
    """When it was last used, in seconds since the epoch."""
    messages: int = 0
    done: int = 0
    """Todos of its plan that are done."""
    total: int = 0
    damaged: bool = False
    """Something of it cannot be read."""


def read_info(directory: Path, thread_id: str) -> ThreadInfo:
    """Return what is known of a thread; what its cache does not tell, its journal does."""
    try:
        journal = (directory / JOURNAL).stat()
        cache = (directory / CACHE).stat()
        if cache.st_size < MAX_BYTES and cache.st_mtime_ns >= journal.st_mtime_ns:
            return _from_cache(thread_id, json.loads((directory / CACHE).read_text("utf-8")))
    except (OSError, ValueError):
        pass
    return _from_journal(directory, thread_id)


def _from_cache(thread_id: str, data: Json) -> ThreadInfo:
    match data:
        case {"title": str(title), "cwd": str(cwd), "updated": int() | float() as at, **rest}:
            state = rest.get("state")
            done, total = _progress(state if isinstance(state, Mapping) else {})
            messages = rest.get("messages")
            return ThreadInfo(
                thread_id,
                title,
                cwd,
                model=str(rest.get("model", "")),
                updated=float(at),
                messages=messages if isinstance(messages, int) else 0,
                done=done,
                total=total,
            )
        case _:
            raise ValueError("no thread.json of ours")


def _from_journal(directory: Path, thread_id: str) -> ThreadInfo:
    try:
        contents = read_journal(directory / JOURNAL)
    except OSError:
        contents = Contents(lost_lines=1)
    done, total = _progress(contents.state.to_json())
    header = contents.header
    return ThreadInfo(
        thread_id,
        header.title,
        header.cwd,
        header.model,
        updated=contents.updated,
        messages=len(contents.messages),
        done=done,
        total=total,
        damaged=bool(contents.lost_lines),
    )


def _progress(state: Mapping[str, Json]) -> tuple[int, int]:
    match state.get("plan"):
        case {"todos": list(todos)}:
            rows = [todo for todo in todos if isinstance(todo, Mapping)]
            return sum(todo.get("status") == "done" for todo in rows), len(rows)
        case _:
            return 0, 0
