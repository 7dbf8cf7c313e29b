"""Threads of older formats, brought to the current one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from todo_agent.agent.json import Json
from todo_agent.agent.messages import message_from_json, message_to_json
from todo_agent.threads.errors import ThreadError
from todo_agent.threads.files import keep_aside
from todo_agent.threads.journal import Header, Journal
from todo_agent.threads.thread import CACHE, JOURNAL


def upgrade(directory: Path) -> None:
    """Bring a thread's directory to the current format; the old file is kept aside.

    Raises:
        ThreadError: it is of an old format and cannot be read.
    """
    if (directory / JOURNAL).exists():
        return
    cache = directory / CACHE
    try:
        data = json.loads(cache.read_text("utf-8"))
    except (OSError, ValueError):
        return
    schema = data.get("schema", 0) if isinstance(data, dict) else None
    step = STEPS.get(schema) if isinstance(schema, int) else None
    if step is None or not isinstance(data, dict):
        return
    keep_aside(cache)
    try:
        step(directory, data)
    except (ValueError, OSError) as error:
        (directory / JOURNAL).unlink(missing_ok=True)
        raise ThreadError(f"{cache} is of an older format and cannot be read: {error}") from error


def _from_one_file(directory: Path, data: Mapping[str, Json]) -> None:
    """Schema 0: `thread.json` alone, with the messages and the state in it."""
    messages, state, created = data.get("messages"), data.get("state"), data.get("created")
    if not isinstance(messages, list):
        raise ValueError("it has no list of messages")
    parsed = [message_from_json(item) for item in messages if isinstance(item, dict)]
    header = Header(
        title=str(data.get("title", "")),
        cwd=str(data.get("cwd", "")),
        model=str(data.get("model", "")),
        created=float(created) if isinstance(created, int | float) else 0.0,
    )
    journal = Journal(directory / JOURNAL)
    journal.append("header", {"header": header.to_json()})
    journal.append(
        "commit",
        {
            "by": "restore",
            "messages": [message_to_json(message) for message in parsed],
            "update": state if isinstance(state, dict) else {},
        },
    )


STEPS: Mapping[int, Callable[[Path, Mapping[str, Json]], None]] = {0: _from_one_file}
"""The step that leads on from each older schema."""
