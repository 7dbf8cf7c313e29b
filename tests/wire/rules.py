"""What the Messages API demands of any request, whatever was answered before it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ID = re.compile(r"[a-zA-Z0-9_-]+")
MAX_BREAKPOINTS = 4
MAX_IMAGE = 5_000_000
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
FIELDS = {
    "model", "max_tokens", "messages", "stream", "system", "tools", "thinking", "output_config",
}  # fmt: skip
BLOCK_FIELDS = {
    "text": {"text", "citations"},
    "image": {"source"},
    "document": {"source", "title", "context", "citations"},
    "tool_use": {"id", "name", "input", "caller"},
    "tool_result": {"tool_use_id", "content", "is_error"},
}
OF_USER = ("image", "document", "tool_result")
Body = Mapping[str, Any]


def violations(body: Body, *, paused: bool = False, counts: bool = False) -> list[str]:
    """Return every broken rule, with its place, as the API would name it.

    Args:
        body: the request.
        paused: the answer before was a pause, which goes back as the last message.
        counts: the request only counts its tokens.
    """
    return [
        *_settings(body),
        *_reasoning(body),
        *(() if counts else _limits(body)),
        *_tools(body.get("tools", [])),
        *_system(body.get("system", [])),
        *_messages(body.get("messages", []), paused=paused),
        *_breakpoints(body),
    ]


def _settings(body: Body) -> Iterator[str]:
    for name in body.keys() - FIELDS:
        yield f"{name}: Extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: Field required"
    match body.get("thinking"):
        case None | {"type": "adaptive" | "disabled" | "between_tools"}:
            pass
        case {"type": "enabled", "budget_tokens": int(budget)} if budget >= 1024:
            pass
        case other:
            yield f"thinking: not valid: {other}"
    match body.get("output_config"):
        case None | {"effort": "low" | "medium" | "high" | "xhigh" | "max"}:
            pass
        case other:
            yield f"output_config: not valid: {other}"


def _reasoning(body: Body) -> Iterator[str]:
    """A model that thinks within a budget takes results only behind its reasoning."""
    messages = body.get("messages", [])
    if body.get("thinking", {}).get("type") != "enabled" or len(messages) < 2:
        return
    before, last = (message.get("content", []) for message in messages[-2:])
    if any(block.get("type") == "tool_result" for block in last):
        first = before[0].get("type") if before else None
        if first not in ("thinking", "redacted_thinking"):
            yield f"messages.{len(messages) - 2}.content.0: Expected `thinking`, but found {first}"


def _limits(body: Body) -> Iterator[str]:
    if body.get("stream") is not True:
        yield "stream: this server only streams"
    max_tokens = body.get("max_tokens")
    if type(max_tokens) is not int or max_tokens < 1:
        yield "max_tokens: must be at least 1"
    elif body.get("thinking", {}).get("budget_tokens", 0) >= max_tokens:
        yield "max_tokens must be greater than thinking.budget_tokens"


def _tools(tools: Sequence[Any]) -> Iterator[str]:
    seen = set()
    for index, tool in enumerate(tools):
        name = tool.get("name", "")
        if not NAME.fullmatch(name):
            yield f"tools.{index}.name: String should match pattern"
        if name in seen:
            yield f"tools.{index}: Tool names must be unique"
        seen.add(name)
        if tool.get("input_schema", {}).get("type") != "object":
            yield f"tools.{index}.input_schema.type: Field required"


def _system(system: Any) -> Iterator[str]:
    for index, block in enumerate(system if isinstance(system, list) else []):
        if not str(block.get("text", "")).strip():
            yield f"system.{index}: text content blocks must be non-empty"


def _messages(messages: Sequence[Any], *, paused: bool) -> Iterator[str]:
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0].get("role") != "user":
        yield 'messages.0: the first message must use the "user" role'
    if messages[-1].get("role") == "assistant" and not paused:
        yield "This model does not support assistant message prefill"
    ids: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        role, content = message.get("role"), message.get("content")
        for name in message.keys() - {"role", "content"}:
            yield f"{where}.{name}: Extra inputs are not permitted"
        if role not in ("user", "assistant"):
            yield f"{where}.role: not valid: {role}"
            continue
        if index and role == messages[index - 1].get("role"):
            yield f"{where}: roles must alternate between user and assistant"
        if not isinstance(content, list) or not content:
            yield f"{where}: all messages must have non-empty content"
            continue
        for place, block in enumerate(content):
            yield from _block(f"{where}.content.{place}", role, block, ids)
        following = messages[index + 1] if index + 1 < len(messages) else {}
        yield from _pairs(where, content, following.get("content", []))
        if role == "user":
            before = messages[index - 1] if index else {}
            yield from _results(where, before.get("content", []), content)


def _block(where: str, role: str, block: Any, ids: set[str]) -> Iterator[str]:
    kind = block.get("type")
    if kind != "text" and (role == "user") != (kind in OF_USER):
        yield f"{where}: a block of type {kind} cannot stand in a message of the {role}"
    for name in block.keys() - {"type", "cache_control"} - BLOCK_FIELDS.get(kind, block.keys()):
        yield f"{where}.{kind}.{name}: Extra inputs are not permitted"
    match block:
        case {"type": "text", "text": content}:
            if not content.strip():
                yield f"{where}: text content blocks must contain non-whitespace text"
        case {"type": "thinking"} if not block.get("signature"):
            yield f"{where}.thinking.signature: Field required"
        case {"type": "tool_use", "id": id_, "name": name, "input": input_}:
            if id_ in ids:
                yield f"{where}: `tool_use` ids must be unique"
            ids.add(id_)
            if not ID.fullmatch(id_):
                yield f"{where}.tool_use.id: String should match pattern"
            if not NAME.fullmatch(name):
                yield f"{where}.tool_use.name: String should match pattern"
            if not isinstance(input_, dict):
                yield f"{where}.tool_use.input: Input should be a valid dictionary"
        case {"type": "tool_result", "content": list(parts)}:
            for place, part in enumerate(parts):
                if part["type"] == "text" and not part["text"].strip():
                    yield f"{where}.content.{place}: text content blocks must be non-empty"
                yield from _image(f"{where}.tool_result.content.{place}", part)
        case _:
            yield from _image(where, block)


def _image(where: str, block: Any) -> Iterator[str]:
    match block:
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}:
            if kind not in IMAGES:
                yield f"{where}.image.source.base64.media_type: not valid: {kind}"
            try:
                size = len(base64.b64decode(data, validate=True))
            except (binascii.Error, ValueError):
                yield f"{where}.image.source.base64.data: invalid base64 data"
                return
            if size > MAX_IMAGE:
                yield f"{where}.image.source.base64: image exceeds 5 MB maximum"
        case _:
            pass


def _pairs(where: str, content: Sequence[Any], following: Sequence[Any]) -> Iterator[str]:
    asked = [b["id"] for b in content if b.get("type") == "tool_use"]
    given = [b["tool_use_id"] for b in following if b.get("type") == "tool_result"]
    for id_ in asked:
        if given.count(id_) != 1:
            yield (
                f"{where}: `tool_use` ids were found without exactly one `tool_result` block "
                f"immediately after: {id_}"
            )


def _results(where: str, before: Sequence[Any], content: Sequence[Any]) -> Iterator[str]:
    asked = [b["id"] for b in before if b.get("type") == "tool_use"]
    other_came = False
    for place, block in enumerate(content):
        if block.get("type") != "tool_result":
            other_came = True
            continue
        if block["tool_use_id"] not in asked:
            yield f"{where}.content.{place}: unexpected `tool_use_id` in a `tool_result` block"
        if other_came:
            yield f"{where}.content.{place}: `tool_result` blocks must come first"


def _breakpoints(body: Body) -> Iterator[str]:
    marked = [block for block in _all_blocks(body) if block.get("cache_control") is not None]
    if len(marked) > MAX_BREAKPOINTS:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}."
    for block in marked:
        if block.get("type") in ("thinking", "redacted_thinking"):
            yield "cache_control cannot be set on thinking blocks"
        if block.get("type") == "text" and not block.get("text", "").strip():
            yield "cache_control cannot be set for empty text blocks"


def _all_blocks(body: Body) -> Iterator[Any]:
    yield from body.get("tools", [])
    system = body.get("system", [])
    yield from system if isinstance(system, list) else []
    for message in body.get("messages", []):
        content = message.get("content", [])
        yield from content if isinstance(content, list) else []
