"""Content blocks and messages, in the shapes of the Messages API and without loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never

from todo_agent.agent.json import Json, JsonObject

Role: TypeAlias = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text of any author."""

    text: str
    extra: JsonObject = field(default_factory=dict)
    """Fields of the API's block that have no name here; they are sent back unchanged."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """The model's reasoning. It is never altered: the signature covers every byte."""

    thinking: str
    signature: str
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Image:
    """An image as base64 data."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call the model asks for."""

    id: str
    name: str
    input: JsonObject
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block of a type that is not known here (redacted thinking, server tools, documents, …)."""

    data: JsonObject

    @property
    def type(self) -> str:
        """The API's name of the block's type."""
        return str(self.data.get("type", "unknown"))


@dataclass(frozen=True, slots=True)
class Display:
    """What a screen shows of a tool's result. The model never reads it."""

    summary: str
    """The outcome in a few words: "42 lines", "+3 -1", "exit 1"."""
    body: str = ""
    kind: Literal["text", "diff", "output"] = "text"
    path: str = ""
    """The file the body belongs to, if any; it chooses the colours of a diff or text."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call."""

    tool_use_id: str
    content: tuple[Text | Image | Opaque, ...]
    is_error: bool = False
    display: Display | None = None

    @property
    def text(self) -> str:
        """All text of the result."""
        return "".join(block.text for block in self.content if isinstance(block, Text))


Block: TypeAlias = Text | Thinking | Image | ToolUse | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation."""

    role: Role
    content: tuple[Block, ...]
    synthetic: bool = False
    """Written by a middleware or the program, not by a person or the model."""
    partial: bool = False
    """An answer that was cut off by an error or an interrupt."""

    @property
    def text(self) -> str:
        """All text of the message, without thinking and tools."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """The calls in it, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolUse))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results in it, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolResult))


def is_thinking(block: Block) -> bool:
    """Return whether a block is reasoning of the model, readable or not."""
    return isinstance(block, Thinking) or (
        isinstance(block, Opaque) and block.type == "redacted_thinking"
    )


def user(text: str, *, synthetic: bool = False) -> Message:
    """Return a user message of one text block."""
    return Message("user", (Text(text),), synthetic=synthetic)


def assistant(*content: Block) -> Message:
    """Return an assistant message."""
    return Message("assistant", content)


def block_to_api(block: Block) -> JsonObject:
    """Return the block as the Messages API takes it."""
    match block:
        case Text(text, extra):
            return {"type": "text", "text": text, **extra}
        case Thinking(thinking, signature, extra):
            return {"type": "thinking", "thinking": thinking, "signature": signature, **extra}
        case Image(media_type, data):
            source = {"type": "base64", "media_type": media_type, "data": data}
            return {"type": "image", "source": source}
        case ToolUse(id_, name, input_, extra):
            return {"type": "tool_use", "id": id_, "name": name, "input": input_, **extra}
        case ToolResult(tool_use_id, content, is_error):
            result: dict[str, Json] = {
                "type": "tool_result",
                "tool_use_id": tool_use_id,
                "content": [block_to_api(part) for part in content],
            }
            return result | {"is_error": True} if is_error else result
        case Opaque(data):
            return data
        case _:
            assert_never(block)


def block_from_api(data: JsonObject) -> Block:
    """Return the block for the API's JSON; what is not understood stays whole as `Opaque`."""
    match data:
        case {"type": "text", "text": str(text), **extra}:
            return Text(text, extra)
        case {"type": "thinking", "thinking": str(thinking), "signature": str(signature), **extra}:
            return Thinking(thinking, signature, extra)
        case {"type": "image", "source": source} if len(data) == 2:
            return _image(source) or Opaque(data)
        case {
            "type": "tool_use",
            "id": str(id_),
            "name": str(name),
            "input": dict(input_),
            **extra,
        }:
            return ToolUse(id_, name, input_, extra)
        case {"type": "tool_result", "tool_use_id": str(tool_use_id), **rest}:
            return ToolResult(
                tool_use_id,
                _result_content(rest.get("content")),
                is_error=rest.get("is_error") is True,
            )
        case _:
            return Opaque(data)


def message_to_json(message: Message) -> JsonObject:
    """Return the message as it is stored: the API's blocks and, beside them, what is ours."""
    data: dict[str, Json] = {
        "role": message.role,
        "content": [_block_to_json(block) for block in message.content],
    }
    if message.synthetic:
        data["synthetic"] = True
    if message.partial:
        data["partial"] = True
    return data


def message_from_json(data: JsonObject) -> Message:
    """Return the stored message.

    Raises:
        ValueError: the JSON is not a message.
    """
    role, content = data.get("role"), data.get("content")
    if role not in ("user", "assistant"):
        raise ValueError(f"a message's role is user or assistant, not {role!r}")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, Sequence) or not all(isinstance(part, Mapping) for part in content):
        raise ValueError("a message's content is a list of blocks")
    blocks = tuple(_block_from_json(part) for part in content if isinstance(part, Mapping))
    return Message(
        "user" if role == "user" else "assistant",
        blocks,
        synthetic=data.get("synthetic") is True,
        partial=data.get("partial") is True,
    )


def _block_to_json(block: Block) -> JsonObject:
    data = block_to_api(block)
    if not isinstance(block, ToolResult) or block.display is None:
        return data
    shown = block.display
    display = {"summary": shown.summary, "body": shown.body, "kind": shown.kind, "path": shown.path}
    return {**data, "display": display}


def _block_from_json(data: JsonObject) -> Block:
    block = block_from_api(data)
    if not isinstance(block, ToolResult):
        return block
    return ToolResult(
        block.tool_use_id, block.content, block.is_error, _display(data.get("display"))
    )


def _display(data: Json) -> Display | None:
    match data:
        case {"summary": str(summary), **rest}:
            kind = rest.get("kind")
            return Display(
                summary,
                body=str(rest.get("body", "")),
                kind="diff" if kind == "diff" else "output" if kind == "output" else "text",
                path=str(rest.get("path", "")),
            )
        case _:
            return None


def _image(source: Json) -> Image | None:
    match source:
        case {"type": "base64", "media_type": str(media_type), "data": str(data), **rest} if (
            not rest
        ):
            return Image(media_type, data)
        case _:
            return None


def _result_content(content: Json) -> tuple[Text | Image | Opaque, ...]:
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, Sequence):
        return ()
    blocks = (block_from_api(part) for part in content if isinstance(part, Mapping))
    return tuple(block for block in blocks if isinstance(block, Text | Image | Opaque))
