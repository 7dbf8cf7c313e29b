"""A thread as one HTML page that needs nothing else: no script, no font, no request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import assert_never

from markdown_it import MarkdownIt

from todo_agent.agent.history import clean_text
from todo_agent.agent.messages import (
    Block,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from todo_agent.text import plain
from todo_agent.threads.thread import Thread

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load for the page: what is in it."""
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MARKS = {"done": "✓", "in_progress": "▶", "pending": "○"}
TITLE_CHARS = 120
"""How much of a call stands in the line that opens it."""


def to_html(thread: Thread, plan_rows: Sequence[tuple[str, str]]) -> str:
    """Return the thread as HTML; `plan_rows` are a status and a content each.

    What the model wrote is shown as Markdown without raw HTML and without images from
    elsewhere; everything else is text. A call is folded together with its result.
    """
    title = _text(thread.title or "Untitled thread")
    where = f"<code>{_text(thread.cwd)}</code> · {_text(thread.model)}"
    origin = f", a copy of <code>{_text(thread.parent)}</code>" if thread.parent else ""
    begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(thread.created))
    style = files("todo_agent.threads").joinpath("page.css").read_text("utf-8")
    parts = [
        "<!DOCTYPE html>",
        '<html><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{title}</title><style>\n{style}</style></head><body>",
        f"<header><h1>{title}</h1>",
        f"<p>{begun} · {where} · <code>{_text(thread.id)}</code>{origin}</p></header>",
        *_plan(plan_rows),
        *_conversation(thread.conversation.messages),
        "</body></html>",
    ]
    return clean_text("\n".join(parts)) + "\n"


def _plan(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    if not rows:
        return
    yield '<h2>Plan</h2><ul class="plan">'
    for status, content in rows:
        mark = MARKS.get(status, MARKS["pending"])
        yield f'<li class="{_text(status)}">{mark} <span class="words">{_text(content)}</span></li>'
    yield "</ul>"


def _conversation(messages: Sequence[Message]) -> Iterator[str]:
    results = {result.tool_use_id: result for m in messages for result in m.results}
    markdown = MarkdownIt("js-default", {"html": False}).disable("image")
    for message in messages:
        agent = message.role == "assistant"
        render = markdown.render if agent else _words
        parts = [p for block in message.content for p in _block(block, results, render)]
        if not parts:
            continue
        if message.text.strip():
            yield f"<h2>{'Agent' if agent else 'Note' if message.synthetic else 'You'}</h2>"
        yield from parts
        if message.partial:
            yield '<p class="muted">(cut off)</p>'


def _block(
    block: Block, results: Mapping[str, ToolResult], render: Callable[[str], str]
) -> Iterator[str]:
    match block:
        case Text(text) if text.strip():
            yield render(plain(text))
        case ToolUse():
            yield from _call(block, results.get(block.id))
        case Image():
            yield _image(block)
        case Opaque():
            yield f'<p class="muted">({_text(block.type)})</p>'
        case Text() | Thinking() | ToolResult():
            # A result stands with its call; reasoning is the model's own.
            return
        case _:
            assert_never(block)


def _call(call: ToolUse, result: ToolResult | None) -> Iterator[str]:
    title = next((v for v in call.input.values() if isinstance(v, str) and v.strip()), "")
    first = title.strip().partition("\n")[0][:TITLE_CHARS]
    state = ' class="error"' if result is not None and result.is_error else ""
    yield f"<details{state}><summary>{_text(call.name)} <code>{_text(first)}</code></summary>"
    yield f"<pre>{_text(json.dumps(call.input, ensure_ascii=False, indent=2))}</pre>"
    if result is not None:
        for part in result.content:
            match part:
                case Text(text):
                    yield f"<pre>{_text(text)}</pre>"
                case Image():
                    yield _image(part)
                case Opaque():
                    yield f'<p class="muted">({_text(part.type)})</p>'
                case _:
                    assert_never(part)
    yield "</details>"


def _words(text: str) -> str:
    return f'<p class="words user">{escape(text.strip())}</p>'


def _image(image: Image) -> str:
    if image.media_type not in IMAGES:
        return '<p class="muted">(image)</p>'
    return f'<img alt="image" src="data:{image.media_type};base64,{_text(image.data)}">'


def _text(text: str) -> str:
    return escape(plain(text))
