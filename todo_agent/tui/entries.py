"""What the transcript shows, as values: one per row or block, made from the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import (
    Display,
    Image,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from todo_agent.tui.pieces import pieces
from todo_agent.tui.text import count, first_line

PLAN_TOOLS = frozenset({"write_todos", "todo_write"})
WEIGHT_CHARS = 120
USER_CALL = "user-"
"""How the ids of the person's own commands begin."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the person said; `note` when the program wrote it in the person's place."""

    text: str
    note: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said, as Markdown; a long answer is several in a row."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """The model's reasoning."""

    text: str
    seconds: float | None = None
    """How long it took, or takes so far; None where nobody was there to see."""
    growing: bool = False


class CallState(Enum):
    """How far a call is."""

    PREPARING = "preparing"
    """The model still writes the arguments."""
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    WAITING = "waiting"
    """It has no result yet and nothing runs: the thread stopped before it."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool."""

    id: str
    name: str
    title: str = ""
    state: CallState = CallState.PREPARING
    output: str = ""
    """What it printed so far, while it runs."""
    since: float | None = None
    """When it began to run, on the clock of the screen."""
    result: ToolResult | None = None
    seconds: float | None = None

    @property
    def display(self) -> Display:
        """What to show of the result."""
        if self.result is None:
            return Display("", self.output, "output")
        if self.result.display is not None:
            return self.result.display
        return Display(_summary(self.result), _body(self.result), "text")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the program says: what happened, and what to do next."""

    text: str
    hint: str = ""
    level: str = "info"
    """`info`, `warning` or `error`."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The line under a finished turn."""

    text: str
    ok: bool = True


Entry: TypeAlias = Said | Answer | Thought | Call | Notice | Turn


def weight(entry: Entry) -> int:
    """Return about how many lines an entry takes on the screen, at least 1."""
    return 1 + len(entry.text) // WEIGHT_CHARS if isinstance(entry, Answer) else 1


def entries_of(messages: Iterable[Message]) -> Iterator[Entry]:
    """Yield what a saved conversation looks like; each call comes with its result."""
    kept = tuple(messages)
    results = {result.tool_use_id: result for message in kept for result in message.results}
    for message in kept:
        yield from entries_of_message(message, results)


def entries_of_message(message: Message, results: Mapping[str, ToolResult]) -> Iterator[Entry]:
    """Yield what one message looks like."""
    if message.role == "user":
        yield from _said(message)
        return
    text = ""
    for block in message.content:
        if isinstance(block, Text):
            text += block.text
            continue
        yield from _answers(text)
        text = ""
        match block:
            case Thinking(thinking) if thinking.strip():
                yield Thought(thinking)
            case ToolUse(id_, name, input_):
                yield _call(id_, name, input_, results.get(id_))
            case Opaque() if block.type == "redacted_thinking":
                yield Thought("(This part of the reasoning is encrypted.)")
            case Opaque():
                yield Notice(f"The answer holds a block of type {block.type!r}.")
            case _:
                pass
    yield from _answers(text)


def _answers(text: str) -> Iterator[Answer]:
    if text.strip():
        yield from (Answer(piece) for piece in pieces(text))


def title_of(arguments: JsonObject) -> str:
    """Return the object of a call as its arguments name it: the path, the command, the pattern."""
    for name in ("path", "command", "pattern", "url", "query", "question"):
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
    return next((value for value in arguments.values() if isinstance(value, str)), "")


def _said(message: Message) -> Iterator[Entry]:
    if message.text.strip():
        yield Said(message.text, note=message.synthetic)
    images = sum(isinstance(block, Image) for block in message.content)
    if images:
        yield Notice(f"{count(images, 'image')} attached")


def _call(id_: str, name: str, arguments: JsonObject, result: ToolResult | None) -> Call:
    title = title_of(arguments)
    if result is None:
        return Call(id_, name, title, CallState.WAITING)
    state = CallState.FAILED if result.is_error else CallState.DONE
    return Call(id_, name, title, state, result=result)


def _summary(result: ToolResult) -> str:
    if result.is_error:
        return first_line(result.text)[0]
    lines = len(result.text.splitlines())
    return count(lines, "line") if lines != 1 else first_line(result.text)[0]


def _body(result: ToolResult) -> str:
    parts = []
    for block in result.content:
        match block:
            case Text(text):
                parts.append(text)
            case Image(media_type):
                parts.append(f"[image: {media_type}]")
            case Opaque():
                parts.append(f"[{block.type}]")
    return "\n".join(parts)
