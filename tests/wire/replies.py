"""What the loopback server can answer: whole answers, statuses, and every way to break off."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Block = dict[str, Any]
Event = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One HTTP response.

    `chunks` are written one by one. `cut` closes the connection after them without an end,
    `drop` resets it before anything is sent, `hang` keeps it open after them, `silent` does so
    without any sign of life.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: tuple[bytes, ...] = ()
    cut: bool = False
    drop: bool = False
    hang: bool = False
    silent: bool = False
    delay: float = 0.0
    """Seconds before the first byte."""
    blocks: tuple[Block, ...] = ()
    """The content it holds, which the client has to send back as it is."""
    pauses: bool = False
    """It stops with `pause_turn`, so it comes back as the last message."""


def text(content: str) -> Block:
    return {"type": "text", "text": content}


def thinking(content: str, signature: str) -> Block:
    return {"type": "thinking", "thinking": content, "signature": signature}


def tool_use(id_: str, name: str, input_: object) -> Block:
    """A call; a text as `input_` is sent as it is, whether it is JSON or not."""
    return {"type": "tool_use", "id": id_, "name": name, "input": input_}


def answer(
    *blocks: Block,
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
            error event in its place; `none` for an end without any.
        hang: stay silent before the end.
        one_byte: send every byte by itself.
        stop_details: what stands beside the stop reason.
    """
    counts = {"input_tokens": 10, "output_tokens": 5, **(usage or {})}
    events = [start({**counts, "output_tokens": 1})]
    for index, block in enumerate(blocks):
        events += _block_events(index, block, piece)
    calls = any(block["type"] == "tool_use" for block in blocks)
    if end == "message_stop" and not hang:
        reason = stop or ("tool_use" if calls else "end_turn")
        events += finish(reason, counts, stop_details)
    if end.startswith("error:"):
        error = {"type": end.removeprefix("error:"), "message": "Overloaded"}
        events.append({"type": "error", "error": error})
    return stream(*events, cut=end == "cut", hang=hang, one_byte=one_byte)


def start(usage: Mapping[str, int]) -> Event:
    """The first event of every answer."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "test",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return {"type": "message_start", "message": message}


def finish(stop: str, usage: Mapping[str, int], stop_details: object = None) -> list[Event]:
    """The last events of every answer that comes whole."""
    delta = {"stop_reason": stop, "stop_sequence": None, "stop_details": stop_details}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def stream(
    *events: Event | bytes,
    cut: bool = False,
    hang: bool = False,
    silent: bool = False,
    one_byte: bool = False,
) -> Reply:
    """A stream of events as they are; bytes go out raw."""
    chunks = [event if isinstance(event, bytes) else sse(event) for event in events]
    if one_byte:
        chunks = [bytes([byte]) for chunk in chunks for byte in chunk]
    known = [event for event in events if isinstance(event, dict)]
    return Reply(
        headers={"content-type": "text/event-stream"},
        chunks=tuple(chunks),
        cut=cut,
        hang=hang,
        silent=silent,
        blocks=tuple(_blocks(known)),
        pauses=any(e.get("delta", {}).get("stop_reason") == "pause_turn" for e in known),
    )


def status(
    code: int,
    message: str = "no",
    *,
    kind: str = "api_error",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """An error as the API words it."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return document(body, code=code, headers=headers)


def refused(message: str) -> Reply:
    """A request that the API does not take."""
    return status(400, message, kind="invalid_request_error")


def document(body: object, *, code: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A JSON document."""
    chunks = (json.dumps(body).encode(),)
    return Reply(code, {"content-type": "application/json", **(headers or {})}, chunks)


def sse(event: Event) -> bytes:
    """One server-sent event."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _block_events(index: int, block: Block, piece: int) -> list[Event]:
    kind = block["type"]
    empty, field_name, whole = {
        "text": ({"text": ""}, "text", block.get("text", "")),
        "thinking": ({"thinking": "", "signature": ""}, "thinking", block.get("thinking", "")),
        "tool_use": ({"input": {}}, "partial_json", _json(block.get("input"))),
    }.get(kind, ({}, "", ""))
    delta_kind = {"tool_use": "input_json_delta"}.get(kind, f"{kind}_delta")
    events: list[Event] = [
        {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
    ]
    deltas = [
        {"type": delta_kind, field_name: whole[begin : begin + piece]}
        for begin in range(0, len(whole), piece)
    ]
    if kind == "thinking":
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
    events.append({"type": "content_block_stop", "index": index})
    return events


def _blocks(events: Sequence[Event]) -> list[Block]:
    """Return the content of a stream; the input of calls is not put together."""
    blocks: dict[int, Block] = {}
    for event in events:
        match event:
            case {"type": "content_block_start", "index": index, "content_block": block}:
                blocks[index] = dict(block)
            case {"type": "content_block_delta", "index": index, "delta": delta}:
                for name in ("text", "thinking", "signature"):
                    if name in delta and index in blocks:
                        blocks[index][name] = blocks[index].get(name, "") + delta[name]
            case _:
                pass
    return [blocks[index] for index in sorted(blocks)]


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
