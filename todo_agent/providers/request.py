"""A model request in the Messages API's own JSON, laid out so that its cache hits."""

from __future__ import annotations

from collections.abc import Sequence

from todo_agent.agent.history import sendable
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Message, block_to_api
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.provider import ModelRequest
from todo_agent.providers.models import facts

EPHEMERAL: JsonObject = {"type": "ephemeral"}
UNCACHEABLE = ("thinking", "redacted_thinking")
"""Types of blocks that take no cache breakpoint."""
BUDGET_SHARE = 2
"""A thinking budget is the answer's limit divided by this."""
MIN_BUDGET = 1024


def body(request: ModelRequest, *, effort: str | None = None) -> dict[str, Json]:
    """Return the arguments of one call of the Messages API.

    The stable prefix comes first: tools, system prompt, cacheable sections, then the
    conversation. Breakpoints stand at the end of the system prompt, of the conversation,
    and of the conversation as the step before sent it. The other sections follow the
    last message, behind every breakpoint, so they may change and spoil nothing.
    """
    model = facts(request.model)
    max_tokens = min(request.max_tokens, model.output or request.max_tokens)
    arguments: dict[str, Json] = {
        "model": request.model,
        "max_tokens": max_tokens,
        "messages": _messages(request),
    }
    if request.tools:
        arguments["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in request.tools
        ]
    if system := _system(request):
        arguments["system"] = system
    match model.thinking:
        case "adaptive":
            arguments["thinking"] = {"type": "adaptive", "display": "summarized"}
        case "budget" if max_tokens > MIN_BUDGET:
            budget = max(MIN_BUDGET, max_tokens // BUDGET_SHARE)
            arguments["thinking"] = {"type": "enabled", "budget_tokens": budget}
        case _:
            pass
    if effort:
        arguments["output_config"] = {"effort": effort}
    return arguments


def _system(request: ModelRequest) -> list[Json]:
    texts = [request.system, *(s.text for s in request.sections if s.cacheable)]
    blocks: list[dict[str, Json]] = [
        {"type": "text", "text": text} for text in texts if text.strip()
    ]
    if blocks:
        blocks[-1]["cache_control"] = EPHEMERAL
    return list(blocks)


def _messages(request: ModelRequest) -> list[Json]:
    messages = sendable(request.messages)
    marked = {len(messages) - 1, _end_of_last_step(messages)}
    contents = [
        _content(message, breakpoint_=index in marked) for index, message in enumerate(messages)
    ]
    note = _note(request.sections)
    if note and messages and messages[-1].role == "user":
        contents[-1].append({"type": "text", "text": note})
    return [
        {"role": message.role, "content": content}
        for message, content in zip(messages, contents, strict=True)
    ]


def _end_of_last_step(messages: Sequence[Message]) -> int:
    """Return the index of the message that ended the request before this one."""
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    return users[-2] if len(users) > 1 else -1


def _content(message: Message, *, breakpoint_: bool) -> list[JsonObject]:
    blocks = [block_to_api(block) for block in message.content]
    if breakpoint_ and blocks and blocks[-1].get("type") not in UNCACHEABLE:
        blocks[-1] = {**blocks[-1], "cache_control": EPHEMERAL}
    return blocks


def _note(sections: Sequence[PromptSection]) -> str:
    return "\n\n".join(
        f"<{section.name}>\n{_inside(section)}\n</{section.name}>"
        for section in sections
        if not section.cacheable and section.text.strip()
    )


def _inside(section: PromptSection) -> str:
    """Return a section's text, unable to close the frame it stands in."""
    return section.text.replace(f"</{section.name}", f"<\\/{section.name}")
