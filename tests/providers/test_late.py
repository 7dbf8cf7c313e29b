"""A provider that is loaded when it is first needed."""

from __future__ import annotations

import asyncio
import threading

import pytest

from todo_agent.agent.messages import user
from todo_agent.agent.provider import ModelRequest, Provider, ProviderError
from todo_agent.providers.late import LateProvider, MissingProvider
from todo_agent.providers.scripted import ScriptedProvider

GO = ModelRequest("m", (user("go"),))


async def test_it_is_built_once_in_a_thread_however_many_ask():
    built: list[str] = []

    def build() -> Provider:
        built.append(threading.current_thread().name)
        return ScriptedProvider([], then={"text": "hi"})

    late = LateProvider(build)
    answers = await asyncio.gather(*(late.stream(GO, lambda delta: None) for _ in range(5)))
    assert [answer.message.text for answer in answers] == ["hi"] * 5
    assert len(built) == 1
    assert built[0] != threading.main_thread().name


async def test_one_that_gives_up_waiting_does_not_stop_the_others():
    may_go_on = threading.Event()

    def build() -> Provider:
        may_go_on.wait()
        return ScriptedProvider([{"text": "hi"}])

    late = LateProvider(build)
    impatient = asyncio.create_task(late.ready())
    await asyncio.sleep(0)
    impatient.cancel()
    may_go_on.set()
    assert (await late.stream(GO, lambda delta: None)).message.text == "hi"


async def test_one_that_cannot_be_built_says_why_at_every_request():
    def build() -> Provider:
        raise ValueError("the proxy cannot be used")

    late = LateProvider(build)
    await late.ready()
    for _ in range(2):
        with pytest.raises(ProviderError, match="the proxy cannot be used") as caught:
            await late.stream(GO, lambda delta: None)
        assert (caught.value.kind, caught.value.retriable) == ("configuration", False)


async def test_without_a_key_there_is_nobody_to_ask():
    with pytest.raises(ProviderError, match="Set a key") as caught:
        await MissingProvider("Set a key.").stream(GO, lambda delta: None)
    assert caught.value.kind == "auth"
