"""What stands behind messages in requests only, and has to stand there again in later ones.

A model's thinking is taken back only while everything before it is as it was when the model
thought it. So what was once sent behind a message is sent there again, unchanged, and what
holds now is added only where it changed. Nothing of this is stored with the thread: after a
restart the earlier thinking may be refused, and is then left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from todo_agent.agent.json import Json, JsonObject

NOTHING = "Nothing is shown now; what was shown in such a frame before no longer holds."


@dataclass(frozen=True, slots=True)
class _Sent:
    """What an answer had before it."""

    aside: str
    """What stood behind the message it answers; empty for nothing."""
    shown: str
    """What held then, whether it stood there or further up."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The asides of one request."""

    asides: Mapping[int, str]
    """By the index of the message they stand behind."""
    shown: str
    """What the model is shown to hold, here or further up."""
    prefix: bytes
    """Names the conversation without its last message."""
    last: JsonObject
    at: int
    """The index of the last message."""


class Asides:
    """Remembers the asides of earlier requests, of any number of conversations.

    Args:
        most: how many answers it remembers; the oldest are forgotten first.
    """

    def __init__(self, *, most: int = 10_000) -> None:
        self._most = most
        self._sent: dict[bytes, _Sent] = {}

    def place(self, messages: Sequence[JsonObject], current: str) -> Placed:
        """Return what stands behind which message of a request that is not empty.

        Args:
            messages: the conversation as the API takes it.
            current: what holds now, framed; empty for nothing.
        """
        asides: dict[int, str] = {}
        prefix, name, shown = b"", b"", ""
        for index, message in enumerate(messages):
            prefix, name = name, _name(name, message)
            if sent := self._sent.get(name):
                shown = sent.shown
                if sent.aside:
                    asides[index - 1] = sent.aside
        last = len(messages) - 1
        if messages[last]["role"] == "user" and current != shown:
            asides[last] = current or NOTHING
            shown = current
        return Placed(asides, shown, prefix, messages[last], last)

    def keep(self, placed: Placed, answer: Sequence[Json]) -> None:
        """Remember a request by the content of its answer, once that has come whole."""
        prefix, before, content = _name(placed.prefix, placed.last), placed.at, list(answer)
        if placed.last["role"] == "assistant":
            prefix, before = placed.prefix, placed.at - 1
            content = [*_content(placed.last), *content]
        name = _name(prefix, {"role": "assistant", "content": content})
        self._sent.pop(name, None)
        self._sent[name] = _Sent(placed.asides.get(before, ""), placed.shown)
        if len(self._sent) > self._most:
            del self._sent[next(iter(self._sent))]


def _content(message: JsonObject) -> Sequence[Json]:
    content = message["content"]
    return content if isinstance(content, list) else []


def _name(prefix: bytes, message: JsonObject) -> bytes:
    """Return a name of the conversation that is a message longer than the prefix."""
    text = json.dumps(message, sort_keys=True)
    return blake2b(text.encode(), key=prefix, digest_size=16).digest()
