"""The middleware contract, statement by statement (spec S0-43…S0-48, S0-55…S0-89)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.agent.support import (
    ANY_OBJECT,
    COUNT,
    ECHO,
    OTHER,
    call,
    calls,
    run,
    says,
    story,
    tool,
)
from todo_agent.agent.events import Warned
from todo_agent.agent.messages import Message, Text, ToolResult, assistant, user
from todo_agent.agent.middleware import (
    AskingMiddleware,
    Block,
    CallContext,
    CallModel,
    CallTool,
    Directive,
    Middleware,
    Proceed,
    RunContext,
    Suspend,
)
from todo_agent.agent.outcomes import Answer, Answered, Blocked, Failed, Interrupted, Suspended
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.provider import ModelRequest, ModelResponse, ProviderError, Usage
from todo_agent.agent.stack import Stack, StackError
from todo_agent.agent.state import NO_UPDATE, Update
from todo_agent.agent.tools import (
    Error,
    Fatal,
    NeedsApproval,
    Outcome,
    Success,
    Tool,
    ToolCall,
    ToolContext,
)


class Named(Middleware):
    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = log

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        self.log.append(f"{self.name} before_agent")
        return Proceed(message)

    async def prompt_sections(self, ctx: RunContext) -> Sequence[PromptSection]:
        self.log.append(f"{self.name} sections")
        return [PromptSection(self.name, f"section of {self.name}")]

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        self.log.append(f"{self.name} model in")
        response = await call_next(request)
        self.log.append(f"{self.name} model out")
        return response

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        self.log.append(f"{self.name} tool in")
        outcome = await call_next(call)
        self.log.append(f"{self.name} tool out")
        return outcome

    async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
        self.log.append(f"{self.name} after_agent")
        return Proceed(answer)


async def test_s0_63_a_middleware_without_hooks_changes_nothing():
    replies = [calls(call("echo", text="x")), says("ok")]
    plain, wrapped = await run(replies), await run(replies, stack=[Middleware()])
    assert wrapped.conversation.messages == plain.conversation.messages
    assert wrapped.provider.requests == plain.provider.requests


async def test_s0_43_45_64_65_the_first_is_outermost_and_after_agent_runs_in_reverse():
    log: list[str] = []
    await run([calls(call("echo", text="x")), says("ok")], stack=[Named("a", log), Named("b", log)])
    step = ["a sections", "b sections", "a model in", "b model in", "b model out", "a model out"]
    assert log == [
        "a before_agent",
        "b before_agent",
        *step,
        *["a tool in", "b tool in", "b tool out", "a tool out"],
        *step,
        *["b after_agent", "a after_agent"],
    ]


async def test_s0_46_sections_are_sent_and_never_stored():
    done = await run([says("ok")], stack=[Named("a", [])])
    assert done.provider.requests[0].sections == (PromptSection("a", "section of a"),)
    assert "section of a" not in repr(done.conversation.messages)
    assert done.conversation.state.to_json() == {}


class Large(Middleware):
    def __init__(self, name: str) -> None:
        self.name = name

    async def prompt_sections(self, ctx: RunContext) -> Sequence[PromptSection]:
        return [PromptSection(self.name, self.name * 400)]


async def test_s0_47_the_sum_of_all_sections_is_cut_with_a_mark_and_a_warning():
    done = await run(
        [says("ok")], stack=[Large("a"), Large("b"), Large("c")], max_prompt_section_tokens=150
    )
    first, second = done.provider.requests[0].sections
    assert first.text == "a" * 400
    assert second.text.startswith("bbb")
    assert "[cut:" in second.text
    assert sum(len(section.text) for section in (first, second)) <= 600
    assert [event.text for event in done.seen(Warned)] == [
        "Prompt sections exceed 150 tokens together; cut: b, c."
    ]


class Writing(Middleware):
    """Writes a key from one hook."""

    def __init__(self, hook: str, update: Update, *, declared: bool = True) -> None:
        self.hook, self.update = hook, update
        self.writes = frozenset({COUNT}) if declared else frozenset()

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        return Proceed(message, self.update if self.hook == "before_agent" else NO_UPDATE)

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        response = await call_next(request)
        return response.add_update(self.update) if self.hook == "wrap_model_call" else response

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        outcome = await call_next(call)
        if self.hook != "wrap_tool_call" or not isinstance(outcome, Success):
            return outcome
        return replace(outcome, update=self.update)

    async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
        return Directive(update=self.update if self.hook == "after_model" else NO_UPDATE)

    async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
        return Proceed(answer, self.update if self.hook == "after_agent" else NO_UPDATE)


HOOKS = ["before_agent", "wrap_model_call", "wrap_tool_call", "after_model", "after_agent"]


@pytest.mark.parametrize("hook", HOOKS)
async def test_s0_66_71_83_86_a_declared_key_is_written_from_every_hook(hook):
    done = await run(
        [calls(call("echo", text="x")), says("ok")], stack=[Writing(hook, COUNT.set(1))]
    )
    assert done.conversation.state[COUNT] == 1


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("other_declares_it", [False, True])
async def test_s0_85_an_undeclared_key_fails_the_run_and_nothing_is_committed(
    hook, other_declares_it
):
    class Declaring(Middleware):
        writes = frozenset({OTHER})

    others = [Declaring()] if other_declares_it else []
    done = await run(
        [calls(call("echo", text="x")), says("ok")],
        stack=[*others, Writing(hook, OTHER.set(1))],
    )
    assert isinstance(done.end, Failed)
    assert done.end.by == "Writing"
    assert done.end.message == "Writing wrote state it does not declare: other"
    assert done.conversation.state.to_json() == {}


async def test_s0_85_a_plain_tool_may_write_nothing():
    async def writes(call: ToolCall, ctx: ToolContext) -> Outcome:
        return Success("x", COUNT.set(1))

    done = await run([calls(call("writes"))], tools=[tool("writes", writes)])
    assert done.end.by == "writes"
    assert done.conversation.state.to_json() == {}


async def test_s0_66_the_first_request_has_the_changed_input_and_the_updated_state():
    class Changing(Middleware):
        writes = frozenset({COUNT})

        async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
            return Proceed(user(message.text.upper()), COUNT.set(7))

        async def prompt_sections(self, ctx: RunContext) -> Sequence[PromptSection]:
            return [PromptSection("count", str(ctx.state[COUNT]))]

    done = await run([says("ok")], stack=[Changing()])
    (request,) = done.provider.requests
    assert (request.messages, request.sections) == (
        (user("GO"),),
        (PromptSection("count", "7"),),
    )


class Blocking(Middleware):
    writes = frozenset({COUNT})

    def __init__(self, edge: str) -> None:
        self.edge = edge

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        if self.edge == "input" and message.text == "bad":
            return Block("not this")
        return Proceed(message, COUNT.set(5))

    async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
        return Block("not that") if answer.text == "bad" else Proceed(answer)


async def test_s0_55_67_an_input_block_stores_nothing_and_asks_no_model():
    done = story([says("ok")], stack=[Writing("before_agent", COUNT.set(9)), Blocking("input")][1:])
    assert await done.send("bad") == Blocked("Blocking", "not this", "input")
    assert done.conversation.messages == ()
    assert done.conversation.state.to_json() == {}
    assert done.provider.requests == []
    assert await done.send("good") == Answered("ok")


async def test_s0_54_55_an_output_block_undoes_the_turn_but_not_what_it_cost():
    done = story(
        [says("fine"), {"text": "bad", "usage": {"output_tokens": 3}}, says("fine again")],
        stack=[Blocking("output")],
    )
    await done.send("one")
    stored = done.conversation.messages
    assert await done.send("two") == Blocked("Blocking", "not that", "output")
    assert done.conversation.messages == stored
    assert done.conversation.state[COUNT] == 5
    assert done.conversation.usage.output_tokens >= 3
    assert await done.send("three") == Answered("fine again")


async def test_s0_68_a_wrapper_rewrites_the_request_and_the_history_does_not_see_it():
    class Rewriting(Middleware):
        async def wrap_model_call(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext
        ) -> ModelResponse:
            return await call_next(replace(request.with_note("be kind"), tools=()))

    done = await run([says("ok")], stack=[Rewriting()])
    (request,) = done.provider.requests
    assert request.sections == (PromptSection("note", "be kind"),)
    assert request.tools == ()
    assert done.texts == [("user", "go"), ("assistant", "ok")]


async def test_s0_69_74_a_wrapper_repeats_the_call_and_every_call_is_counted():
    class Twice(Middleware):
        async def wrap_model_call(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext
        ) -> ModelResponse:
            first = await call_next(request)
            await call_next(request)
            return first

    reply = lambda text: {"text": text, "usage": {"input_tokens": 2, "output_tokens": 1}}  # noqa: E731
    done = await run([reply("kept"), reply("thrown away")], stack=[Twice()])
    assert done.end == Answered("kept")
    assert done.conversation.usage == Usage(4, 2)


async def test_s0_74_a_wrapper_that_calls_no_model_costs_nothing():
    class Canned(Middleware):
        async def wrap_model_call(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext
        ) -> ModelResponse:
            return ModelResponse(assistant(Text("canned")), "end_turn")

    done = await run([], stack=[Canned()])
    assert done.end == Answered("canned")
    assert done.conversation.usage == Usage()


async def test_s0_69_a_wrapper_retries_a_failed_call():
    class Retrying(Middleware):
        async def wrap_model_call(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext
        ) -> ModelResponse:
            try:
                return await call_next(request)
            except ProviderError:
                return await call_next(request)

    done = await run(
        [{"error": {"kind": "server", "message": "x"}}, says("ok")], stack=[Retrying()]
    )
    assert done.end == Answered("ok")


async def test_s0_70_a_changed_response_is_what_is_stored():
    class Shouting(Middleware):
        async def wrap_model_call(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext
        ) -> ModelResponse:
            response = await call_next(request)
            return replace(response, message=assistant(Text(response.message.text.upper())))

    done = await run([says("ok")], stack=[Shouting()])
    assert done.texts == [("user", "go"), ("assistant", "OK")]


RAISING = [
    "before_agent", "before_turn", "prompt_sections", "wrap_model_call", "after_model",
    "wrap_tool_call", "after_turn", "after_agent", "on_message", "on_end",
]  # fmt: skip


def raising(hook: str, error: BaseException) -> Middleware:
    async def fail(*args: object) -> None:
        raise error

    return type("Raising", (Middleware,), {hook: fail})()


@pytest.mark.parametrize("hook", RAISING)
async def test_s0_48_72_87_a_hook_that_raises_fails_the_run_and_is_named(hook):
    error = RuntimeError("oh")
    done = await run(
        [calls(call("echo", text="x")), says("ok")],
        stack=[raising(hook, error)] if hook != "on_end" else [raising(hook, error), Middleware()],
    )
    assert isinstance(done.end, Failed)
    assert (done.end.by, done.end.kind, done.end.error) == ("Raising", "middleware", error)
    assert "RuntimeError: oh" in done.end.message


@pytest.mark.parametrize("hook", [hook for hook in RAISING if hook not in ("on_end", "on_message")])
async def test_s0_87_a_hook_that_raises_a_cancellation_cancels_the_run(hook):
    done = await run(
        [calls(call("echo", text="x")), says("ok")],
        stack=[raising(hook, asyncio.CancelledError())],
    )
    assert done.end == Interrupted()


async def test_on_end_reaches_everyone_whatever_another_one_raised():
    heard: list[object] = []

    class Hearing(Middleware):
        async def on_end(self, ctx: RunContext, end: object) -> None:
            heard.append(end)

    await run([says("ok")], stack=[raising("on_end", RuntimeError()), Hearing()])
    assert len(heard) == 1


async def test_s0_73_an_asking_middleware_suspends_and_gets_its_answer_on_resume():
    class Careful(AskingMiddleware):
        async def ask_or_call_model(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext, answer: str | None
        ) -> ModelResponse | Suspend:
            if answer is None:
                return Suspend("really?")
            return await call_next(request.with_note(f"they said {answer}"))

    done = story([says("ok")], stack=[Careful()])
    end = await done.send("go")
    assert isinstance(end, Suspended)
    assert (end.question.text, end.question.kind) == ("really?", "question")
    assert done.provider.requests == []
    assert await done.resume(Answer(text="yes")) == Answered("ok")
    assert done.provider.requests[0].sections[-1].text == "they said yes"


class Approving(Middleware):
    """Asks before every call, and remembers how often it was asked itself."""

    def __init__(self, *, again: bool = False) -> None:
        self.again = again
        self.approved: list[bool] = []

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        self.approved.append(ctx.approved)
        if not ctx.approved or self.again:
            return NeedsApproval("may it?")
        return await call_next(call)


async def test_s0_53_78_a_call_waits_for_approval_and_then_runs():
    asking = Approving()
    done = story([calls(call("echo", text="x")), says("ok")], stack=[asking])
    end = await done.send("go")
    assert isinstance(end, Suspended)
    assert (end.question.text, end.question.tool) == ("may it?", "echo")
    assert done.results == []
    assert await done.resume(Answer(approved=True)) == Answered("ok")
    assert [result.text for result in done.results] == ["x"]
    assert asking.approved == [False, True]


async def test_s0_53_a_refused_call_is_an_error_that_begins_with_denied():
    done = story([calls(call("echo", text="x")), says("ok")], stack=[Approving()])
    await done.send("go")
    await done.resume(Answer(text="use the other one"))
    assert [(result.text, result.is_error) for result in done.results] == [
        ("Denied by the user. They said: use the other one", True)
    ]


async def test_s0_78_a_second_question_about_an_approved_call_is_an_error():
    done = story([calls(call("echo", text="x")), says("ok")], stack=[Approving(again=True)])
    await done.send("go")
    await done.resume(Answer(approved=True))
    assert [(result.text, result.is_error) for result in done.results] == [
        ("echo was approved and asked for approval again: not run.", True)
    ]


async def test_an_approval_is_awaited_in_place_where_somebody_can_be_asked():
    async def yes(question: object) -> Answer:
        return Answer(approved=True)

    done = story([calls(call("echo", text="x")), says("ok")], stack=[Approving()])
    assert await done.send("go", ask=yes) == Answered("ok")
    assert [result.text for result in done.results] == ["x"]


async def test_a_new_message_instead_of_an_answer_closes_the_waiting_call():
    done = story([calls(call("echo", text="x")), says("ok")], stack=[Approving()])
    await done.send("go")
    assert await done.send("never mind") == Answered("ok")
    assert [result.is_error for result in done.results] == [True]
    end = await done.resume(Answer(approved=True))
    assert end == Failed("Nothing is suspended in this conversation.", kind="usage")


async def test_siblings_of_a_waiting_call_run_and_the_results_keep_the_calls_order():
    class AskAboutFirst(Middleware):
        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            if call.args["text"] == "first" and not ctx.approved:
                return NeedsApproval("may it?")
            return await call_next(call)

    done = story(
        [calls(call("echo", text="first"), call("echo", text="second")), says("ok")],
        stack=[AskAboutFirst()],
    )
    await done.send("go")
    assert [result.text for result in done.results] == ["second"]
    await done.resume(Answer(approved=True))
    assert [result.text for result in done.results] == ["first", "second"]


async def test_s0_61_a_run_suspended_under_another_structure_is_refused_clearly():
    done = story([calls(call("echo", text="x")), says("ok")], stack=[Approving()])
    await done.send("go")
    other = story([says("ok")], stack=[Approving(), Middleware()])
    other.conversation = done.conversation
    end = await other.resume(Answer(approved=True))
    assert isinstance(end, Failed)
    assert end.kind == "structure"
    assert "another set of middlewares" in end.message
    assert await other.send("something new") == Answered("ok")


async def test_s0_75_a_hidden_tool_still_runs_through_the_wrappers():
    class Hiding(Middleware):
        async def wrap_model_call(
            self, request: ModelRequest, call_next: CallModel, ctx: RunContext
        ) -> ModelResponse:
            return await call_next(replace(request, tools=()))

    log: list[str] = []
    done = await run([calls(call("echo", text="x")), says("ok")], stack=[Hiding(), Named("a", log)])
    assert [result.text for result in done.results] == ["x"]
    assert "a tool in" in log


async def test_s0_32_76_89_wrappers_see_valid_calls_of_known_tools_only():
    log: list[str] = []
    await run(
        [calls(call("echo", text=1), call("nothing"), call("echo", text="x")), says("ok")],
        stack=[Named("a", log)],
    )
    assert log.count("a tool in") == 1


async def test_s0_77_80_a_wrapper_answers_in_the_tools_place():
    class Denying(Middleware):
        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            return Error("Denied: not today.")

    log: list[str] = []
    done = await run(
        [calls(call("echo", text="x")), says("ok")], stack=[Denying(), Named("in", log)]
    )
    assert [(result.text, result.is_error) for result in done.results] == [
        ("Denied: not today.", True)
    ]
    assert "in tool in" not in log
    assert done.end == Answered("ok")


async def test_s0_79_a_wrapper_fails_the_run_with_fatal():
    class Stopping(Middleware):
        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            return Fatal("enough")

    done = await run([calls(call("echo", text="x"))], stack=[Stopping()])
    assert done.end == Failed("enough", kind="fatal", by="echo")
    assert done.results == []


async def test_s0_81_82_a_wrapper_repeats_the_tool_and_only_the_returned_update_counts():
    counted = iter(range(1, 10))

    async def count(call: ToolCall, ctx: ToolContext) -> Outcome:
        value = next(counted)
        return Success(f"run {value}", COUNT.set(value))

    class Counter(Middleware):
        writes = frozenset({COUNT})
        tools = (Tool("count", "", ANY_OBJECT, count),)

    class Twice(Middleware):
        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            first = await call_next(call)
            await call_next(call)
            assert isinstance(first, Success)
            return replace(first, content=f"{first.content}!")

    done = await run([calls(call("count")), says("ok")], stack=[Twice(), Counter()])
    assert [result.text for result in done.results] == ["run 1!"]
    assert done.conversation.state[COUNT] == 1


async def test_s0_44_state_is_seen_only_once_committed():
    seen: list[object] = []

    async def write(call: ToolCall, ctx: ToolContext) -> Outcome:
        seen.append(ctx.state[COUNT])
        return Success("", COUNT.set(call.args["to"]))

    class Writer(Middleware):
        writes = frozenset({COUNT})
        tools = (Tool("write", "", ANY_OBJECT, write),)

        async def prompt_sections(self, ctx: RunContext) -> Sequence[PromptSection]:
            return [PromptSection("count", str(ctx.state[COUNT]))]

    done = await run([calls(call("write", to=3)), says("ok")], stack=[Writer()])
    assert seen == [0]
    assert [request.sections[0].text for request in done.provider.requests] == ["0", "3"]


async def test_s0_57_what_a_failed_turn_committed_stays():
    async def write(call: ToolCall, ctx: ToolContext) -> Outcome:
        return Success("", COUNT.set(3))

    class Writer(Middleware):
        writes = frozenset({COUNT})
        tools = (Tool("write", "", ANY_OBJECT, write),)

    done = await run(
        [calls(call("write")), {"error": {"kind": "server", "message": "down"}}], stack=[Writer()]
    )
    assert isinstance(done.end, Failed)
    assert done.conversation.state[COUNT] == 3


async def test_s0_86_a_changed_answer_replaces_the_stored_one():
    class Signing(Middleware):
        async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
            return Proceed(assistant(Text(f"{answer.text} -- a")))

    done = await run([says("ok")], stack=[Signing()])
    assert done.end == Answered("ok -- a")
    assert done.texts == [("user", "go"), ("assistant", "ok -- a")]


async def test_after_model_can_ask_again_inject_and_refuse():
    class Insisting(Middleware):
        async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
            if response.message.calls:
                refused = {response.message.calls[0].id: Error("one at a time")}
                return Directive(refuse=refused, inject=(user("careful", synthetic=True),))
            return Directive("again" if ctx.step < 3 else "natural")

    done = await run(
        [calls(call("echo", text="a"), call("echo", text="b")), says("done?"), says("done")],
        stack=[Insisting()],
    )
    assert [result.text for result in done.results] == ["one at a time", "b"]
    assert [m.text for m in done.conversation.messages if m.synthetic] == ["careful"]
    assert done.end == Answered("done")


async def test_after_model_can_stop_the_run_where_it_would_go_on():
    class Stopping(Middleware):
        async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
            return Directive("stop", reason="that is enough")

    done = await run([{"text": "hm", **calls(call("echo", text="x"))}], stack=[Stopping()])
    assert done.end == Answered("hm", stop="stopped")
    assert [result.text for result in done.results] == ["x"]
    assert [event.text for event in done.seen(Warned)] == ["that is enough"]


async def test_after_turn_sees_the_committed_results():
    seen: list[tuple[ToolResult, ...]] = []

    class Seeing(Middleware):
        async def after_turn(self, ctx: RunContext, results: tuple[ToolResult, ...]) -> None:
            seen.append(results)

    done = await run([calls(call("echo", text="x")), says("ok")], stack=[Seeing()])
    assert seen == [tuple(done.results), ()]


async def test_the_extra_dict_is_saved_with_the_next_commit():
    class Extra(Middleware):
        async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
            ctx.extra["todos"] = [1]
            return Directive()

    done = await run([says("ok")], stack=[Extra()])
    assert done.conversation.state.to_json() == {"extra": {"todos": [1]}}


def test_s0_88_stacks_that_do_not_fit_together_are_refused():
    class Echoing(Middleware):
        tools = (ECHO,)

    with pytest.raises(StackError, match="two tools are named 'echo'"):
        Stack([Echoing()], [ECHO])
    with pytest.raises(StackError, match="two middlewares are named 'Middleware'"):
        Stack([Middleware(), Middleware()])


def test_s0_60_61_keys_locks_and_fingerprint_are_those_of_the_stack():
    plain, writing = Stack([Middleware()]), Stack([Middleware(), Writing("", NO_UPDATE)])
    assert (plain.keys, writing.keys) == (frozenset(), frozenset({"count"}))
    assert plain.fingerprint != writing.fingerprint
    assert plain.fingerprint == Stack([Middleware()]).fingerprint
