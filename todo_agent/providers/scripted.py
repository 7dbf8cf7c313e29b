"""A provider that plays a script: the offline demo's model, and every test's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeAlias

from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Block, Message, Text, Thinking, ToolUse
from todo_agent.agent.provider import (
    ModelDelta,
    ModelRequest,
    ModelResponse,
    ProviderError,
    Usage,
)

Reply: TypeAlias = (
    "JsonObject | ModelResponse | Callable[[ModelRequest], JsonObject | ModelResponse]"
)
FIELDS = frozenset(
    {"text", "thinking", "calls", "stop", "usage", "error", "delay", "chunk", "pace", "hang"}
)
CUT_OFF = "The answer was cut off inside this call, so it was not run. Send smaller pieces."


class ScriptError(ValueError):
    """A script that cannot be played; the message names the entry."""


class ScriptedProvider:
    """Plays one reply per request, in order.

    A reply is an object with any of: `text`, `thinking`, `calls` (objects with `name`,
    `input` and perhaps `id`), `stop`, `usage` (`input_tokens`, …), `error` (`kind`,
    `message`, perhaps `retriable`, `retry_after`), `delay` and `pace` (seconds before the
    first piece and between pieces), `chunk` (characters of a piece), `hang` (never ends
    after its text). It may also be a `ModelResponse`, or a function of the request that
    returns either.

    Args:
        replies: what to play.
        then: the reply to every request after the last one; without it they fail.

    Raises:
        ScriptError: a reply has a field that is not known.
    """

    def __init__(self, replies: Sequence[Reply], *, then: Reply | None = None) -> None:
        for index, reply in enumerate(replies):
            _check(reply, f"replies[{index}]")
        self._replies = list(replies)
        self._then = then
        self.requests: list[ModelRequest] = []
        """Every request so far."""

    @classmethod
    def load(cls, path: Path | Traversable) -> ScriptedProvider:
        """Read a script: a JSON object with `replies` and perhaps `then`.

        Raises:
            ScriptError: it cannot be read or is not such an object.
        """
        try:
            data = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ScriptError(f"{path}: {error}") from error
        match data:
            case {"replies": list(replies), **rest} if rest.keys() <= {"then"}:
                then = rest.get("then")
                return cls(replies, then=then if isinstance(then, Mapping) else None)
            case _:
                raise ScriptError(f"{path}: a script is an object with `replies` and `then`")

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Play the next reply (see `Provider`)."""
        self.requests.append(request)
        number = len(self.requests)
        reply = self._replies[number - 1] if number <= len(self._replies) else self._then
        if reply is None:
            raise ProviderError(f"The script has no reply {number}.", kind="script")
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, ModelResponse):
            return reply
        _check(reply, f"reply {number}")
        return await _play(reply, number, on_delta)


async def _play(
    reply: JsonObject, number: int, on_delta: Callable[[ModelDelta], None]
) -> ModelResponse:
    await asyncio.sleep(_seconds(reply.get("delay")))
    usage = _usage(reply.get("usage"))
    message = Message("assistant", tuple(_blocks(reply, number)))
    for delta in _deltas(message, chunk=_chunk(reply)):
        on_delta(delta)
        await asyncio.sleep(_seconds(reply.get("pace")))
    if reply.get("hang"):
        await asyncio.Event().wait()
    match reply.get("error"):
        case {"kind": str(kind), "message": str(text), **rest}:
            after = rest.get("retry_after")
            raise ProviderError(
                text,
                kind=kind,
                retriable=rest.get("retriable") is True,
                retry_after=float(after) if isinstance(after, int | float) else None,
                partial=Message("assistant", (Text(message.text),)) if message.text else None,
                usage=usage,
            )
        case _:
            pass
    stop = reply.get("stop") or ("tool_use" if message.calls else "end_turn")
    cut = message.calls[-1:] if stop == "max_tokens" else ()
    return ModelResponse(message, str(stop), usage, {call.id: CUT_OFF for call in cut})


def _blocks(reply: JsonObject, number: int) -> list[Block]:
    blocks: list[Block] = []
    thinking, text, calls = reply.get("thinking"), reply.get("text"), reply.get("calls")
    if isinstance(thinking, str):
        blocks.append(Thinking(thinking, f"signature-{number}"))
    if isinstance(text, str):
        blocks.append(Text(text))
    if isinstance(calls, list):
        blocks += [_call(call, f"call_{number}_{i}") for i, call in enumerate(calls, 1)]
    return blocks


def _call(call: Json, fresh_id: str) -> ToolUse:
    match call:
        case {"name": str(name), "input": Mapping() as input_, **rest}:
            return ToolUse(str(rest.get("id", fresh_id)), name, input_)
        case _:
            raise ScriptError(f"a call is an object with `name` and `input`, not {call!r}")


def _deltas(message: Message, *, chunk: int) -> list[ModelDelta]:
    deltas: list[ModelDelta] = []
    for block in message.content:
        match block:
            case Text(text):
                deltas += [ModelDelta("text", piece) for piece in _pieces(text, chunk)]
            case Thinking(thinking):
                deltas += [ModelDelta("thinking", piece) for piece in _pieces(thinking, chunk)]
            case ToolUse(id_, name, input_):
                text = json.dumps(input_, ensure_ascii=False)
                deltas += [
                    ModelDelta("tool_input", piece, id_, name) for piece in _pieces(text, chunk)
                ]
            case _:
                pass
    return deltas


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _check(reply: Reply, where: str) -> None:
    if not isinstance(reply, Mapping):
        if isinstance(reply, ModelResponse) or callable(reply):
            return
        raise ScriptError(f"{where} is no reply: {reply!r}")
    unknown = reply.keys() - FIELDS
    if unknown:
        raise ScriptError(f"{where} has unknown fields: {', '.join(sorted(unknown))}")


def _seconds(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _chunk(reply: JsonObject) -> int:
    chunk = reply.get("chunk")
    return chunk if isinstance(chunk, int) and chunk > 0 else 24


def _usage(data: Json) -> Usage:
    if not isinstance(data, Mapping):
        return Usage()
    numbers = {name: value for name, value in data.items() if isinstance(value, int)}
    return Usage(**numbers)
