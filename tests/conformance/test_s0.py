"""Every vector of the discipline "ids & limits", through the real agent (spec 1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.vectors import assert_refused, vectors
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.json import JsonObject
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Message, ToolResult
from todo_agent.agent.middleware import Block, Middleware, Proceed, RunContext
from todo_agent.agent.outcomes import Blocked, Failed
from todo_agent.agent.state import State
from todo_agent.plan.keys import PLAN
from todo_agent.plan.middleware import TodoMiddleware
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.providers.scripted import ScriptedProvider

WORDS = {Status.PENDING: "pending", Status.ACTIVE: "in_progress", Status.DONE: "done"}
STATUSES = {word: status for status, word in WORDS.items()}


class BlockBad(Middleware):
    """Blocks an answer that says "bad"."""

    async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
        return Block("bad") if answer.text == "bad" else Proceed(answer)


class Thread:
    """Plays the steps of one vector on one conversation."""

    def __init__(self, limits: dict[str, int], stored: list[list[str]] | None) -> None:
        self.limits = limits
        self.names: dict[str, str] = {}
        self.ever = {row[0] for row in stored or ()}
        self.conversation = Conversation("thread")
        self.turn: list[JsonObject] = []
        self.stored = stored

    async def preload(self) -> None:
        if self.stored:
            todos = tuple(Todo(content, STATUSES[s], id_) for id_, content, s in self.stored)
            await self.conversation.commit(Commit(update=PLAN.set(Plan(todos))))

    def build(self, *replies: object) -> Agent:
        middleware = TodoMiddleware(self.limits["maxTodos"], self.limits["maxTodoChars"])
        return Agent(ScriptedProvider(list(replies)), middleware=[BlockBad(), middleware])

    def with_ids(self, args: Any) -> Any:
        match args:
            case dict():
                return {
                    k: self._literal(v) if k == "id" else self.with_ids(v) for k, v in args.items()
                }
            case list():
                return [self.with_ids(item) for item in args]
            case _:
                return args

    def _literal(self, value: Any) -> Any:
        if isinstance(value, str):
            for name, id_ in self.names.items():
                if value.strip() == name:
                    return value.replace(name, id_)
        return value

    def assert_list(self, expected: list[list[str]]) -> None:
        plan = self.conversation.state[PLAN]
        assert len({todo.id for todo in plan}) == len(plan)
        for todo, row in zip(plan, expected, strict=True):
            assert todo.id
            name = row[0]
            if name.startswith("$") and name not in self.names:
                assert todo.id not in self.ever, f"{name} is not new"
                self.names[name] = todo.id
            assert todo.id == self.names.get(name, name)
            assert [todo.content, WORDS[todo.status]] == row[1:]
        self.ever |= {todo.id or "" for todo in plan}


def write_reply(calls: list[Any]) -> JsonObject:
    return {"calls": [{"name": "write_todos", "input": call["args"]} for call in calls]}


@pytest.mark.parametrize("vector", vectors("s0"))
async def test_vector(vector):
    thread = Thread(vector["limits"], vector.get("stored"))
    await thread.preload()
    steps = vector["steps"]
    turns: list[list[Any]] = [[]]
    for step in steps:
        if step["op"] == "begin" and turns[-1]:
            turns.append([])
        if step["op"] == "restart":
            turns += [[step], []]
        elif step["op"] != "begin":
            turns[-1].append(step)
        if step["op"] == "block":
            turns.append([])
    for turn in turns:
        if turn and turn[0]["op"] == "restart":
            conversation = thread.conversation
            stored = State(conversation.state.to_json())
            thread.conversation = Conversation(
                "thread", messages=conversation.messages, state=stored
            )
            thread.assert_list(turn[0]["expect"]["list"])
        elif turn:
            await play_turn(thread, turn)


async def play_turn(thread: Thread, turn: list[Any]) -> None:
    """Play the steps of one turn as the model's replies, checking between them."""
    waiting = list(turn)
    checked: list[Any] = []

    def check_last() -> None:
        if checked and checked[-1]["op"] == "write":
            assert_written(thread, checked[-1])

    def reply(request: Any) -> JsonObject:
        check_last()
        while waiting and waiting[0]["op"] == "sections":
            assert_sections(request, waiting.pop(0)["expect"])
        if not waiting:
            checked.append({"op": "end"})
            return {"text": "good"}
        step = waiting.pop(0)
        checked.append(step)
        if step["op"] == "block":
            return {"text": "bad"}
        return write_reply([{"args": thread.with_ids(call["args"])} for call in step["calls"]])

    agent = thread.build(*[reply] * (len(turn) + 1))
    end = await agent.run("go", conversation=thread.conversation)
    if isinstance(end, Failed) and end.error is not None:
        raise end.error
    assert waiting == []
    last = checked[-1]
    if last["op"] == "block":
        assert isinstance(end, Blocked)
        thread.assert_list(last["expect"]["list"])
    if any(step["op"] == "block" for step in turn):
        return
    assert getattr(end, "text", "") == "good", end


def assert_written(thread: Thread, step: Any) -> None:
    results: tuple[ToolResult, ...] = thread.conversation.messages[-1].results
    for result, expected in zip(results, step["expect"]["calls"], strict=True):
        assert result.is_error is not expected["accepted"], result.text
        if not expected["accepted"]:
            assert_refused(result.text, expected)
    thread.assert_list(step["expect"]["list"])


def assert_sections(request: Any, expected: Any) -> None:
    assert [section.name for section in request.sections] == expected["names"]
    shown = "".join(section.text for section in request.sections if section.name == "todos")
    for text in expected.get("shows", ()):
        assert text in shown
    for text in expected.get("hides", ()):
        assert text not in shown
