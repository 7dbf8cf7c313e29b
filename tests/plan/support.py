"""What the stories about plans share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count

from tests.agent.support import Story, call, story
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.loop import Agent
from todo_agent.agent.middleware import CallContext, CallTool, Middleware
from todo_agent.agent.tools import Outcome, Tool, ToolCall
from todo_agent.plan.keys import PLAN
from todo_agent.plan.middleware import PlanMiddleware, TodoListMiddleware, TodoMiddleware
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.providers.scripted import ScriptedProvider

PENDING, ACTIVE, DONE = Status


def plan(*todos: str) -> Plan:
    """Return a plan of texts: `x a` is done, `> b` in progress, `c` pending."""
    marks = {"x ": DONE, "> ": ACTIVE}
    return Plan(
        tuple(
            Todo(text[2:], marks[text[:2]]) if text[:2] in marks else Todo(text) for text in todos
        )
    )


def texts(plan: Plan) -> list[str]:
    """Return a plan as `plan` takes it."""
    marks = {DONE: "x ", ACTIVE: "> ", PENDING: ""}
    return [marks[todo.status] + todo.content for todo in plan]


def writes(*todos: str, done: str = "completed", tool: str = "write_todos") -> JsonObject:
    """Return the reply that writes such a plan."""
    return {"calls": [write(*todos, done=done, tool=tool)]}


def write(*todos: str, done: str = "completed", tool: str = "write_todos") -> JsonObject:
    words = {DONE: done, ACTIVE: "in_progress", PENDING: "pending"}
    rows: list[Json] = [{"content": t.content, "status": words[t.status]} for t in plan(*todos)]
    return call(tool, todos=rows)


def ticking() -> object:
    """Return a clock that counts seconds."""
    seconds = count(1)
    return lambda: float(next(seconds))


def guarded(
    replies: Sequence[object],
    *,
    tools: Sequence[Tool] | None = None,
    before: Sequence[Middleware] = (),
    conversation: Conversation | None = None,
    **settings: object,
) -> Story:
    """Return a story whose plan is guarded."""
    thread = conversation or Conversation("thread")
    middleware = TodoListMiddleware(extra_ref=lambda: thread.extra, **settings)  # type: ignore[arg-type]
    return _told(replies, middleware, thread, before, tools)


def free(
    replies: Sequence[object],
    *,
    tools: Sequence[Tool] | None = None,
    before: Sequence[Middleware] = (),
    conversation: Conversation | None = None,
    **settings: object,
) -> Story:
    """Return a story whose plan is free."""
    middleware = TodoMiddleware(**settings)  # type: ignore[arg-type]
    return _told(replies, middleware, conversation or Conversation("thread"), before, tools)


def _told(
    replies: Sequence[object],
    middleware: PlanMiddleware,
    conversation: Conversation,
    before: Sequence[Middleware],
    tools: Sequence[Tool] | None,
) -> Story:
    stack = [*before, middleware]
    if tools is None:
        told = story(replies, stack=stack)
    else:
        provider = ScriptedProvider(list(replies))  # type: ignore[arg-type]
        told = Story(Agent(provider, tools=tools, middleware=stack), provider)
    told.conversation = conversation
    return told


def owner(told: Story) -> PlanMiddleware:
    """Return the plan's middleware of a story."""
    return next(m for m in told.agent.stack.middleware if isinstance(m, PlanMiddleware))


def shown(told: Story) -> list[str]:
    """Return the committed plan."""
    return texts(told.conversation.state[PLAN])


def section(told: Story, name: str, request: int = -1) -> str:
    """Return a section of a request; empty where it has none of that name."""
    sections = told.provider.requests[request].sections
    return next((part.text for part in sections if part.name == name), "")


class Meeting(Middleware):
    """Lets every run wait before and after each call until the others are there too."""

    def __init__(self, parties: int) -> None:
        self._barrier = asyncio.Barrier(parties)

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        await self._barrier.wait()
        outcome = await call_next(call)
        await self._barrier.wait()
        return outcome


class First(Middleware):
    """Gives the first call of a message more to wait for than the second."""

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        for _ in range(50 if call.id.endswith("_1") else 1):
            await asyncio.sleep(0)
        return await call_next(call)
