"""A provider that plays a script: the offline demo's model, and every test's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Self, TypeAlias

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Block, Message, Text, Thinking, ToolUse
from todo_agent.agent.provider import (
    ModelDelta,
    ModelRequest,
    ModelResponse,
    ProviderError,
    Usage,
)
from todo_agent.providers.accumulate import COMPLETE, cut_off
from todo_agent.providers.script import ScriptError, check_reply, read_script

Reply: TypeAlias = (
    "JsonObject | ModelResponse | Callable[[ModelRequest], JsonObject | ModelResponse]"
)
DEFAULT_CHUNK = 24
"""Characters of one streamed piece."""


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
        aside: the reply to every request beside the conversation; without it they take
            the next reply like any other.

    Raises:
        ScriptError: a reply is none.
    """

    def __init__(
        self, replies: Sequence[Reply], *, then: Reply | None = None, aside: Reply | None = None
    ) -> None:
        for index, reply in enumerate(replies):
            check_reply(reply, f"replies[{index}]")
        for name, extra in (("then", then), ("aside", aside)):
            if extra is not None:
                check_reply(extra, name)
        self._replies = list(replies)
        self._then = then
        self._aside = aside
        self._played = 0
        self.requests: list[ModelRequest] = []
        """Every request so far."""

    @classmethod
    def load(cls, path: Path | Traversable) -> Self:
        """Read a script: a JSON list of replies, or an object of `replies` and perhaps `then`.

        Raises:
            ScriptError: it cannot be read or played; the message names the file and the entry.
        """
        try:
            replies, then = read_script(path.read_text("utf-8"))
            return cls(replies, then=then)
        except (OSError, ValueError) as error:
            raise ScriptError(f"{path}: {error}") from error

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Play the next reply (see `Provider`)."""
        self.requests.append(request)
        if request.aside and self._aside is not None:
            return await self._answer(request, self._aside, on_delta)
        self._played += 1
        number = self._played
        reply = self._replies[number - 1] if number <= len(self._replies) else self._then
        if reply is None:
            text = f"The script has {len(self._replies)} replies, and this is request {number}."
            raise ProviderError(text, kind="script")
        return await self._answer(request, reply, on_delta)

    async def _answer(
        self, request: ModelRequest, reply: Reply, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        number = len(self.requests)
        if callable(reply):
            reply = reply(request)
            check_reply(reply, f"reply {number}")
        if isinstance(reply, ModelResponse):
            for delta in _deltas(reply.message, chunk=DEFAULT_CHUNK):
                on_delta(delta)
            return reply
        if isinstance(reply, Mapping):
            return await _play(reply, number, on_delta)
        raise ScriptError(f"reply {number} is no reply: {reply!r}")


async def _play(
    reply: Mapping[str, Any], number: int, on_delta: Callable[[ModelDelta], None]
) -> ModelResponse:
    await asyncio.sleep(reply.get("delay", 0))
    message = Message("assistant", tuple(_blocks(reply, number)))
    usage = Usage(**reply.get("usage", {}))
    for delta in _deltas(message, chunk=reply.get("chunk", DEFAULT_CHUNK)):
        on_delta(delta)
        await asyncio.sleep(reply.get("pace", 0))
    if reply.get("hang"):
        await asyncio.Event().wait()
    if "error" in reply:
        error = reply["error"]
        raise ProviderError(
            error["message"],
            kind=error["kind"],
            retriable=error.get("retriable", False),
            retry_after=error.get("retry_after"),
            partial=Message("assistant", (Text(message.text),)) if message.text else None,
            usage=usage,
        )
    stop = reply.get("stop") or ("tool_use" if message.calls else "end_turn")
    cut = () if stop in COMPLETE else message.calls
    return ModelResponse(message, stop, usage, {call.id: cut_off(stop) for call in cut})


def _blocks(reply: Mapping[str, Any], number: int) -> Iterator[Block]:
    if "thinking" in reply:
        yield Thinking(reply["thinking"], f"signature-{number}")
    if "text" in reply:
        yield Text(reply["text"])
    for index, call in enumerate(reply.get("calls", ()), 1):
        yield ToolUse(call.get("id", f"call_{number}_{index}"), call["name"], call["input"])


def _deltas(message: Message, *, chunk: int) -> Iterator[ModelDelta]:
    for block in message.content:
        match block:
            case Text(text):
                yield from (ModelDelta("text", piece) for piece in _pieces(text, chunk))
            case Thinking(thinking):
                yield from (ModelDelta("thinking", piece) for piece in _pieces(thinking, chunk))
            case ToolUse(id_, name, input_):
                text = json.dumps(input_, ensure_ascii=False)
                for piece in _pieces(text, chunk):
                    yield ModelDelta("tool_input", piece, id_, name)
            case _:
                pass


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
