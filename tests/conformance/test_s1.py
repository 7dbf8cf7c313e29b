"""Every vector of the discipline "guarded", through the real agent (spec 2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.vectors import ANYTHING, assert_refused, vectors
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.json import JsonObject
from todo_agent.agent.loop import Agent
from todo_agent.agent.outcomes import Answered
from todo_agent.agent.state import State
from todo_agent.agent.tools import Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.plan.middleware import TodoListMiddleware
from todo_agent.providers.scripted import ScriptedProvider

NEUTRAL: dict[str, Any] = {
    "todos": None,
    "todo_guard_retries": {},
    "todo_guard_blocked": None,
    "todo_guard_suppressed": False,
    "todo_stale_iterations": 0,
    "todo_finalization_correction": False,
}


async def _answer(call: ToolCall, ctx: ToolContext) -> Outcome:
    return Success("fine")


OTHER = Tool("other", "", {"type": "object"}, _answer)


class Session:
    """One store, and what is built anew on it at a restart."""

    def __init__(self) -> None:
        self.conversation = Conversation("session")

    def restart(self) -> None:
        old = self.conversation
        stored = State(old.state.to_json())
        self.conversation = Conversation("session", messages=old.messages, state=stored)

    def build(self, replies: list[object]) -> Agent:
        middleware = TodoListMiddleware(extra_ref=lambda: self.conversation.extra)
        return Agent(ScriptedProvider(replies), middleware=[middleware], tools=[OTHER])

    def assert_state(self, expected: dict[str, Any]) -> None:
        extra = self.conversation.extra
        assert extra.keys() <= NEUTRAL.keys()
        for name, neutral in NEUTRAL.items():
            wanted = expected.get(name, neutral)
            if wanted == ANYTHING:
                continue
            have: Any = extra.get(name)
            if name == "todos" and have is not None:
                have = [[row["content"], row["status"]] for row in have]
            if name == "todo_guard_blocked" and have is not None:
                have = have["guard"]
            assert (have or neutral) == wanted if name != "todos" else have == wanted, name


@pytest.mark.parametrize("vector", vectors("s1"))
async def test_vector(vector):
    session = Session()
    runs: list[list[Any]] = []
    for step in vector["steps"]:
        if step["op"] == "restart" or step["op"] == "user":
            runs.append([step])
        else:
            runs[-1].append(step)
    for run in runs:
        if run[0]["op"] == "restart":
            session.restart()
        else:
            await play_run(session, run[0], run[1:])


async def play_run(session: Session, opening: Any, turns: list[Any]) -> None:
    played: list[Any] = []
    checked = 0

    def check(*, ended: bool) -> None:
        nonlocal checked
        if len(played) > checked:
            assert_turn(session, played[-1], ended=ended)
            checked = len(played)

    def reply(request: Any) -> JsonObject:
        if not played:
            session.assert_state(opening["expect"]["state"])
        check(ended=False)
        if len(played) == len(turns):
            raise VectorEndsError
        turn = turns[len(played)]
        played.append(turn)
        calls = [{"name": c["tool"], "input": c.get("args", {})} for c in turn["calls"]]
        return {"text": turn.get("text", ""), "calls": calls}

    agent = session.build([reply] * (len(turns) + 1))
    end = await agent.run("go", conversation=session.conversation)
    if isinstance(end, Answered):
        check(ended=True)
    elif not isinstance(end.error, VectorEndsError):
        raise end.error
    assert len(played) == checked == len(turns)


class VectorEndsError(Exception):
    """The vector stops here, though the run would go on."""


def assert_turn(session: Session, turn: Any, *, ended: bool) -> None:
    expected = turn["expect"]
    assert expected["next"] == ("end" if ended else "model")
    messages = list(session.conversation.messages)
    injected = ""
    if messages[-1].synthetic:
        injected = messages.pop().text
    assert kind(injected) == expected["inject"], injected
    if turn["calls"]:
        for result, call in zip(messages[-1].results, expected["calls"], strict=True):
            assert result.is_error is not call["accepted"], result.text
            if not call["accepted"]:
                assert_refused(result.text, call)
    if not turn["calls"] and expected["decision"] == "again":
        assert not ended
    session.assert_state(expected["state"])


def kind(injected: str) -> str:
    if not injected:
        return "none"
    if injected.startswith("You answered, but"):
        return "guard"
    return "blocked" if injected.startswith("Still ") else "stale"
