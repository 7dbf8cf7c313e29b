"""Repairs a request whose content the API refused, once, and tells the person."""

from __future__ import annotations

import re
from dataclasses import replace

from todo_agent.agent.events import Warned
from todo_agent.agent.history import sendable
from todo_agent.agent.messages import Block, Image, Message, Opaque, Text, Thinking, ToolResult
from todo_agent.agent.middleware import CallModel, Middleware, RunContext
from todo_agent.agent.provider import ModelRequest, ModelResponse, ProviderError

_PLACE = re.compile(r"messages\.(\d+)\.content\.(\d+)((?:\.\w+)*)")
_REMOVED = "(this {kind} was refused by the service and taken out)"


class Repairs(Middleware):
    """Drops what makes a request impossible: altered thinking, an image that is too large.

    The stored conversation stays as it is; only what is sent changes, for this call.
    """

    name = "repairs"

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """Call, and once more with the repaired request where that can help."""
        try:
            return await call_next(request)
        except ProviderError as error:
            repaired = _repaired(request, error)
            if repaired is None:
                raise
            mended, what = repaired
            ctx.emit(Warned(f"The service refused the request; it was sent again {what}."))
        return await call_next(mended)


def _repaired(request: ModelRequest, error: ProviderError) -> tuple[ModelRequest, str] | None:
    text = str(error)
    if error.kind != "invalid_request":
        return None
    if "thinking" in text or "signature" in text:
        messages = tuple(_without_thinking(message) for message in request.messages)
        return replace(request, messages=messages), "without the model's earlier reasoning"
    place = _PLACE.search(text)
    if place is None or not re.search(r"image|document|pdf", text):
        return None
    messages = _without_block(sendable(request.messages), int(place[1]), int(place[2]))
    return replace(request, messages=messages), "without the image or document it named"


def _without_thinking(message: Message) -> Message:
    kept = tuple(block for block in message.content if not _is_thinking(block))
    return replace(message, content=kept)


def _is_thinking(block: Block) -> bool:
    return isinstance(block, Thinking) or (
        isinstance(block, Opaque) and block.type == "redacted_thinking"
    )


def _without_block(messages: tuple[Message, ...], number: int, index: int) -> tuple[Message, ...]:
    """Return the messages with the media of one block replaced by a note."""
    if not (number < len(messages) and index < len(messages[number].content)):
        return messages
    message = messages[number]
    block = _noted(message.content[index])
    content = (*message.content[:index], block, *message.content[index + 1 :])
    return (*messages[:number], replace(message, content=content), *messages[number + 1 :])


def _noted(block: Block) -> Block:
    match block:
        case Image():
            return Text(_REMOVED.format(kind="image"))
        case Opaque():
            return Text(_REMOVED.format(kind=block.type))
        case ToolResult(content=content):
            noted = tuple(
                p if isinstance(p, Text) else Text(_REMOVED.format(kind="file")) for p in content
            )
            return replace(block, content=noted)
        case _:
            return block
