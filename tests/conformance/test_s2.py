"""Every vector of the discipline "sequential", through the real agent (spec 3.1, 3.2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.vectors import assert_refused, vectors
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Message, user
from todo_agent.agent.outcomes import Answered, Failed, Interrupted, RunEnd
from todo_agent.agent.provider import ModelDelta, ModelRequest, ModelResponse
from todo_agent.agent.tools import Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.extensions.base import Extension, Request
from todo_agent.extensions.host import ExtensionHost
from todo_agent.plan.extension import TodoWriteExtension
from todo_agent.plan.plan import Plan, Status
from todo_agent.providers.scripted import ScriptedProvider

WORDS = {Status.PENDING: "pending", Status.ACTIVE: "in_progress", Status.DONE: "completed"}
ENDS: dict[str, type[RunEnd]] = {"success": Answered, "failure": Failed, "cancel": Interrupted}


class Breaks(Extension):
    """Raises when a turn is closed, once it was told to."""

    breaks = False

    async def after_turn(self, request: Request, message: Message) -> None:
        if self.breaks:
            raise RuntimeError("a hook broke")


class Puppet:
    """A model whose every answer is given by the test while the request waits."""

    def __init__(self) -> None:
        self._replies: asyncio.Queue[Any] = asyncio.Queue()
        self._asked: asyncio.Queue[None] = asyncio.Queue()

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        self._asked.put_nowait(None)
        reply = await self._replies.get()
        return await ScriptedProvider([reply]).stream(request, on_delta)

    def answer(self, reply: Any) -> None:
        self._replies.put_nowait(reply)

    async def is_asked(self) -> None:
        await self._asked.get()


class Serving:
    """One request of one session, which goes on until it is ended."""

    def __init__(self, extension: TodoWriteExtension, conversation: Conversation) -> None:
        self.conversation = conversation
        self.control, self.model, self.breaks = Control(), Puppet(), Breaks()
        self.hangs = asyncio.Event()
        agent = Agent(
            self.model,
            middleware=[ExtensionHost([extension, self.breaks])],
            tools=[Tool("other", "", {"type": "object"}, self._other)],
        )
        self.task = asyncio.ensure_future(
            agent.run("go", conversation=conversation, control=self.control)
        )
        self._hang = False

    async def _other(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        if self._hang:
            self.hangs.set()
            await asyncio.Event().wait()
        return Success("fine")

    async def write(self, step: Any) -> None:
        """Answer with the step's calls, and wait for the next step of the request."""
        calls = [
            {"name": call.get("tool", "todo_write"), "input": call.get("args", {})}
            for call in step["calls"]
        ]
        if step.get("steered"):
            self.control.steer(user("Wait."))
        self.model.answer({"calls": calls})
        await self.model.is_asked()

    async def steer(self) -> None:
        """Let the person intervene while the model answers, and wait for the next step."""
        self.control.steer(user("And this."))
        self.model.answer({"text": "Done."})
        await self.model.is_asked()

    async def end(self, how: str, during: str) -> RunEnd:
        """End the request, and return how."""
        other = {"calls": [{"name": "other", "input": {}}]}
        match how, during:
            case "success", _:
                self.model.answer({"text": "Done."})
            case "failure", "model":
                self.model.answer({"error": {"kind": "server", "message": "down"}})
            case "failure", "hook":
                self.breaks.breaks = True
                self.model.answer(other)
            case "cancel", "tool":
                self._hang = True
                self.model.answer(other)
                await self.hangs.wait()
                self.control.interrupt()
            case _:
                self.control.interrupt()
        return await self.task


class Sessions:
    """All sessions of one vector, on one extension."""

    def __init__(self) -> None:
        self.extension = TodoWriteExtension()
        self.threads: dict[str, Conversation] = {}
        self.serving: dict[str, Serving] = {}

    async def of(self, session: str) -> Serving:
        if session not in self.serving:
            thread = self.threads.setdefault(session, Conversation(session))
            self.serving[session] = Serving(self.extension, thread)
            await self.serving[session].model.is_asked()
        return self.serving[session]

    def rows(self, session: str) -> list[list[str]] | None:
        plan = self.extension.todos(session)
        return None if plan is None else [[todo.content, WORDS[todo.status]] for todo in plan]

    async def close(self) -> None:
        for serving in self.serving.values():
            await serving.end("cancel", "model")


@pytest.mark.parametrize("vector", vectors("s2"))
async def test_vector(vector):
    sessions = Sessions()
    for step in vector["steps"]:
        await play(sessions, step, step["expect"])
    await sessions.close()


async def play(sessions: Sessions, step: Any, expected: Any) -> None:
    session = step["session"]
    match step["op"]:
        case "write":
            serving = await sessions.of(session)
            await serving.write(step)
            assert_results(serving.conversation, step["calls"], expected["calls"])
            assert sessions.rows(session) == expected["list"]
        case "steer":
            await (await sessions.of(session)).steer()
            assert expected["next"] == "model"
            assert sessions.rows(session) == expected["list"]
        case "end":
            serving = await sessions.of(session)
            del sessions.serving[session]
            end = await serving.end(step["how"], step["during"])
            assert isinstance(end, ENDS[expected["ended"]]), end
            assert sessions.rows(session) == expected["list"]
        case "read" | "clear" if expected.get("error") == "blank_session":
            look = sessions.extension.todos if step["op"] == "read" else sessions.extension.clear
            with pytest.raises(ValueError, match="session"):
                look(session)
        case "read":
            assert_view(sessions.extension.todos(session), sessions.rows(session), expected)
        case "clear":
            sessions.extension.clear(session)
            assert sessions.rows(session) == expected["list"]
        case other:
            raise AssertionError(other)


def assert_results(conversation: Conversation, calls: Any, expected: Any) -> None:
    results = next(m.results for m in reversed(conversation.messages) if m.results)
    for result, call, wanted in zip(results, calls, expected, strict=True):
        assert result.is_error is not wanted["accepted"], result.text
        if not wanted["accepted"]:
            assert_refused(result.text, wanted)
        elif call.get("tool") != "other":
            said = json.loads(result.text)
            assert said["in_progress_index"] == wanted["in_progress_index"]
            assert said["completed"] == wanted["completed"]


def assert_view(plan: Plan | None, rows: Any, expected: Any) -> None:
    assert rows == expected["list"]
    if plan is None:
        return
    active = plan.active
    assert (active and active.content) == expected["in_progress"]
    assert (plan.todos.index(active) if active else None) == expected["in_progress_index"]
    assert (not plan.open) is expected["completed"]
