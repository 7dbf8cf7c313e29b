"""A model request in the Messages API's own JSON, laid out so that its cache hits.

The stable prefix comes first: tools, system prompt, cacheable sections, then the conversation,
which only ever grows at its end. Breakpoints stand at the end of the system prompt, of the
stored conversation, and of the conversation as the step before sent it. What changes from
step to step stands behind the last of them, in a frame of its own.

Thinking of another model is sent too: the API leaves out what a model cannot read, and has
it again when the thread goes back to the model that thought it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from todo_agent.agent.history import clean_json, clean_text, repair_message, sendable
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import (
    Block,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    block_to_api,
    is_thinking,
)
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.provider import ModelRequest, ToolSpec
from todo_agent.providers.asides import Asides, Placed
from todo_agent.providers.models import Model, facts
from todo_agent.providers.names import unused_id, valid_name

EPHEMERAL: JsonObject = {"type": "ephemeral"}
CACHEABLE = ("text", "image", "tool_result", "document")
"""Types of blocks that take a cache breakpoint."""
BUDGET_SHARE = 2
"""A thinking budget is the answer's limit divided by this."""
MIN_BUDGET = 1024
FRAME = "shown-by-program"
INTRODUCTION = (
    "How things stand now. It takes the place of everything that was shown in such a frame before."
)
GO_ON = "Your last message was cut off. Go on from there."


@dataclass(frozen=True, slots=True)
class Options:
    """What a provider asks of every model, beside the request."""

    thinking: bool = True
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """One request, ready to be sent."""

    arguments: dict[str, Json]
    placed: Placed


def lay_out(request: ModelRequest, asides: Asides, options: Options) -> Layout:
    """Return the arguments of one call of the Messages API.

    Raises:
        ValueError: there is no message to send.
    """
    messages = api_messages(request.messages)
    if not messages:
        raise ValueError("There is nothing to send: the conversation is empty.")
    placed = asides.place(messages, _framed(request.sections))
    model = facts(request.model)
    max_tokens = min(request.max_tokens, model.output or request.max_tokens)
    arguments: dict[str, Json] = {
        "model": request.model,
        "max_tokens": max_tokens,
        "messages": _with_asides(messages, placed.asides),
    }
    optional: dict[str, Json] = {
        "tools": [_tool(tool) for tool in request.tools],
        "system": _system(request),
        "thinking": _thinking(model, max_tokens, messages, wanted=options.thinking),
        "output_config": {"effort": options.effort} if options.effort else {},
    }
    return Layout(arguments | {name: value for name, value in optional.items() if value}, placed)


def api_messages(messages: tuple[Message, ...]) -> list[JsonObject]:
    """Return a conversation as the API takes it, whatever an old or foreign thread holds."""
    signed = tuple(map(_signed, messages))
    whole = _with_valid_names(sendable((*map(_finished, signed[:-1]), *signed[-1:])))
    if whole and whole[-1].role == "assistant" and whole[-1].partial:
        whole = (*whole, Message("user", (Text(GO_ON),)))
    return [{"role": message.role, "content": api_content(message)} for message in whole]


def api_content(message: Message) -> list[Json]:
    """Return a message's blocks as they are sent."""
    return [clean_json(block_to_api(block)) for block in repair_message(message).content]


def _signed(message: Message) -> Message:
    """Return a message without reasoning that has no signature: nobody takes that back."""
    kept = (b for b in message.content if not (isinstance(b, Thinking) and not b.signature))
    return replace(message, content=tuple(kept))


def _finished(message: Message) -> Message:
    """Return an earlier message without reasoning at its end: it was cut off before its answer."""
    content = message.content
    while content and is_thinking(content[-1]):
        content = content[:-1]
    return replace(message, content=content)


def _with_valid_names(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with ids and names of calls that the API takes, and no id twice."""
    taken: set[str] = set()
    new_ids: defaultdict[str, list[str]] = defaultdict(list)

    def valid(block: Block) -> Block:
        match block:
            case ToolUse(id=id_, name=name):
                new_ids[id_].append(unused_id(id_, taken))
                taken.add(new_ids[id_][-1])
                return replace(block, id=new_ids[id_][-1], name=valid_name(name))
            case ToolResult(tool_use_id=id_):
                return replace(block, tool_use_id=new_ids[id_].pop(0))
            case _:
                return block

    return tuple(replace(m, content=tuple(map(valid, m.content))) for m in messages)


def _with_asides(messages: Sequence[JsonObject], asides: Mapping[int, str]) -> list[Json]:
    """Return the messages with their asides, and with breakpoints in front of the last two."""
    marked = [index for index, message in enumerate(messages) if message["role"] == "user"][-2:]
    whole: list[Json] = []
    for index, message in enumerate(messages):
        content = message["content"]
        blocks = list(content) if isinstance(content, list) else []
        if index in marked:
            _mark_last(blocks)
        if index in asides:
            blocks.append({"type": "text", "text": asides[index]})
        whole.append({**message, "content": blocks})
    return whole


def _mark_last(blocks: list[Json]) -> None:
    """Set a cache breakpoint on the last block that takes one."""
    for place, block in reversed(list(enumerate(blocks))):
        if isinstance(block, Mapping) and block.get("type") in CACHEABLE:
            blocks[place] = {**block, "cache_control": EPHEMERAL}
            return


def _tool(tool: ToolSpec) -> Json:
    return clean_json(
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    )


def _system(request: ModelRequest) -> list[Json]:
    texts = [request.system, *(s.text for s in request.sections if s.cacheable)]
    blocks: list[Json] = [
        {"type": "text", "text": clean_text(text)} for text in texts if text.strip()
    ]
    _mark_last(blocks)
    return blocks


def _thinking(
    model: Model, max_tokens: int, messages: Sequence[JsonObject], *, wanted: bool
) -> JsonObject:
    if not wanted:
        return {"type": model.off} if model.off else {}
    match model.thinking:
        case "adaptive":
            return {"type": "adaptive", "display": "summarized"}
        case "budget" if max_tokens > MIN_BUDGET and not _goes_on_unthought(messages):
            budget = max(MIN_BUDGET, max_tokens // BUDGET_SHARE)
            return {"type": "enabled", "budget_tokens": budget}
        case _:
            return {}


def _goes_on_unthought(messages: Sequence[JsonObject]) -> bool:
    """Return whether the model goes on from calls whose reasoning is not sent any more.

    A model with a budget takes results of calls only behind the reasoning that led to them,
    or does not think until its next turn.
    """
    kinds = [[_kind(block) for block in _blocks(message)] for message in messages[-2:]]
    if len(kinds) < 2 or "tool_result" not in kinds[1]:
        return False
    return kinds[0][:1] not in (["thinking"], ["redacted_thinking"])


def _blocks(message: JsonObject) -> Sequence[Json]:
    content = message["content"]
    return content if isinstance(content, list) else []


def _kind(block: Json) -> Json:
    return block.get("type") if isinstance(block, Mapping) else None


def _framed(sections: Sequence[PromptSection]) -> str:
    """Return the changing sections in one frame that no text in them can close, or nothing."""
    shown = [
        (valid_name(section.name), clean_text(section.text))
        for section in sections
        if not section.cacheable and section.text.strip()
    ]
    if not shown:
        return ""
    names = "|".join([FRAME, *(name for name, _ in shown)])
    tag = re.compile(rf"<(?=\s*/?\s*(?:{names})\b)", re.IGNORECASE)
    parts = [f"<{name}>\n{tag.sub('&lt;', text)}\n</{name}>" for name, text in shown]
    return "\n".join([f"<{FRAME}>", INTRODUCTION, *parts, f"</{FRAME}>"])
