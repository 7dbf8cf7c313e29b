"""What keeps a conversation sendable: whole pairs, no blank blocks, clean text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from todo_agent.agent.json import Json, JsonObject
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

INTERRUPTED = "Interrupted before it finished. It may have had part of its effect."
NO_OUTPUT = "(no output)"


def clean_text(text: str) -> str:
    """Return the text with lone surrogates replaced, so it is valid UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_json(value: Json) -> Json:
    """Return JSON that can be sent: its texts are valid UTF-8, its numbers are numbers."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case str():
            return clean_text(value)
        case dict() | Mapping():
            return {clean_text(name): clean_json(item) for name, item in value.items()}
        case list() | tuple():
            return [clean_json(item) for item in value]
        case _:
            return value


def repair_message(message: Message) -> Message:
    """Return the message as it may be stored: no blank text, no lone surrogates.

    Thinking and blocks of unknown types are not touched.
    """
    blocks = (_repair_block(block) for block in message.content)
    return replace(message, content=tuple(block for block in blocks if not _is_blank(block)))


def append(messages: tuple[Message, ...], message: Message) -> tuple[Message, ...]:
    """Return the messages with one more at the end.

    Results of calls come one by one, as the calls finish; they are gathered in one message,
    in the order of the calls. A message without any content is dropped.
    """
    if not message.content:
        return messages
    if len(messages) < 2 or not _only_results(message) or not _only_results(messages[-1]):
        return (*messages, message)
    order = {call.id: index for index, call in enumerate(messages[-2].calls)}
    results = sorted(
        (*messages[-1].results, *message.results),
        key=lambda result: order.get(result.tool_use_id, len(order)),
    )
    return (*messages[:-1], replace(messages[-1], content=tuple(results)))


def open_calls(messages: tuple[Message, ...]) -> tuple[ToolUse, ...]:
    """Return the calls of the last assistant message that have no result yet, in order."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message.role == "assistant":
            return tuple(call for call in message.calls if call.id not in answered)
        answered |= {result.tool_use_id for result in message.results}
    return ()


def close_calls(calls: Iterable[ToolUse], reason: str = INTERRUPTED) -> Message:
    """Return the message that answers calls with an error."""
    results = tuple(ToolResult(call.id, (Text(reason),), is_error=True) for call in calls)
    return Message("user", results)


def sendable(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages as the API takes them, whatever an old or foreign thread holds.

    Roles alternate and the first is a user's; every call has its one result, in the next
    message and before its text; results without a call, and blank blocks, are gone.
    """
    merged = _merge_roles(repair_message(message) for message in messages)
    result: list[Message] = []
    for message in merged:
        if message.role == "assistant":
            if not result:
                result.append(Message("user", (Text("(conversation continues)"),), synthetic=True))
            last = result[-1]
            if last.role == "assistant":
                result[-1] = replace(last, content=(*last.content, *message.content))
            else:
                result.append(message)
            continue
        calls = result[-1].calls if result else ()
        content = _pair(calls, message)
        if content:
            result.append(replace(message, content=content))
    if result and result[-1].role == "assistant" and result[-1].calls:
        result.append(close_calls(result[-1].calls))
    return tuple(result)


def _pair(calls: tuple[ToolUse, ...], message: Message) -> tuple[Block, ...]:
    found: dict[str, ToolResult] = {}
    for answer in message.results:
        found.setdefault(answer.tool_use_id, answer)
    missing = ToolResult("", (Text(INTERRUPTED),), is_error=True)
    results = [found.get(call.id, replace(missing, tool_use_id=call.id)) for call in calls]
    others = [block for block in message.content if not isinstance(block, ToolResult)]
    return (*results, *others)


def _merge_roles(messages: Iterable[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if not message.content:
            continue
        last = merged[-1] if merged else None
        if last is None or last.role != message.role or last.calls:
            if last is not None and last.calls and message.role == "assistant":
                merged.append(close_calls(last.calls))
            merged.append(message)
        else:
            merged[-1] = replace(last, content=(*last.content, *message.content))
    return merged


def _only_results(message: Message) -> bool:
    return message.role == "user" and all(isinstance(b, ToolResult) for b in message.content)


def _repair_block(block: Block) -> Block:
    match block:
        case Text(text, extra):
            return Text(clean_text(text), extra)
        case ToolUse():
            data: JsonObject = clean_json(block.input)  # type: ignore[assignment]
            return replace(block, id=clean_text(block.id), name=clean_text(block.name), input=data)
        case ToolResult():
            content = tuple(
                Text(clean_text(part.text)) if isinstance(part, Text) else part
                for part in block.content
            )
            kept = tuple(part for part in content if not _is_blank(part))
            return replace(block, content=kept or (Text(NO_OUTPUT),))
        case Thinking() | Image() | Opaque():
            return block


def _is_blank(block: Block) -> bool:
    return isinstance(block, Text) and not block.text.strip()
