"""What the stories about the loop share: tools, replies, and one call that runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.events import Event
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Message, ToolResult
from todo_agent.agent.middleware import Middleware
from todo_agent.agent.outcomes import Answer, RunEnd
from todo_agent.agent.run import Ask
from todo_agent.agent.state import Key
from todo_agent.agent.tools import NO_LOCKS, Locks, Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.providers.scripted import ScriptedProvider

COUNT: Key[Json] = Key("count", 0, to_json=lambda value: value, from_json=lambda value: value)
OTHER: Key[Json] = Key("other", 0, to_json=lambda value: value, from_json=lambda value: value)

ANY_OBJECT: JsonObject = {"type": "object"}


def call(name: str, **args: Json) -> JsonObject:
    return {"name": name, "input": args}


def calls(*wanted: JsonObject) -> JsonObject:
    return {"calls": list(wanted)}


def says(text: str) -> JsonObject:
    return {"text": text}


async def _echo(call: ToolCall, ctx: ToolContext) -> Outcome:
    return Success(str(call.args["text"]))


async def _broken(call: ToolCall, ctx: ToolContext) -> Outcome:
    raise RuntimeError("it broke")


ECHO = Tool(
    "echo",
    "Says it back.",
    {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    _echo,
)
BROKEN = Tool("broken", "Always fails.", ANY_OBJECT, _broken)


def tool(name: str, run: object, locks: Locks = NO_LOCKS) -> Tool:
    return Tool(name, "", ANY_OBJECT, run, locks=locks)  # type: ignore[arg-type]


def hanging(name: str = "hang") -> tuple[Tool, asyncio.Event]:
    """A tool that never ends, and the event that says it has begun."""
    begun = asyncio.Event()

    async def hang(call: ToolCall, ctx: ToolContext) -> Outcome:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    return tool(name, hang), begun


@dataclass
class Story:
    """What came of one or more runs."""

    agent: Agent
    provider: ScriptedProvider
    conversation: Conversation = field(default_factory=Conversation)
    events: list[Event] = field(default_factory=list)
    end: RunEnd | None = None

    async def send(
        self, text: str | Message | None, *, control: Control | None = None, ask: Ask | None = None
    ) -> RunEnd:
        self.end = await self.agent.run(
            text, self.events.append, conversation=self.conversation, control=control, ask=ask
        )
        return self.end

    async def resume(self, answer: Answer) -> RunEnd:
        self.end = await self.agent.resume(
            answer, self.events.append, conversation=self.conversation
        )
        return self.end

    def seen(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def results(self) -> list[ToolResult]:
        return [result for message in self.conversation.messages for result in message.results]

    @property
    def texts(self) -> list[tuple[str, str]]:
        return [(message.role, message.text) for message in self.conversation.messages]


def story(
    replies: Sequence[object],
    *,
    tools: Sequence[Tool] = (ECHO, BROKEN),
    stack: Sequence[Middleware] = (),
    **settings: int,
) -> Story:
    provider = ScriptedProvider(list(replies))
    agent = Agent(provider, model="test", tools=tools, middleware=stack, **settings)  # type: ignore[arg-type]
    return Story(agent, provider)


async def run(replies: Sequence[object], **settings: object) -> Story:
    """Send "go" and play the replies."""
    result = story(replies, **settings)  # type: ignore[arg-type]
    await result.send("go")
    return result
