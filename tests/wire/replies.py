"""What the loopback server can answer: whole answers, statuses, and every way to break off."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One HTTP response.

    `chunks` are written one by one; `cut` closes the connection after them without an end,
    `hang` keeps it open and silent until the client leaves.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: tuple[bytes, ...] = ()
    cut: bool = False
    hang: bool = False
    signed: Mapping[str, str] = field(default_factory=dict)
    """The thinking it holds, by signature."""
    pauses: bool = False
    """It stops with `pause_turn`."""


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def thinking(content: str, signature: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": content, "signature": signature}


def tool_use(id_: str, name: str, input_: object) -> dict[str, Any]:
    """A call; a text as `input_` is sent as it is, whether it is JSON or not."""
    return {"type": "tool_use", "id": id_, "name": name, "input": input_}


def answer(
    *blocks: dict[str, Any],
    stop: str | None = None,
    piece: int = 1_000_000,
    usage: Mapping[str, int] | None = None,
    end: str = "message_stop",
    hang: bool = False,
    one_byte: bool = False,
    stop_details: object = None,
) -> Reply:
    """A streamed answer of content blocks.

    Args:
        blocks: the blocks; see `text`, `thinking`, `tool_use`. Others go out whole.
        stop: the stop reason; by default what fits the blocks.
        piece: the most characters of one delta.
        usage: token counts of the whole call.
        end: `message_stop`; `cut` for a connection that breaks before it; `error:TYPE` for an
            error event in its place.
        hang: stay silent before the end.
        one_byte: send every byte by itself.
        stop_details: what stands beside the stop reason.
    """
    counts = {"input_tokens": 10, "output_tokens": 5, **(usage or {})}
    events: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "content": [],
                "model": "test", "stop_reason": None, "stop_sequence": None,
                "usage": {**counts, "output_tokens": 1},
            },
        }
    ]  # fmt: skip
    for index, block in enumerate(blocks):
        events += _block_events(index, block, piece)
    calls = any(block["type"] == "tool_use" for block in blocks)
    reason = stop or ("tool_use" if calls else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None, "stop_details": stop_details}
    finish: list[dict[str, Any]] = [
        {"type": "message_delta", "delta": delta, "usage": counts},
        {"type": "message_stop"},
    ]
    if end == "message_stop" and not hang:
        events += finish
    elif end.startswith("error:"):
        kind = end.removeprefix("error:")
        events.append({"type": "error", "error": {"type": kind, "message": "Overloaded"}})
    signed = {b["signature"]: b["thinking"] for b in blocks if b["type"] == "thinking"}
    reply = stream(*events, cut=end == "cut", hang=hang, one_byte=one_byte, signed=signed)
    return replace(reply, pauses=reason == "pause_turn")


def stream(
    *events: dict[str, Any] | bytes,
    cut: bool = False,
    hang: bool = False,
    one_byte: bool = False,
    signed: Mapping[str, str] | None = None,
) -> Reply:
    """A stream of events as they are; bytes go out raw."""
    chunks = [event if isinstance(event, bytes) else sse(event) for event in events]
    if one_byte:
        chunks = [bytes([byte]) for chunk in chunks for byte in chunk]
    headers = {"content-type": "text/event-stream"}
    return Reply(200, headers, tuple(chunks), cut=cut, hang=hang, signed=signed or {})


def status(
    code: int,
    message: str = "no",
    *,
    kind: str = "api_error",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """An error as the API words it."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Reply(
        code,
        {"content-type": "application/json", **(headers or {})},
        (json.dumps(body).encode(),),
    )


def sse(event: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _block_events(index: int, block: dict[str, Any], piece: int) -> list[dict[str, Any]]:
    kind = block["type"]
    empty, field_name, whole = {
        "text": ({"text": ""}, "text", block.get("text", "")),
        "thinking": ({"thinking": "", "signature": ""}, "thinking", block.get("thinking", "")),
        "tool_use": ({"input": {}}, "partial_json", _json(block.get("input"))),
    }.get(kind, ({}, "", ""))
    delta_kind = {"tool_use": "input_json_delta"}.get(kind, f"{kind}_delta")
    events: list[dict[str, Any]] = [
        {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
    ]
    for start in range(0, len(whole), piece):
        delta = {"type": delta_kind, field_name: whole[start : start + piece]}
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
    if kind == "thinking":
        delta = {"type": "signature_delta", "signature": block["signature"]}
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
    events.append({"type": "content_block_stop", "index": index})
    return events


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
