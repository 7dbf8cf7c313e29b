"""Tools, the calls of them, and how a call can turn out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display, Image, Opaque, Text
from todo_agent.agent.provider import ToolSpec
from todo_agent.agent.state import NO_UPDATE, State, Update


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call with valid arguments. Wrappers and tools see it read-only (S0-76)."""

    id: str
    name: str
    args: JsonObject


@dataclass(frozen=True, slots=True)
class Success:
    """The call did its work. Only a success carries a state update (S0-84)."""

    content: str | tuple[Text | Image | Opaque, ...]
    update: Update = NO_UPDATE
    display: Display | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """The call did not work; the model reads why, and the run goes on."""

    message: str
    display: Display | None = None
    cause: Exception | None = field(default=None, compare=False, repr=False)
    """What was raised, if anything was."""


@dataclass(frozen=True, slots=True)
class NeedsApproval:
    """The call may run only after a person agreed to it (S0-78)."""

    reason: str
    preview: Display | None = None
    rule: str = ""
    """The rule that "always allow" would store; empty where there is none to offer."""


@dataclass(frozen=True, slots=True)
class Fatal:
    """The run cannot go on (S0-79)."""

    message: str


Outcome: TypeAlias = Success | Error | NeedsApproval | Fatal


@dataclass(frozen=True, slots=True)
class Resource:
    """What a call touches, for permission rules: a kind and its object."""

    kind: Literal["read", "write", "run", "fetch", "invoke"]
    name: str
    """A resolved path, a command, a URL, or the name of a tool."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Locks:
    """What a call shares and what it needs for itself while it runs.

    Two calls of one message run in turn when one needs for itself what the other names.
    """

    exclusive: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()

    def conflicts(self, other: Locks) -> bool:
        """Return whether two calls must not overlap."""
        return bool(
            self.exclusive & (other.exclusive | other.shared)
            or other.exclusive & (self.exclusive | self.shared)
        )


NO_LOCKS = Locks()


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running tool may know and say."""

    conversation_id: str
    state: State
    """The committed state, with the updates of calls this one waited for."""
    approved: bool = False
    """A person agreed to this very call."""
    output: Callable[[str], None] = field(default=lambda _: None)
    """Shows a piece of output on the screen while the tool runs."""
    ask: Callable[[str, tuple[str, ...]], Awaitable[str | None]] | None = None
    """Puts a question with choices to the person and returns the answer, or None where nobody
    is there to give one; None itself where a question cannot even be put."""


Run: TypeAlias = Callable[[ToolCall, ToolContext], Awaitable[Outcome]]


def _no_title(args: JsonObject) -> str:
    return ""


def _no_preview(args: JsonObject) -> Display | None:
    return None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what the model reads of it, and what runs.

    `run` gets arguments that are valid for `schema` (a JSON schema of an object). An
    exception it raises becomes the call's error result (S0-89).
    """

    name: str
    description: str
    schema: JsonObject
    run: Run
    check: Callable[[JsonObject], JsonObject | Error] | None = None
    """Takes the place of the schema's check: returns the arguments to use, or what is wrong."""
    locks: Locks = NO_LOCKS
    """What it needs while it runs; a tool that writes state locks what it reads (S0-33, S0-35)."""
    resources: Callable[[JsonObject], tuple[Resource, ...]] | None = None
    """What a call touches; `invoke <name>` where this is None (S0-52)."""
    title: Callable[[JsonObject], str] = _no_title
    """The object of a call in a few words, for the screen: a path, a command."""
    preview: Callable[[JsonObject], Display | None] = _no_preview
    """What will happen, for the approval dialog: the diff, the whole command. May block on disk."""

    def spec(self) -> ToolSpec:
        """Return the tool as the model sees it."""
        return ToolSpec(self.name, self.description, self.schema)

    def touches(self, args: JsonObject) -> tuple[Resource, ...]:
        """Return the resources that permission rules judge."""
        if self.resources is None:
            return (Resource("invoke", self.name),)
        return self.resources(args)
