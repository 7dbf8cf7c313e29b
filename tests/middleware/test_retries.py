"""Calls that fail for a passing reason are made again, and how long that waits."""

from __future__ import annotations

import asyncio

import pytest

from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.events import Event, RetryScheduled
from todo_agent.agent.loop import Agent
from todo_agent.agent.outcomes import Answered, Failed, Interrupted, RunEnd
from todo_agent.agent.provider import Usage
from todo_agent.middleware.retries import Retries
from todo_agent.providers.scripted import Reply, ScriptedProvider

OK = {"text": "ok"}


def fails(**error: object) -> Reply:
    told = {"kind": "overloaded", "message": "busy", "retriable": True, **error}
    return {"error": told, "usage": {"input_tokens": 1}}


class Told:
    """A run with retries that never really wait."""

    def __init__(self, *replies: Reply, **options: object) -> None:
        self.waits: list[float] = []
        self.events: list[Event] = []
        self.conversation = Conversation()
        self.provider = ScriptedProvider(replies)
        settings = {"sleep": self._sleep, "jitter": lambda: 0.0, **options}
        self.retries = Retries(**settings)  # type: ignore[arg-type]

    async def run(self) -> RunEnd:
        agent = Agent(self.provider, middleware=[self.retries])
        return await agent.run("go", self.events.append, conversation=self.conversation)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    @property
    def scheduled(self) -> list[tuple[int, float, str]]:
        events = [event for event in self.events if isinstance(event, RetryScheduled)]
        return [(event.attempt, event.seconds, event.reason) for event in events]


async def test_each_wait_is_twice_as_long_and_is_announced():
    told = Told(*[fails()] * 4, OK)
    assert await told.run() == Answered("ok")
    assert told.waits == [1, 2, 4, 8]
    assert told.scheduled == [(1, 1, "busy"), (2, 2, "busy"), (3, 4, "busy"), (4, 8, "busy")]


async def test_s0_74_every_failed_call_is_counted():
    told = Told(fails(), fails(), OK)
    await told.run()
    assert told.conversation.usage == Usage(2)


async def test_it_gives_up_in_the_end():
    told = Told(*[fails()] * 9, max_attempts=3)
    end = await told.run()
    assert isinstance(end, Failed)
    assert (end.kind, end.message, len(told.provider.requests)) == ("overloaded", "busy", 3)


async def test_one_attempt_repeats_nothing():
    told = Told(fails(), OK, max_attempts=1)
    assert isinstance(await told.run(), Failed)
    assert told.waits == []


def test_no_attempt_at_all_is_refused():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Retries(0)


@pytest.mark.parametrize(
    "reply",
    [
        fails(retriable=False),
        fails(retry_after=61),
        {**fails(), "text": "half"},  # type: ignore[dict-item]
    ],
    ids=["not passing", "too long to wait", "something was seen"],
)
async def test_some_failures_are_reported_and_not_repeated(reply):
    told = Told(reply, OK)
    assert isinstance(await told.run(), Failed)
    assert (told.waits, told.scheduled) == ([], [])


@pytest.mark.parametrize(("asked", "waits"), [(7, 7), (60, 60), (0, 1), (0.25, 0.25)])
async def test_the_server_says_how_long(asked, waits):
    told = Told(fails(retry_after=asked), OK)
    await told.run()
    assert told.waits == [waits]


async def test_no_wait_grows_beyond_a_minute():
    told = Told(*[fails()] * 8, OK, max_attempts=9)
    await told.run()
    assert told.waits == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_waits_are_spread_so_that_not_everybody_comes_back_at_once():
    told = Told(fails(), fails(retry_after=8), OK, jitter=lambda: 1.0)
    await told.run()
    assert told.waits == [1.25, 10]


async def test_an_interrupt_ends_the_wait_at_once_and_keeps_what_was_typed():
    control, waiting = Control(), asyncio.Event()

    async def forever(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    conversation = Conversation()
    agent = Agent(ScriptedProvider([fails(), OK]), middleware=[Retries(sleep=forever)])
    run = asyncio.create_task(agent.run("go", conversation=conversation, control=control))
    await waiting.wait()
    control.interrupt()
    assert await run == Interrupted()
    assert [message.text for message in conversation.messages] == ["go"]
