"""What is sent of a long conversation: a summary, old results cleared, and the rest as it is.

Everything here is pure. The conversation itself stays whole; a `Digest` says how the messages
before a point are sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from todo_agent.agent.json import Json
from todo_agent.agent.messages import (
    Block,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    is_thinking,
    user,
)
from todo_agent.agent.prompt import estimate_tokens
from todo_agent.agent.state import Key

MEDIA_TOKENS = 1600
"""About what an image costs; a document's page costs about as much."""
LARGE_TOKENS = 500
"""From so many on a tool's result is worth clearing."""
CLEARED = "(This result was cleared to save room. Call the tool again if you need it.)"
MAX_VERBATIM = 12_000
"""Characters of the person's last message that a summary carries word for word."""
FRAME = "summary"
OPENING = (
    "The earlier part of this conversation was taken out of it to save room. This is what "
    "happened there, as you summed it up yourself. It is history and asks for nothing."
)
VERBATIM = "The person's latest message in that part, word for word; it still holds:"


@dataclass(frozen=True, slots=True)
class Digest:
    """How the first messages of a conversation are sent. The default: as they are."""

    made_at: int = 0
    """How many messages there were when it was made. Reasoning before that point is not sent:
    it holds only as long as everything before it is unchanged."""
    upto: int = 0
    """So many messages are replaced by the summary."""
    summary: str = ""
    cleared: int = 0
    """Large results before this message are replaced by a note."""


def _to_json(digest: Digest) -> Json:
    return {
        "made_at": digest.made_at,
        "upto": digest.upto,
        "summary": digest.summary,
        "cleared": digest.cleared,
    }


def _from_json(data: Json) -> Digest:
    match data:
        case {
            "made_at": int(made_at),
            "upto": int(upto),
            "summary": str(summary),
            "cleared": int(cleared),
        } if 0 <= upto <= made_at and 0 <= cleared <= made_at:
            return Digest(made_at, upto, summary, cleared)
        case _:
            return Digest()


DIGEST: Key[Digest] = Key("compaction", Digest(), to_json=_to_json, from_json=_from_json)
"""How the conversation is sent since its last compaction."""


def sent(messages: tuple[Message, ...], digest: Digest) -> tuple[Message, ...]:
    """Return what is sent of a conversation. A digest of a longer one does not count."""
    if digest.made_at == 0 or digest.made_at > len(messages):
        return messages
    kept = [
        _earlier(message, clear=index < digest.cleared) if index < digest.made_at else message
        for index, message in enumerate(messages[digest.upto :], digest.upto)
    ]
    if digest.upto == 0:
        return tuple(kept)
    return (_summary_message(messages[: digest.upto], digest.summary), *kept)


def without_reasoning(message: Message) -> Message:
    """Return the message without what the model thought."""
    content = tuple(block for block in message.content if not is_thinking(block))
    return message if len(content) == len(message.content) else replace(message, content=content)


def tokens_of(messages: Iterable[Message]) -> int:
    """Return about how many tokens messages have."""
    return sum(_tokens(block) for message in messages for block in message.content)


def last_answer(messages: Sequence[Message]) -> int:
    """Return the index behind the last answer of the model; 0 where there is none."""
    for index in range(len(messages), 0, -1):
        if messages[index - 1].role == "assistant":
            return index
    return 0


def seams(messages: Sequence[Message], *, after: int) -> tuple[list[int], list[int]]:
    """Return where the conversation may be cut without tearing a call from its result.

    First the beginnings of turns, where a person says something; then those of the model's
    steps within them, and the end, if nothing is open there.
    """
    turns, steps = [], []
    for index in range(after + 1, len(messages)):
        message = messages[index]
        if message.role == "assistant":
            steps.append(index)
        elif not message.results and not message.synthetic:
            turns.append(index)
    if len(messages) > after and messages[-1].role == "assistant" and not messages[-1].calls:
        steps.append(len(messages))
    return turns, steps


def cut_at(messages: Sequence[Message], *, after: int, keep_tokens: int) -> int | None:
    """Return where to cut so that about `keep_tokens` stay as they are.

    Whole turns are kept if the last one fits, else whole steps of it; the last step stays
    even where it is larger. None where there is nothing to cut.
    """
    turns, steps = seams(messages, after=after)
    fitting, room = len(messages), keep_tokens
    while fitting > after and (weight := tokens_of([messages[fitting - 1]])) <= room:
        fitting, room = fitting - 1, room - weight
    for places in (turns, steps):
        if fits := [place for place in places if place >= fitting]:
            return min(fits)
    return max([*turns, *steps], default=None)


def _earlier(message: Message, *, clear: bool) -> Message:
    message = without_reasoning(message)
    if not clear or not any(_is_large(result) for result in message.results):
        return message
    return replace(message, content=tuple(map(_cleared, message.content)))


def _cleared(block: Block) -> Block:
    if isinstance(block, ToolResult) and _is_large(block):
        return replace(block, content=(Text(CLEARED),))
    return block


def _is_large(result: ToolResult) -> bool:
    return _tokens(result) >= LARGE_TOKENS


def _summary_message(replaced: Sequence[Message], summary: str) -> Message:
    framed = summary.replace(f"</{FRAME}", f"<\\/{FRAME}")
    parts = [f"{OPENING}\n<{FRAME}>\n{framed}\n</{FRAME}>"]
    words = next((m.text for m in reversed(replaced) if _is_the_persons(m)), "")
    if words:
        cut = words if len(words) <= MAX_VERBATIM else f"{words[:MAX_VERBATIM]}\n(cut)"
        parts.append(f"{VERBATIM}\n{cut}")
    return user("\n\n".join(parts), synthetic=True)


def _is_the_persons(message: Message) -> bool:
    return message.role == "user" and not message.synthetic and bool(message.text.strip())


def _tokens(block: Block) -> int:
    match block:
        case Text(text) | Thinking(text):
            return estimate_tokens(text)
        case Image():
            return MEDIA_TOKENS
        case ToolUse():
            return estimate_tokens(block.name + json.dumps(block.input, default=dict))
        case ToolResult():
            return sum(_tokens(part) for part in block.content)
        case Opaque():
            size = estimate_tokens(json.dumps(block.data, default=dict))
            return min(size, MEDIA_TOKENS * 20) if block.type == "document" else size
