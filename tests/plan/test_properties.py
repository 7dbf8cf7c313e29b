"""Whatever a model sends, the tool neither breaks nor lets the list break its discipline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hypothesis import given, settings

from tests.agent.support import Story, calls, says
from tests.plan.arguments import MESSAGES
from tests.plan.support import free, guarded
from todo_agent.agent.outcomes import Answered
from todo_agent.plan.keys import PLAN
from todo_agent.plan.plan import Plan, Status


def throw(
    messages: list[list[object]], story: Callable[..., Story], check: Callable[[Plan], None]
) -> None:
    """Send the messages, and check every committed list and that refusals change nothing."""
    before: list[object] = []

    def look(reply: object) -> object:
        def replied(request: object) -> object:
            state, results = told.conversation.state, told.conversation.messages[-1].results
            check(state[PLAN])
            if results and all(result.is_error for result in results):
                assert before[-1] == (state.to_json(), dict(told.conversation.extra).get("todos"))
            before.append((state.to_json(), dict(told.conversation.extra).get("todos")))
            return reply

        return replied

    def tried(args: object) -> object:
        return {"name": "write_todos", "input": args}

    replies = [look(calls(*(tried(args) for args in message))) for message in messages]  # type: ignore[arg-type]
    told = story([*replies, look(says("Done?")), *[says("Done?")] * 9])
    end = asyncio.run(told.send("go"))
    assert isinstance(end, Answered), end
    check(told.conversation.state[PLAN])


@given(MESSAGES)
@settings(max_examples=120, deadline=None)
def test_free(messages):
    def check(plan: Plan) -> None:
        assert len(plan) <= 4
        assert len({todo.id for todo in plan}) == len(plan)
        assert all(todo.id and todo.content.strip() and len(todo.content) <= 8 for todo in plan)
        assert all(todo.content.encode() for todo in plan)

    throw(messages, lambda replies: free(replies, max_todos=4, max_todo_chars=8), check)


@given(MESSAGES)
@settings(max_examples=120, deadline=None)
def test_guarded(messages):
    def check(plan: Plan) -> None:
        active = sum(todo.status is Status.ACTIVE for todo in plan)
        assert active == (1 if plan.open else 0)
        assert all(todo.content.strip() and todo.content.encode() for todo in plan)

    throw(messages, guarded, check)
