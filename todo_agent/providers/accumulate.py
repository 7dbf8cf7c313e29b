"""Builds an answer from the events of a stream, whatever the events are like."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from todo_agent.agent.history import clean_json, clean_text
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Block, Message, Opaque, Text, ToolUse, block_from_api
from todo_agent.agent.provider import ModelDelta, ModelResponse, Usage
from todo_agent.providers.names import unused_id

RawEvent: TypeAlias = Mapping[str, Any]
COMPLETE = ("tool_use", "end_turn")
"""Stop reasons after which a call whose block was closed is whole, and may run."""
UNSAID = "unknown"
"""The stop reason of an answer that came without one."""
OUTPUT_LIMIT = (
    "Not run: the output limit was hit before this call was complete. Send it in smaller pieces."
)
CUT_OFF = "Not run: the answer ended with {stop}, so the call may be incomplete."
MAX_DEPTH = 100
"""Arguments nested deeper than this are not taken; what handles them later would overflow."""


def cut_off(stop: str) -> str:
    """Return why a call of an answer that ended with a stop reason does not run."""
    return OUTPUT_LIMIT if stop == "max_tokens" else CUT_OFF.format(stop=stop)


@dataclass
class _Growing:
    """One content block while its pieces come."""

    data: dict[str, Any]
    json_text: str = ""
    closed: bool = False
    fault: str = ""
    half: str = ""
    """The first half of a character that was sent in two."""


@dataclass
class Answer:
    """An answer while it streams.

    Unknown events, blocks and pieces never raise: unknown blocks are kept as they are,
    and what cannot be understood of a call makes the call a fault.
    """

    on_delta: Callable[[ModelDelta], None]
    taken: set[str] = field(default_factory=set)
    """Ids of calls that are in use; a call that comes with one of them gets another."""
    blocks: dict[int, _Growing] = field(default_factory=dict)
    usage: Usage = Usage()
    stop: str = ""
    detail: str = ""
    finished: bool = False

    @property
    def begun(self) -> bool:
        """Whether anything of the answer's content has come."""
        return bool(self.blocks)

    @property
    def whole(self) -> bool:
        """Whether all of it has come, even if the connection broke right after it."""
        return self.finished or bool(self.stop)

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
        stop = self.stop or UNSAID
        blocks: list[Block] = []
        faults: dict[str, str] = {}
        for _, growing in sorted(self.blocks.items()):
            block = _block(growing.data)
            if isinstance(block, ToolUse):
                if stop not in COMPLETE or not growing.closed:
                    faults[block.id] = cut_off(stop)
                elif growing.fault:
                    faults[block.id] = growing.fault
            blocks.append(block)
        message = Message("assistant", tuple(blocks))
        return ModelResponse(message, stop, self.usage, faults, self.detail)

    def partial(self) -> Message | None:
        """Return the text that had come, or None; calls and thinking are worth nothing in part."""
        texts = [g.data.get("text") for _, g in sorted(self.blocks.items())]
        text = clean_text("".join(text for text in texts if isinstance(text, str)))
        return Message("assistant", (Text(text),), partial=True) if text.strip() else None

    def _start(self, index: int, block: Mapping[str, Any]) -> None:
        data = dict(block)
        self.blocks[index] = growing = _Growing(data)
        match data:
            case {"type": "text"}:
                self._add(growing, "text", str(data.pop("text", "")))
            case {"type": "thinking"}:
                self._add(growing, "thinking", str(data.pop("thinking", "")))
                data["signature"] = str(data.get("signature") or "")
            case {"type": "tool_use"}:
                data["id"] = unused_id(str(data.get("id") or ""), self.taken)
                data["name"] = str(data.get("name") or "")
                data["input"], growing.fault = _arguments(data.get("input") or {})
                self.taken.add(data["id"])
            case _:
                pass

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        growing = self.blocks.get(index)
        if growing is None:
            return
        data = growing.data
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self._add(growing, "text", text)
            case {"type": "thinking_delta", "thinking": str(text)}:
                self._add(growing, "thinking", text)
            case {"type": "signature_delta", "signature": str(signature)}:
                data["signature"] = str(data.get("signature", "")) + signature
            case {"type": "input_json_delta", "partial_json": str(text)}:
                growing.json_text += text
                if data.get("type") == "tool_use":
                    piece = ModelDelta("tool_input", clean_text(text), data["id"], data["name"])
                    self.on_delta(piece)
            case {"type": "citations_delta", "citation": citation}:
                data["citations"] = [*(data.get("citations") or []), citation]
            case _:
                pass

    def _add(self, growing: _Growing, kind: Literal["text", "thinking"], text: str) -> None:
        """Add a piece, and show it unless it ends in the middle of a character."""
        growing.data[kind] = str(growing.data.get(kind, "")) + text
        shown = growing.half + text
        growing.half = shown[-1:] if "\ud800" <= shown[-1:] <= "\udbff" else ""
        shown = shown[: len(shown) - len(growing.half)]
        if shown:
            self.on_delta(ModelDelta(kind, clean_text(shown)))

    def _close(self, index: int) -> None:
        growing = self.blocks.get(index)
        if growing is None:
            return
        growing.closed = True
        if growing.json_text.strip():
            growing.data["input"], growing.fault = _parsed(growing.json_text)

    def _count(self, usage: object) -> None:
        """Take token counts; those of a later event are totals, so none of them shrinks."""
        if not isinstance(usage, Mapping):
            return
        before = self.usage

        def count(name: str, known: int) -> int:
            value = usage.get(name)
            return max(value, known) if isinstance(value, int) else known

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


def _block(data: JsonObject) -> Block:
    whole = {name: clean_json(value) for name, value in data.items()}
    match whole:
        case {"type": "text" | "tool_use"}:
            return block_from_api({name: v for name, v in whole.items() if v is not None})
        case {"type": "thinking"}:
            return block_from_api(whole)
        case _:
            return Opaque(whole)


def _parsed(text: str) -> tuple[JsonObject, str]:
    """Return a call's arguments, and why they are none where they are not."""
    try:
        value: Json = json.loads(text, parse_constant=_no_number, parse_float=_number)
    except (ValueError, RecursionError) as error:
        return {}, f"Not run: the arguments are not valid JSON ({error}). Send one JSON object."
    return _arguments(value)


def _arguments(value: Json) -> tuple[JsonObject, str]:
    if not isinstance(value, dict):
        kind = type(value).__name__
        return {}, f"Not run: the arguments must be one JSON object, not a {kind}."
    if _is_deep(value):
        return {}, f"Not run: the arguments are nested deeper than {MAX_DEPTH} levels."
    cleaned = clean_json(value)
    return (cleaned if isinstance(cleaned, dict) else {}), ""


def _is_deep(value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")
