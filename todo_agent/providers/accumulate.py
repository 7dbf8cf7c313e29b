"""Builds an answer from the events of a stream, whatever the events are like."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from todo_agent.agent.history import clean_json, clean_text
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Block, Message, Text, ToolUse, block_from_api
from todo_agent.agent.provider import ModelDelta, ModelResponse, Usage

RawEvent: TypeAlias = Mapping[str, Any]
COMPLETE = ("tool_use", "end_turn", "stop_sequence")
"""Stop reasons after which every call is whole."""
CUT_OFF = (
    "Not run: the answer ended with {stop} before this call was surely complete. Send it again "
    "in smaller pieces."
)


@dataclass
class _Growing:
    """One content block while its pieces come."""

    data: dict[str, Any]
    json_text: str = ""
    closed: bool = False
    fault: str = ""


@dataclass
class Answer:
    """An answer while it streams.

    Unknown events, blocks and pieces never raise: unknown blocks are kept as they are,
    and what cannot be understood of a call makes the call a fault.
    """

    on_delta: Callable[[ModelDelta], None]
    blocks: dict[int, _Growing] = field(default_factory=dict)
    usage: Usage = Usage()
    stop: str = ""
    detail: str = ""
    finished: bool = False

    @property
    def begun(self) -> bool:
        """Whether anything of the answer's content has come."""
        return bool(self.blocks)

    def take(self, event: RawEvent) -> None:
        """Take one event of the stream."""
        match event:
            case {"type": "message_start", "message": Mapping() as message}:
                self._count(message.get("usage"))
            case {
                "type": "content_block_start",
                "index": int(index),
                "content_block": Mapping() as b,
            }:
                self._start(index, b)
            case {"type": "content_block_delta", "index": int(index), "delta": Mapping() as delta}:
                self._grow(index, delta)
            case {"type": "content_block_stop", "index": int(index)}:
                self._close(index)
            case {"type": "message_delta", "delta": Mapping() as delta, **rest}:
                self.stop = str(delta.get("stop_reason") or self.stop)
                self._explain(delta.get("stop_details"))
                self._count(rest.get("usage"))
            case {"type": "message_stop"}:
                self.finished = True
            case _:
                pass

    def response(self) -> ModelResponse:
        """Return the whole answer."""
        stop = self.stop or "end_turn"
        blocks: list[Block] = []
        faults: dict[str, str] = {}
        ids: set[str] = set()
        for index, growing in sorted(self.blocks.items()):
            block = block_from_api(growing.data)
            if isinstance(block, ToolUse):
                block = _named(block, index, ids)
                if stop not in COMPLETE or not growing.closed:
                    faults[block.id] = CUT_OFF.format(stop=stop)
                elif growing.fault:
                    faults[block.id] = growing.fault
            blocks.append(block)
        message = Message("assistant", tuple(blocks))
        return ModelResponse(message, stop, self.usage, faults, self.detail)

    def partial(self) -> Message | None:
        """Return the text that had come, or None; calls and thinking are worth nothing in part."""
        texts = [g.data.get("text", "") for _, g in sorted(self.blocks.items())]
        text = "".join(text for text in texts if isinstance(text, str))
        return (
            Message("assistant", (Text(clean_text(text)),), partial=True) if text.strip() else None
        )

    def _start(self, index: int, block: Mapping[str, Any]) -> None:
        data = {name: value for name, value in block.items() if value is not None}
        self.blocks[index] = _Growing(data)
        if data.get("type") == "text" and data.get("text"):
            self.on_delta(ModelDelta("text", clean_text(str(data["text"]))))

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        growing = self.blocks.get(index)
        if growing is None:
            return
        data = growing.data
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                data["text"] = str(data.get("text", "")) + text
                self.on_delta(ModelDelta("text", clean_text(text)))
            case {"type": "thinking_delta", "thinking": str(text)}:
                data["thinking"] = str(data.get("thinking", "")) + text
                self.on_delta(ModelDelta("thinking", clean_text(text)))
            case {"type": "signature_delta", "signature": str(signature)}:
                data["signature"] = str(data.get("signature", "")) + signature
            case {"type": "input_json_delta", "partial_json": str(text)}:
                growing.json_text += text
                call_id, name = str(data.get("id", "")), str(data.get("name", ""))
                self.on_delta(ModelDelta("tool_input", clean_text(text), call_id, name))
            case {"type": "citations_delta", "citation": citation}:
                data["citations"] = [*(data.get("citations") or []), citation]
            case _:
                pass

    def _close(self, index: int) -> None:
        growing = self.blocks.get(index)
        if growing is None:
            return
        growing.closed = True
        if growing.json_text:
            growing.data["input"], growing.fault = _input(growing.json_text)

    def _count(self, usage: object) -> None:
        """Take token counts; those of a later event are totals and replace earlier ones."""
        if not isinstance(usage, Mapping):
            return
        before = self.usage

        def count(name: str, known: int) -> int:
            value = usage.get(name)
            return value if isinstance(value, int) else known

        self.usage = Usage(
            count("input_tokens", before.input_tokens),
            count("output_tokens", before.output_tokens),
            count("cache_read_input_tokens", before.cache_read_tokens),
            count("cache_creation_input_tokens", before.cache_write_tokens),
        )

    def _explain(self, details: object) -> None:
        match details:
            case {"explanation": str(text)} if text:
                self.detail = text
            case {"category": str(category)} if category:
                self.detail = f"The model declined to answer ({category})."
            case _:
                pass


def _input(text: str) -> tuple[JsonObject, str]:
    """Return a call's arguments, and why they are none where they are not."""
    try:
        value: Json = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return {}, f"Not run: the arguments are not valid JSON ({error}). Send one JSON object."
    if not isinstance(value, dict):
        kind = type(value).__name__
        return {}, f"Not run: the arguments must be one JSON object, not a {kind}."
    cleaned = clean_json(value)
    return (cleaned if isinstance(cleaned, dict) else {}), ""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _named(call: ToolUse, index: int, ids: set[str]) -> ToolUse:
    """Return the call with an id that is its own within the message."""
    id_ = call.id if call.id and call.id not in ids else f"{call.id or 'call'}_{index}"
    ids.add(id_)
    return ToolUse(id_, call.name, call.input, call.extra)
