"""Repairs requests whose content the service refused, and tells the person."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b

from todo_agent.agent.events import Warned
from todo_agent.agent.history import sendable
from todo_agent.agent.messages import (
    Block,
    Image,
    Message,
    Opaque,
    Text,
    ToolResult,
    block_to_api,
    is_thinking,
)
from todo_agent.agent.middleware import CallModel, Middleware, RunContext
from todo_agent.agent.provider import ModelRequest, ModelResponse, ProviderError

MAX_REPAIRS = 5
"""How often one request is repaired; a service may name one bad block at a time."""
LARGE = 10_000
"""Characters from which a block is worth shortening."""
KEPT = 2_000
"""Characters that are kept of a text that was too large."""
_PLACE = re.compile(r"messages\.(\d+)\.content\.(\d+)")
_REASONING = re.compile(r"messages\.\d+.*(thinking|signature)", re.DOTALL)
_MEDIA = re.compile(r"image|document|pdf", re.IGNORECASE)


class Repairs(Middleware):
    """Leaves out what makes a request impossible, and sends it again at once.

    That is reasoning whose signature is refused, an image or document that the service
    names, and the oldest large results of a request that is too large. The stored
    conversation stays as it is. What was refused once is left out of every later request
    of this process, so it costs one failed call.
    """

    name = "repairs"

    def __init__(self) -> None:
        self._refused: set[bytes] = set()

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """Call, and again with the repaired request where that can help."""
        for _ in range(MAX_REPAIRS):
            mended = self._mended(request)
            try:
                return await call_next(mended)
            except ProviderError as error:
                blocks, what = _refused(mended, error)
                if not blocks:
                    raise
                self._refused.update(map(_mark, blocks))
            text = f"The service refused the request; it is sent again without {what}."
            ctx.emit(Warned(text, code="repaired"))
        return await call_next(self._mended(request))

    def _mended(self, request: ModelRequest) -> ModelRequest:
        if not self._refused:
            return request
        messages = tuple(
            replace(message, content=tuple(self._without_refused(message)))
            for message in request.messages
        )
        return replace(request, messages=messages)

    def _without_refused(self, message: Message) -> Iterator[Block]:
        for block in message.content:
            if not _may_be_refused(block) or _mark(block) not in self._refused:
                yield block
            elif not is_thinking(block):
                yield _noted(block)


def _refused(request: ModelRequest, error: ProviderError) -> tuple[list[Block], str]:
    """Return the blocks that the error is about, and what they are."""
    text = str(error)
    blocks = [block for message in request.messages for block in message.content]
    match error.kind:
        case "invalid_request" if _REASONING.search(text):
            return [b for b in blocks if is_thinking(b)], "the model's earlier reasoning"
        case "invalid_request" if _MEDIA.search(text):
            return _named_media(request, text), "the image or document that it names"
        case "too_large":
            return _oldest_large(blocks), "its oldest large results"
        case _:
            return [], ""


def _named_media(request: ModelRequest, text: str) -> list[Block]:
    """Return the block at the place that an error names."""
    place = _PLACE.search(text)
    messages = sendable(request.messages)
    if place is None or int(place[1]) >= len(messages):
        return []
    content = messages[int(place[1])].content
    named = content[int(place[2]) : int(place[2]) + 1]
    return [block for block in named if _has_media(block)]


def _oldest_large(blocks: list[Block]) -> list[Block]:
    """Return the oldest large blocks, until at most half of what they weigh together is left."""
    large = [block for block in blocks if _can_shrink(block) and _size(block) >= LARGE]
    left = total = sum(map(_size, large))
    found: list[Block] = []
    while large and left > total / 2:
        found.append(large.pop(0))
        left -= _size(found[-1])
    return found


def _may_be_refused(block: Block) -> bool:
    return isinstance(block, Image | Opaque | ToolResult) or is_thinking(block)


def _can_shrink(block: Block) -> bool:
    is_document = isinstance(block, Opaque) and block.type == "document"
    return is_document or isinstance(block, Image | ToolResult)


def _has_media(block: Block) -> bool:
    if isinstance(block, ToolResult):
        return any(isinstance(part, Image | Opaque) for part in block.content)
    return isinstance(block, Image | Opaque)


def _noted(block: Block) -> Block:
    """Return a note in the place of a block's media, and the beginning of its text."""
    match block:
        case ToolResult(content=content):
            return replace(block, content=tuple(_noted_part(part) for part in content))
        case Text() | Image() | Opaque():
            return _noted_part(block)
        case _:
            return block


def _noted_part(part: Text | Image | Opaque) -> Text:
    match part:
        case Text(text) if len(text) > KEPT:
            return Text(f"{text[:KEPT]}\n(cut: the whole was too large to be sent again)")
        case Text():
            return part
        case Image():
            return Text("(an image stood here; the service refused it)")
        case Opaque():
            return Text(f"(a {part.type} stood here; the service refused it)")


def _size(block: Block) -> int:
    return len(_as_json(block))


def _mark(block: Block) -> bytes:
    """Return what tells a block from every other."""
    return blake2b(_as_json(block).encode(), digest_size=16).digest()


def _as_json(block: Block) -> str:
    return json.dumps(block_to_api(block), sort_keys=True, default=dict)
