"""A thread as one document, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from todo_agent.agent.messages import Message, Opaque, Text, ToolResult, ToolUse, message_to_json
from todo_agent.threads.thread import Thread

MARKS = {"done": "x", "in_progress": ">", "pending": " "}


def to_markdown(thread: Thread, plan_rows: Sequence[tuple[str, str]]) -> str:
    """Return the thread as Markdown; `plan_rows` are a status and a content each."""
    parts = [f"# {thread.title or 'Untitled thread'}", f"`{thread.id}` in `{thread.cwd}`"]
    if plan_rows:
        rows = (f"- [{MARKS.get(s, ' ')}] {' '.join(text.split())}" for s, text in plan_rows)
        parts += ["## Plan", "\n".join(rows)]
    for message in thread.conversation.messages:
        parts += _message(message)
    return "\n\n".join(parts) + "\n"


def to_json(thread: Thread, plan_rows: Sequence[tuple[str, str]]) -> str:
    """Return the thread as JSON; `plan_rows` are a status and a content each."""
    data = {
        "id": thread.id,
        "title": thread.title,
        "cwd": thread.cwd,
        "model": thread.model,
        "created": thread.created,
        "plan": [{"status": status, "content": content} for status, content in plan_rows],
        "messages": [message_to_json(message) for message in thread.conversation.messages],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _message(message: Message) -> list[str]:
    parts = []
    if message.text.strip():
        who = "Agent" if message.role == "assistant" else "Note" if message.synthetic else "User"
        parts += [f"## {who}", message.text.strip()]
    for block in message.content:
        match block:
            case ToolUse(name=name, input=input_):
                parts += [f"### Call: {name}", _fenced(json.dumps(input_, ensure_ascii=False))]
            case ToolResult(is_error=is_error):
                parts += ["### Error" if is_error else "### Result", _fenced(block.text)]
            case Opaque():
                parts.append(f"({block.type})")
            case Text():
                pass
            case _:
                pass
    return parts


def _fenced(text: str) -> str:
    longest = max((len(line) - len(line.lstrip("`")) for line in text.splitlines()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
