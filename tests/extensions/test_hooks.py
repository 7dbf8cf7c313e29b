"""What each hook of an extension may see and change (the traces tell only their order)."""

from __future__ import annotations

import asyncio
from dataclasses import FrozenInstanceError, replace

import pytest

from tests.agent.support import BROKEN, COUNT, ECHO, call, calls, hanging, says, tool
from tests.extensions.support import Watching, hosted, raised, served
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.messages import Message, Text, ToolUse, assistant, user
from todo_agent.agent.middleware import CallModel, Middleware, RunContext
from todo_agent.agent.outcomes import Answered, Failed, Interrupted
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.tools import Error, Locks, Outcome, Success, ToolCall, ToolContext
from todo_agent.extensions.base import CallHandler, CallProvider, Extension, Request, Settled
from todo_agent.extensions.serving import ToolFailedError


class Offers(Extension):
    """Registers a tool of a name."""

    def __init__(self, name: str, tool_name: str) -> None:
        self.name, self.tool_name = name, tool_name
        self.seen: list[str] = []

    async def on_tool(self, request: Request) -> None:
        request.add_tool(replace(ECHO, name=self.tool_name))

    async def on_state(self, request: Request) -> None:
        self.seen = [tool.name for tool in request.tools]


async def test_s2_30_the_last_extensions_tool_is_there_when_the_first_sets_up_state():
    first = Offers("first", "one")
    told = await served(
        [calls(call("two", text="hi")), says("ok")], first, Offers("second", "two"), tools=()
    )
    assert first.seen == ["one", "two"]
    assert [spec.name for spec in told.provider.requests[0].tools] == ["one", "two"]
    assert [result.text for result in told.results] == ["hi"]


@pytest.mark.parametrize("other", ["an extension's", "the agent's"])
async def test_s2_30_a_tool_name_is_registered_once(other):
    extensions = [Offers("a", "echo"), Offers("b", "echo" if other == "an extension's" else "b")]
    tools = [ECHO] if other == "the agent's" else []
    told = await served([says("ok")], *extensions, tools=tools)
    assert isinstance(told.end, Failed)
    assert "named 'echo'" in told.end.message
    assert told.provider.requests == []


async def test_a_tool_that_comes_after_on_tool_is_refused_loudly():
    class Late(Extension):
        async def after_model(self, request: Request, response: ModelResponse) -> None:
            request.add_tool(ECHO)

    told = await served([says("ok")], Late())
    assert isinstance(told.end, Failed)
    assert "tools are registered in on_tool" in told.end.message


async def test_s2_31_history_restored_in_on_state_stands_before_the_input():
    class Restores(Extension):
        async def on_state(self, request: Request) -> None:
            await request.append(user("earlier"))
            await request.append(assistant(Text("I remember")))

    told = await served([says("ok")], Restores())
    assert [text for _, text in told.texts] == ["earlier", "I remember", "go", "ok"]


async def test_s2_32_each_on_message_sees_what_the_one_before_made_and_the_last_is_stored_once():
    class Adds(Extension):
        async def on_message(self, request: Request) -> None:
            request.message = user(f"{request.message.text} {self.name}")  # type: ignore[union-attr]

    one, two = Adds(), Adds()
    one.name, two.name = "one", "two"
    told = await served([says("ok")], one, two)
    assert told.texts == [("user", "go one two"), ("assistant", "ok")]


async def test_s2_33_37_the_input_and_the_answer_are_in_the_history_when_their_hooks_run():
    seen: list[tuple[str, str]] = []

    class Looks(Extension):
        async def on_message(self, request: Request) -> None:
            seen.extend(("on_message", m.text) for m in request.messages)

        async def before_run(self, request: Request) -> None:
            seen.append(("before_run", request.messages[-1].text))

        async def after_model(self, request: Request, response: ModelResponse) -> None:
            seen.append(("after_model", request.messages[-1].text))

    await served([says("ok")], Looks())
    assert seen == [("before_run", "go"), ("after_model", "ok")]


async def test_s2_34_what_before_turn_appends_reaches_the_provider():
    class Notes(Extension):
        async def before_turn(self, request: Request) -> None:
            await request.append(user("by the way", synthetic=True))

    told = await served([says("ok")], Notes())
    assert [m.text for m in told.provider.requests[0].messages] == ["go", "by the way"]


async def test_s2_35_the_request_is_made_anew_for_every_further_hook_and_for_the_provider():
    seen: list[list[str]] = []

    class Appends(Extension):
        async def before_model(self, request: Request, model_request: ModelRequest) -> None:
            seen.append([m.text for m in model_request.messages])
            with pytest.raises(FrozenInstanceError):
                model_request.system = "mine"  # type: ignore[misc]
            await request.append(user(self.name, synthetic=True))

    one, two = Appends(), Appends()
    one.name, two.name = "one", "two"
    told = await served([says("ok")], one, two)
    assert seen == [["go"], ["go", "one"]]
    assert [m.text for m in told.provider.requests[0].messages] == ["go", "one", "two"]


async def test_s2_35_what_an_outer_middleware_made_of_the_request_is_kept():
    class Shortens(Middleware):
        async def wrap_model_call(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext
        ) -> ModelResponse:
            return await call_next(replace(request, messages=(user("in short"),)))

    class Appends(Extension):
        async def before_model(self, request: Request, model_request: ModelRequest) -> None:
            await request.append(user("added", synthetic=True))

    told = hosted([says("ok")], Appends())
    told.agent.stack.middleware = (Shortens(), *told.agent.stack.middleware)
    await told.send("go")
    assert [m.text for m in told.provider.requests[0].messages] == ["in short", "added"]


async def test_s2_36_a_wrapper_may_pass_on_another_request_or_answer_in_the_models_place():
    class Replaces(Extension):
        async def on_model_request(
            self, request: Request, model_request: ModelRequest, call_next: CallProvider
        ) -> ModelResponse:
            return await call_next(replace(model_request, system="short"))

    class Answers(Extension):
        async def on_model_request(
            self, request: Request, model_request: ModelRequest, call_next: CallProvider
        ) -> ModelResponse:
            return ModelResponse(assistant(Text(f"system: {model_request.system}")), "end_turn")

    told = await served([], Replaces(), Answers())
    assert told.end == Answered("system: short")
    assert told.provider.requests == []


async def test_s2_36_a_cancellation_closes_the_inner_stream():
    closed: list[str] = []
    begun = asyncio.Event()

    class Hangs(Middleware):
        async def wrap_model_call(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext
        ) -> ModelResponse:
            begun.set()
            try:
                return await asyncio.Event().wait()  # type: ignore[return-value]
            finally:
                closed.append("stream")

    watching, control = Watching(), Control()
    told = hosted([], watching, inside=[Hangs()])
    running = asyncio.ensure_future(told.send("go", control=control))
    await begun.wait()
    control.interrupt()
    assert await running == Interrupted()
    assert closed == ["stream"]
    assert watching.log[-2:] == ["cancelled", "release"]
    assert watching.errors == []


class Wraps(Extension):
    """Wraps every call in a way that its test gives."""

    def __init__(self, wrap: object) -> None:
        self.wrap = wrap

    async def on_tool_call(
        self, request: Request, call: ToolCall, call_next: CallHandler
    ) -> Outcome:
        return await self.wrap(call, call_next)  # type: ignore[operator,no-any-return]


async def _other_arguments(call: ToolCall, call_next: CallHandler) -> Outcome:
    return await call_next(replace(call, args={"text": "else"}))


async def _without_the_tool(call: ToolCall, call_next: CallHandler) -> Outcome:
    return Success("from the cache")


async def _another_result(call: ToolCall, call_next: CallHandler) -> Outcome:
    outcome = await call_next(call)
    return Success(f"<{outcome.content}>") if isinstance(outcome, Success) else outcome


async def _raises(call: ToolCall, call_next: CallHandler) -> Outcome:
    raise OSError("no cache")


@pytest.mark.parametrize(
    ("wrap", "result"),
    [
        (_other_arguments, "else"),
        (_without_the_tool, "from the cache"),
        (_another_result, "<said>"),
        (_raises, "echo failed: OSError: no cache"),
    ],
)
async def test_s2_39_a_wrapper_of_a_call(wrap, result):
    told = await served([calls(call("echo", text="said")), says("ok")], Wraps(wrap))
    assert [(r.text, r.is_error) for r in told.results] == [(result, wrap is _raises)]
    assert told.end == Answered("ok")


class Judges(Extension):
    """Keeps what failed, and puts a mark on every outcome."""

    def __init__(self) -> None:
        self.errors: list[Exception | None] = []

    async def after_tool(
        self, request: Request, call: ToolUse, outcome: Settled, error: Exception | None
    ) -> Settled:
        self.errors.append(error)
        match outcome:
            case Success(content):
                return Success(f"{content}!")
            case Error(message):
                return Error(f"{message}!")


async def test_s2_40_what_after_tool_makes_of_a_result_is_stored_and_sent():
    judges = Judges()
    told = await served(
        [calls(call("echo", text="a"), call("broken"), call("nothing")), says("ok")],
        judges,
        tools=[ECHO, BROKEN],
    )
    texts = [
        "a!",
        "broken failed: RuntimeError: it broke!",
        "There is no tool named 'nothing'. The tools are: broken, echo.!",
    ]
    assert [result.text for result in told.results] == texts
    assert [r.text for r in told.provider.requests[1].messages[-1].results] == texts
    unknown, nothing, broke = judges.errors
    assert isinstance(unknown, ToolFailedError)
    assert nothing is None
    assert isinstance(broke, RuntimeError)
    assert str(broke) == "it broke"


async def test_s2_40_a_call_that_could_not_run_stays_an_error():
    class Excuses(Extension):
        async def after_tool(
            self, request: Request, call: ToolUse, outcome: Settled, error: Exception | None
        ) -> Settled:
            return Success("never mind")

    told = await served([calls(call("nothing")), says("ok")], Excuses())
    assert [(r.text, r.is_error) for r in told.results] == [("never mind", True)]


async def test_s2_40_an_after_tool_that_raises_keeps_the_result_out_and_fails_the_request():
    error = RuntimeError("not this one")
    told = await served([calls(call("echo", text="a"))], Watching(after_tool=error))
    assert raised(told.end) is error
    assert told.results == []


async def test_s2_41_after_turn_gets_the_answer_when_all_results_and_the_steering_are_stored():
    seen: list[tuple[str, int, str]] = []
    control = Control()

    class Closes(Extension):
        async def after_turn(self, request: Request, message: Message) -> None:
            last = request.messages[-1]
            seen.append((message.text, len(message.calls), last.text))

    def steers(request: ModelRequest) -> object:
        control.steer(user("wait"))
        return {"text": "working", "calls": [call("echo", text="a"), call("nothing")]}

    told = hosted([steers, says("ok")], Closes())
    await told.send("go", control=control)
    assert seen == [("working", 2, "wait"), ("ok", 0, "ok")]


async def test_s2_53_steering_between_calls_in_turn_skips_those_that_have_not_begun():
    control = Control()

    async def steers(call: ToolCall, ctx: ToolContext) -> Outcome:
        control.steer(user("stop"))
        return Success("done")

    locks = Locks(exclusive=frozenset({"it"}))
    watching = Watching()
    told = hosted(
        [calls(call("it"), call("it"), call("it")), says("ok")],
        watching,
        tools=[tool("it", steers, locks)],
    )
    await told.send("go", control=control)
    skipped = "Refused (skipped_by_steering): not run, because the person intervened."
    assert [result.text for result in told.results] == ["done", skipped, skipped]
    assert told.texts[-2] == ("user", "stop")
    tool_hooks = [hook for hook in watching.log if "tool" in hook and hook != "on_tool"]
    assert tool_hooks == ["before_tool", "on_tool_call", "after_tool"]


async def test_s2_38_a_call_that_waits_for_a_lock_is_announced_when_it_is_its_turn():
    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        return Success("")

    locks = Locks(exclusive=frozenset({"it"}))
    watching = Watching()
    await served(
        [calls(call("it"), call("it"), call("echo", text="")), says("ok")],
        watching,
        tools=[ECHO, tool("it", run, locks)],
    )
    tool_hooks = [hook for hook in watching.log if hook in ("before_tool", "on_tool_call")]
    assert tool_hooks[:2] == ["before_tool", "before_tool"]
    assert tool_hooks[-2:] == ["before_tool", "on_tool_call"]
    assert len(tool_hooks) == 6


async def test_s2_43_44_an_error_after_the_answer_still_fails_the_request():
    error = RuntimeError("could not publish")
    watching = Watching(on_success=error)
    told = await served([says("ok")], watching)
    assert told.end == Failed(
        "x.on_success failed: RuntimeError: could not publish", "middleware", "x", error
    )
    assert watching.errors == [error]


async def test_s2_46_notices_come_in_order_and_say_what_was_appended():
    watching = Watching()
    told = await served(
        [calls(call("echo", text="a"), call("echo", text="b")), says("ok")], watching
    )
    opening, question, asking, first, second, answer = watching.notices
    assert opening is None
    assert [question, asking, answer] == [told.conversation.messages[i] for i in (0, 1, 3)]
    assert [m.results[0].text for m in (first, second) if m] == ["a", "b"]
    await told.send("again")
    assert [m and m.text for m in watching.notices[6:]] == ["again"]


class Writes(Extension):
    """Offers a tool that writes state."""

    async def on_tool(self, request: Request) -> None:
        async def write(call: ToolCall, ctx: ToolContext) -> Outcome:
            return Success("written", update=COUNT.set(7))

        request.add_tool(tool("write", write))


async def test_a_tool_writes_the_state_that_its_extension_declares():
    class Declares(Writes):
        writes = frozenset({COUNT})

    told = await served([calls(call("write")), says("ok")], Declares())
    assert told.conversation.state[COUNT] == 7


async def test_s0_85_a_write_that_no_extension_declares_fails_the_run():
    told = await served([calls(call("write")), says("ok")], Writes(), Watching())
    assert isinstance(told.end, Failed)
    assert "wrote state it does not declare: count" in told.end.message
    assert told.results == []


async def test_a_tool_that_hangs_is_closed_by_an_interrupt_and_has_a_failed_result():
    hang, begun = hanging()
    control, watching = Control(), Watching()
    told = hosted([calls(call("hang"))], watching, tools=[hang])
    running = asyncio.ensure_future(told.send("go", control=control))
    await begun.wait()
    control.interrupt()
    assert await running == Interrupted()
    assert [result.is_error for result in told.results] == [True]
    assert watching.notices[-1] == told.conversation.messages[-1]
    assert "after_tool" not in watching.log


async def test_what_an_earlier_run_left_open_is_closed_before_the_request_and_not_part_of_it():
    watching = Watching()
    told = hosted([says("ok")], watching)
    left = (user("do it"), assistant(ToolUse("c1", "echo", {"text": "a"})))
    told.conversation = Conversation(messages=left)
    await told.send("go")
    assert [r.is_error for r in told.results] == [True]
    assert [m and m.text for m in watching.notices] == ["go", "ok"]


async def test_the_state_and_the_extra_dict_of_the_session_are_at_hand():
    seen: list[object] = []

    class Looks(Extension):
        async def on_state(self, request: Request) -> None:
            request.extra["looked"] = True
            seen.append(request.state[COUNT])

    told = await served([says("ok")], Looks())
    assert seen == [0]
    assert told.conversation.state.to_json() == {"extra": {"looked": True}}
