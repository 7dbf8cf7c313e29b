"""A thread as one document, for people and for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import assert_never

from todo_agent.agent.history import clean_json, clean_text
from todo_agent.agent.json import Json
from todo_agent.agent.messages import (
    Block,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    message_to_json,
)
from todo_agent.text import plain
from todo_agent.threads.thread import Thread

MARKS = {"done": "x", "in_progress": ">", "pending": " "}


def to_markdown(thread: Thread, plan_rows: Sequence[tuple[str, str]]) -> str:
    """Return the thread as Markdown; `plan_rows` are a status and a content each.

    A todo is one line. Nothing in the text is left for a terminal to act on.
    """
    origin = f", a copy of `{thread.parent}`" if thread.parent else ""
    where = f"`{thread.id}` in `{thread.cwd}`{origin}"
    parts = [f"# {thread.title or 'Untitled thread'}", where]
    if plan_rows:
        rows = (f"- [{MARKS.get(s, ' ')}] {' '.join(text.split())}" for s, text in plan_rows)
        parts += ["## Plan", "\n".join(rows)]
    for message in thread.conversation.messages:
        parts += _message(message)
    return plain(clean_text("\n\n".join(parts))) + "\n"


def to_json(thread: Thread, plan_rows: Sequence[tuple[str, str]]) -> str:
    """Return the thread as JSON; `plan_rows` are a status and a content each."""
    data: Json = {
        "id": thread.id,
        "title": thread.title,
        "parent": thread.parent,
        "cwd": thread.cwd,
        "model": thread.model,
        "created": thread.created,
        "updated": thread.updated,
        "plan": [{"status": status, "content": content} for status, content in plan_rows],
        "messages": [message_to_json(message) for message in thread.conversation.messages],
    }
    return json.dumps(clean_json(data), ensure_ascii=False, indent=2) + "\n"


def _message(message: Message) -> list[str]:
    parts = [part for block in message.content for part in _block(block)]
    if not message.text.strip():
        return parts
    who = "Agent" if message.role == "assistant" else "Note" if message.synthetic else "User"
    return [f"## {who}", *parts]


def _block(block: Block) -> list[str]:
    match block:
        case Text(text):
            return [text.strip()] if text.strip() else []
        case ToolUse(name=name, input=input_):
            return [f"### Call: {name}", _fenced(json.dumps(input_, ensure_ascii=False))]
        case ToolResult(content=content, is_error=is_error):
            heading = "### Error" if is_error else "### Result"
            others = [p for part in content if not isinstance(part, Text) for p in _block(part)]
            return [heading, *([_fenced(block.text)] if block.text else []), *others]
        case Image():
            return ["(image)"]
        case Opaque():
            return [f"({block.type})"]
        case Thinking():
            return []
        case _:
            assert_never(block)


def _fenced(text: str) -> str:
    """Put text between fences longer than any row of backticks in it."""
    longest = max((len(row) for row in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
