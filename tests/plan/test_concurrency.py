"""One middleware for many conversations at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from tests.agent.support import calls, says
from tests.plan.support import First, Meeting, texts, write, writes
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.loop import Agent
from todo_agent.agent.outcomes import Answered
from todo_agent.plan.keys import PLAN
from todo_agent.plan.middleware import PlanMiddleware, TodoListMiddleware, TodoMiddleware
from todo_agent.providers.scripted import ScriptedProvider


async def interleaved(
    middleware: PlanMiddleware, scripts: dict[str, Sequence[object]]
) -> dict[str, list[str]]:
    """Run one agent per script, in step with each other, on one middleware."""
    meeting = Meeting(len(scripts))
    threads = {name: Conversation(name) for name in scripts}
    ends = await asyncio.gather(
        *(
            Agent(ScriptedProvider(list(replies)), middleware=[meeting, middleware]).run(  # type: ignore[arg-type]
                "go", conversation=threads[name]
            )
            for name, replies in scripts.items()
        )
    )
    assert all(isinstance(end, Answered) for end in ends), ends
    return {name: texts(thread.state[PLAN]) for name, thread in threads.items()}


async def test_sessions_on_one_middleware_never_see_each_others_lists():
    scripts = {
        "one": [writes("a"), writes("a", "b"), says("ok")],
        "two": [writes("x"), writes("x", "y"), says("ok")],
        "three": [writes(), writes("z"), says("ok")],
    }
    assert await interleaved(TodoMiddleware(), scripts) == {
        "one": ["a", "b"],
        "two": ["x", "y"],
        "three": ["z"],
    }


async def test_what_is_held_for_a_run_is_gone_when_it_ends():
    middleware = TodoMiddleware()
    await interleaved(middleware, {"one": [writes("a"), says("ok")]})
    held = [value for value in vars(middleware._plans).values() if isinstance(value, dict | set)]
    assert held == [{}, {}, set()]
    assert middleware._forced == {}


def _free(thread: Conversation) -> PlanMiddleware:
    return TodoMiddleware()


def _guarded(thread: Conversation) -> PlanMiddleware:
    return TodoListMiddleware(extra_ref=lambda: thread.extra)


@pytest.mark.parametrize(
    ("build", "refused"),
    [(_free, [False, False]), (_guarded, [True, True])],
    ids=["free", "guarded"],
)
async def test_two_writes_of_one_message_run_in_order_even_when_a_wrapper_awaits(
    build: Callable[[Conversation], PlanMiddleware], refused: list[bool]
):
    thread = Conversation("thread")
    message = calls(write("> a", "b"), write("> a"))
    provider = ScriptedProvider([message, says("Which?"), *[says("x")] * 3])
    agent = Agent(provider, middleware=[First(), build(thread)])
    await agent.run("go", conversation=thread)
    results = [result for m in thread.messages for result in m.results]
    assert [result.is_error for result in results] == refused
    assert texts(thread.state[PLAN]) == ([] if refused[0] else ["> a"])
