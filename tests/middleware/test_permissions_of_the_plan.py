"""The plan guides; it neither grants anything nor is it anything special (S0-51…S0-53)."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.middleware.support import rules
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.loop import Agent
from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import Answer, Question
from todo_agent.middleware.permissions import Permissions
from todo_agent.plan.keys import PLAN
from todo_agent.plan.middleware import TodoMiddleware
from todo_agent.providers.scripted import ScriptedProvider
from todo_agent.tools.coding import coding_tools
from todo_agent.tools.workspace import Workspace

TODOS = {"todos": [{"content": "write b.txt", "status": "pending"}]}
WRITE_TODOS = {"name": "write_todos", "input": TODOS}
WRITE_FILE = {"name": "write", "input": {"path": "b.txt", "content": "x"}}


@dataclass
class Story:
    workspace: Workspace
    texts: tuple[str, ...] = ()
    answer: Answer = field(default_factory=Answer)
    asked: list[tuple[Question, list[str]]] = field(default_factory=list)
    conversation: Conversation = field(default_factory=Conversation)

    async def play(self, *calls: object) -> list[str]:
        """Let the model make these calls, one a step; return what it reads of each."""
        permissions = Permissions(Mode.ASK, rules(*self.texts), workspace=self.workspace)
        agent = Agent(
            ScriptedProvider([*({"calls": [call]} for call in calls), {"text": "done"}]),
            model="scripted",
            tools=coding_tools(self.workspace, environ=os.environ),
            middleware=[permissions, TodoMiddleware()],
        )
        await agent.run("go", lambda _: None, conversation=self.conversation, ask=self.ask)
        messages = self.conversation.messages
        return [result.text for message in messages for result in message.results]

    async def ask(self, question: Question) -> Answer:
        self.asked.append((question, self.plan))
        await asyncio.sleep(0)
        return self.answer

    @property
    def plan(self) -> list[str]:
        plan = self.conversation.state[PLAN]
        return [] if plan is None else [todo.content for todo in plan.todos]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, confined=False)


async def test_a_plan_is_written_without_a_question(workspace):
    story = Story(workspace)
    await story.play(WRITE_TODOS)
    assert (story.plan, story.asked) == (["write b.txt"], [])


async def test_a_denied_plan_is_an_error_and_changes_nothing(workspace):
    story = Story(workspace, ("deny invoke write_todos",))
    (text,) = await story.play(WRITE_TODOS)
    assert text == (
        "Denied: the rule `deny invoke write_todos` forbids invoke write_todos. "
        "Do it in another way that the rules allow, or ask the person."
    )
    assert story.plan == []


async def test_an_asked_plan_waits_unchanged_and_is_written_when_approved(workspace):
    story = Story(workspace, ("ask invoke write_todos",), Answer(approved=True))
    await story.play(WRITE_TODOS)
    ((question, plan_meanwhile),) = story.asked
    assert question.text == "The rule `ask invoke write_todos` asks before invoke write_todos."
    assert plan_meanwhile == []
    assert story.plan == ["write b.txt"]


async def test_a_plan_that_says_so_allows_nothing(workspace):
    with_plan, without = Story(workspace), Story(workspace)
    first = (await with_plan.play(WRITE_TODOS, WRITE_FILE))[-1]
    second = (await without.play(WRITE_FILE))[-1]
    assert first == second
    assert first.startswith("Denied")
    assert [q.text for q, _ in with_plan.asked] == [q.text for q, _ in without.asked]
    assert not (workspace.root / "b.txt").exists()
