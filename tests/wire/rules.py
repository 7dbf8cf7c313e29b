"""What the Messages API demands of a request, as far as a client can break it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MAX_BREAKPOINTS = 4
BLOCKS = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"},
}


def violations(
    body: Mapping[str, Any], signed: Mapping[str, Any], *, continues: bool = False
) -> list[str]:
    """Return every broken rule, with its place, as the API would name it.

    Args:
        body: the request.
        signed: the thinking blocks that were ever sent, by signature.
        continues: the answer before was a pause, which goes back as the last message.
    """
    return [
        *_settings(body),
        *_tools(body.get("tools", [])),
        *_system(body.get("system", [])),
        *_messages(body.get("messages", []), signed, continues=continues),
        *_breakpoints(body),
    ]


def _settings(body: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: Field required"
    max_tokens = body.get("max_tokens")
    if not isinstance(max_tokens, int) or max_tokens < 1:
        yield "max_tokens: must be at least 1"
    if body.get("stream") is not True:
        yield "stream: this server only streams"
    match body.get("thinking"):
        case None | {"type": "adaptive" | "disabled" | "between_tools"}:
            pass
        case {"type": "enabled", "budget_tokens": int(budget)} if budget >= 1024:
            if isinstance(max_tokens, int) and budget >= max_tokens:
                yield "max_tokens must be greater than thinking.budget_tokens"
        case other:
            yield f"thinking: not valid: {other}"


def _tools(tools: list[Any]) -> Iterator[str]:
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


def _messages(messages: list[Any], signed: Mapping[str, Any], *, continues: bool) -> Iterator[str]:
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0].get("role") != "user":
        yield 'messages.0: the first message must use the "user" role'
    if messages[-1].get("role") == "assistant" and not continues:
        yield "This model does not support assistant message prefill"
    ids: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        role = message.get("role")
        if role not in BLOCKS:
            yield f"{where}.role: not valid"
            continue
        if index and role == messages[index - 1].get("role"):
            yield f"{where}: roles must alternate between user and assistant"
        content = message.get("content")
        if not isinstance(content, list) or not content:
            yield f"{where}: all messages must have non-empty content"
            continue
        for place, block in enumerate(content):
            yield from _block(f"{where}.content.{place}", role, block, signed, ids)
        following = messages[index + 1] if index + 1 < len(messages) else {}
        yield from _pairs(where, message, following)
        if role == "user":
            before = messages[index - 1] if index else {}
            yield from _answers(where, before, content)


def _block(
    where: str, role: str, block: Any, signed: Mapping[str, Any], ids: set[str]
) -> Iterator[str]:
    kind = block.get("type")
    if kind not in BLOCKS[role]:
        yield f"{where}: a block of type {kind} cannot stand in a {role} message"
    match block:
        case {"type": "text", "text": text}:
            if not text.strip():
                yield f"{where}: text content blocks must contain non-whitespace text"
        case {"type": "thinking", "signature": signature, "thinking": thinking}:
            if signed.get(signature) != thinking:
                yield f"{where}: `thinking` blocks in the conversation cannot be modified"
        case {"type": "thinking"}:
            yield f"{where}.signature: Field required"
        case {"type": "tool_use", "id": id_, "name": name, "input": input_}:
            if id_ in ids:
                yield f"{where}: `tool_use` ids must be unique"
            ids.add(id_)
            if not NAME.fullmatch(name):
                yield f"{where}.name: String should match pattern"
            if not isinstance(input_, dict):
                yield f"{where}.input: Input should be a valid dictionary"
        case {"type": "tool_result", "content": list(parts)}:
            for part in parts:
                if part.get("type") == "text" and not part["text"].strip():
                    yield f"{where}: text content blocks must be non-empty"
        case _:
            pass


def _pairs(where: str, message: Any, following: Any) -> Iterator[str]:
    asked = [b["id"] for b in message["content"] if b.get("type") == "tool_use"]
    content = following.get("content", [])
    given = [b["tool_use_id"] for b in content if b.get("type") == "tool_result"]
    for id_ in asked:
        if given.count(id_) != 1:
            yield (
                f"{where}: `tool_use` ids were found without exactly one `tool_result` block "
                f"immediately after: {id_}"
            )


def _answers(where: str, before: Any, content: list[Any]) -> Iterator[str]:
    asked = [b["id"] for b in before.get("content", []) if b.get("type") == "tool_use"]
    other_came = False
    for place, block in enumerate(content):
        if block.get("type") != "tool_result":
            other_came = True
            continue
        if block["tool_use_id"] not in asked:
            yield f"{where}.content.{place}: unexpected `tool_use_id` in a `tool_result` block"
        if other_came:
            yield f"{where}.content.{place}: `tool_result` blocks must come first"


def _breakpoints(body: Mapping[str, Any]) -> Iterator[str]:
    marked = [
        block
        for block in _all_blocks(body)
        if isinstance(block, Mapping) and block.get("cache_control") is not None
    ]
    if len(marked) > MAX_BREAKPOINTS:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}."
    for block in marked:
        if block.get("type") in ("thinking", "redacted_thinking"):
            yield "cache_control cannot be set on thinking blocks"
        if block.get("type") == "text" and not block.get("text", "").strip():
            yield "cache_control cannot be set for empty text blocks"


def _all_blocks(body: Mapping[str, Any]) -> Iterator[Any]:
    yield from body.get("tools", [])
    system = body.get("system", [])
    yield from system if isinstance(system, list) else []
    for message in body.get("messages", []):
        yield from message.get("content", [])
