"""A model that makes the same failing call again and again is stopped."""

from __future__ import annotations

from tests.agent.support import call, calls, run, says
from todo_agent.agent.outcomes import Answered, Failed
from todo_agent.middleware.repetition import Repetition


async def test_the_same_failing_call_ends_the_run_at_the_limit():
    done = await run([calls(call("broken", a=1))] * 9, stack=[Repetition(3)])
    assert isinstance(done.end, Failed)
    assert done.end.kind == "limit"
    assert "the same call of broken failed 3 times" in done.end.message
    assert len(done.provider.requests) == 3


async def test_arguments_that_are_refused_count_as_well():
    done = await run([calls(call("echo", text=1))] * 9, stack=[Repetition(2)])
    assert done.end.kind == "limit"


async def test_another_call_or_a_success_begins_the_count_anew():
    broken, other, fine = call("broken", a=1), call("broken", a=2), call("echo", text="x")
    replies = [calls(broken), calls(broken), calls(other), calls(broken), calls(broken, fine)]
    done = await run([*replies, says("ok")], stack=[Repetition(3)])
    assert done.end == Answered("ok")
