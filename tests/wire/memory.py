"""What the server has answered so far, to see whether a client keeps it as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Body = Mapping[str, Any]
REASONING = ("thinking", "redacted_thinking")
KNOWN = ("text", "tool_use")
"""Types a client may take apart and put together again."""


class Memory:
    """Remembers answers, and judges what comes back of them.

    Args:
        binds: reasoning is only taken back behind the very conversation it was made for, as
            the newest models and accounts have it.
    """

    def __init__(self, *, binds: bool) -> None:
        self._binds = binds
        self._answers: list[Sequence[Any]] = []
        self._prefixes: dict[str, str] = {}

    def record(self, body: Body, blocks: Sequence[Any]) -> None:
        """Remember the answer to a request."""
        self._answers.append(blocks)
        messages = body["messages"]
        at = len(messages) - (messages[-1]["role"] == "assistant")
        for block in blocks:
            if block["type"] in REASONING:
                self._prefixes[_key(block)] = _prefix(body, at)

    def violations(self, body: Body) -> Iterator[str]:
        """Return what a request made of earlier answers, as the API would name it."""
        for index, message in enumerate(body["messages"]):
            if message["role"] != "assistant":
                continue
            where, content = f"messages.{index}.content", message["content"]
            for place, block in enumerate(content):
                yield from self._block(f"{where}.{place}", block, _prefix(body, index))
            yield from self._order(where, [_key(block) for block in content])
            is_last = index == len(body["messages"]) - 1
            if content[-1]["type"] in REASONING and not is_last:
                yield f"{where}: the final block in an assistant message cannot be `thinking`"

    def _block(self, where: str, block: Any, prefix: str) -> Iterator[str]:
        if block["type"] in KNOWN:
            return
        kind = block["type"]
        bare = {name: value for name, value in block.items() if name != "cache_control"}
        sent = [b for answer in self._answers for b in answer if _key(b) == _key(block)]
        if not sent:
            yield f"{where}: Invalid `signature` in `{kind}` block"
        elif bare not in sent:
            yield f"{where}: `{kind}` blocks cannot be modified"
        elif self._binds and kind in REASONING and self._prefixes[_key(block)] != prefix:
            yield (
                f"{where}: Invalid `signature` in `thinking` block. "
                "The block is bound to a different conversation."
            )

    def _order(self, where: str, keys: Sequence[str]) -> Iterator[str]:
        """Check that reasoning stands among the calls of its answer where it stood."""
        for answer in self._answers:
            mine = [_key(b) for b in answer if b["type"] in (*REASONING, "tool_use")]
            calls = {_key(b) for b in answer if b["type"] == "tool_use"}
            present = [key for key in keys if key in mine]
            if not set(present) - calls:
                continue
            if present != [key for key in mine if key in present] or not calls <= set(present):
                yield f"{where}: `thinking` blocks must stand where they stood in the answer"


def _key(block: Any) -> str:
    match block:
        case {"type": "thinking", "signature": signature}:
            return f"thinking {signature}"
        case {"type": "redacted_thinking", "data": data}:
            return f"redacted {data}"
        case _:
            return f"{block['type']} {block.get('id', '')}"


def _prefix(body: Body, at: int) -> str:
    """Return everything before a message, without reasoning and breakpoints."""
    messages = [
        {**message, "content": [b for b in message["content"] if b["type"] not in REASONING]}
        for message in body["messages"][:at]
    ]
    parts = [body.get("system"), body.get("tools"), messages]
    return json.dumps(_without_breakpoints(parts), sort_keys=True)


def _without_breakpoints(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _without_breakpoints(v) for k, v in value.items() if k != "cache_control"}
    return [_without_breakpoints(v) for v in value] if isinstance(value, list) else value
