"""The order of an extension's hooks, trace by trace, through the real agent (spec 3.3)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import pytest

from tests.conformance.vectors import FOLDER
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.events import Event, MessageAdded, RunFinished, SteeringQueued, Warned
from todo_agent.agent.json import JsonObject
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Message, Text, ToolUse, user
from todo_agent.agent.outcomes import Answered, Failed, Interrupted
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.tools import (
    Error,
    Locks,
    Outcome,
    Success,
    Tool,
    ToolCall,
    ToolContext,
)
from todo_agent.extensions.base import (
    CallHandler,
    CallProvider,
    Compaction,
    Extension,
    MessageAppended,
    Notice,
    Request,
    Settled,
)
from todo_agent.extensions.host import ExtensionHost

DATA = json.loads((FOLDER / "s2_hooks.json").read_text("utf-8"))
ANY: JsonObject = {"type": "object"}


class Tracing(Extension):
    """Writes down every hook; one of them may fail."""

    def __init__(self, stage: Stage, name: str = "x", priority: int = 100, fails: str = "") -> None:
        self.name, self.priority, self.stage, self.fails = name, priority, stage, fails

    def log(self, hook: str, detail: str = "") -> None:
        self.stage.trace.append(f"{self.name}.{hook} {detail}".rstrip())
        if self.fails == hook:
            raise RuntimeError("the hook fails")

    def accept(self, config: object | None, event: object) -> bool:
        self.log("accept", str(event))
        return event == f"for_{self.name}"

    async def on_tool(self, request: Request) -> None:
        self.log("on_tool")
        if self.name in ("x", "first"):
            for tool in self.stage.tools():
                request.add_tool(tool)

    async def on_state(self, request: Request) -> None:
        self.log("on_state")

    async def on_message(self, request: Request) -> None:
        self.log("on_message")

    async def before_run(self, request: Request) -> None:
        self.log("before_run")

    async def before_turn(self, request: Request) -> None:
        self.log("before_turn")

    async def before_model(self, request: Request, model_request: ModelRequest) -> None:
        self.log("before_model")

    async def on_model_request(
        self, request: Request, model_request: ModelRequest, call_next: CallProvider
    ) -> ModelResponse:
        self.log("on_model_request", "enter")
        try:
            return await call_next(model_request)
        finally:
            self.log("on_model_request", "leave")

    async def after_model(self, request: Request, response: ModelResponse) -> None:
        self.log("after_model")

    async def before_tool(self, request: Request, call: ToolUse) -> None:
        self.log("before_tool", call.name)

    async def on_tool_call(
        self, request: Request, call: ToolCall, call_next: CallHandler
    ) -> Outcome:
        self.log("on_tool_call", f"{call.name} enter")
        try:
            return await call_next(call)
        finally:
            self.log("on_tool_call", f"{call.name} leave")

    async def after_tool(
        self, request: Request, call: ToolUse, outcome: Settled, error: Exception | None
    ) -> Settled:
        assert isinstance(outcome, Error) is (error is not None)
        self.log("after_tool", f"{call.name} {'failed' if error else 'ok'}")
        return outcome

    async def after_turn(self, request: Request, message: Message) -> None:
        self.log("after_turn", "calls" if message.calls else "answer")

    async def after_run(self, request: Request, answer: Message) -> None:
        self.log("after_run")

    async def on_success(self, request: Request) -> None:
        self.log("on_success", f"phase={request.phase}")

    async def on_error(self, request: Request, error: BaseException) -> None:
        self.log("on_error", f"phase={request.phase}")

    async def on_event(self, request: Request, notice: Notice) -> None:
        match notice:
            case MessageAppended(None):
                self.log("on_event", "appended system")
            case MessageAppended(message) if message.results:
                failed = " (failed)" if message.results[0].is_error else ""
                self.stage.settled.set()
                self.log("on_event", f"appended tool{failed}")
            case MessageAppended(message):
                role = "agent" if message.synthetic else message.role
                self.log("on_event", f"appended {role}")
            case _:
                self.log("on_event", "cancelled")

    async def on_compact(self, request: Compaction) -> None:
        self.log("on_compact")


@dataclass(frozen=True)
class Turn:
    """What the model and the person do in one turn, as far as a trace tells."""

    lines: tuple[str, ...]
    """From one call of the model to the next."""

    @property
    def calls(self) -> tuple[str, ...]:
        """The tools the model asks for; what a skipped call was is not told."""
        seen = [line.split() for line in self.lines if re.match(r"(x|first)\.before_tool", line)]
        names = [name for _, name in seen]
        return (*names, *["alone" if names else "quick"] * self.lines.count("out:tool_skipped"))

    @property
    def undecodable(self) -> bool:
        """Whether a tool that exists is not run and yet fails."""
        not_run = self._has("after_tool quick failed") and not self._has("on_tool_call")
        return self.calls == ("quick",) and not_run

    @property
    def steered_in_model(self) -> bool:
        """Whether the person intervenes while the model writes."""
        return any("accept" in line for line in takewhile(lambda s: "leave" not in s, self.lines))

    @property
    def steered_in_tool(self) -> bool:
        """Whether the person intervenes while a tool runs."""
        return self._has("accept steering") and not self.steered_in_model

    @property
    def goes_on(self) -> bool:
        """Whether the program sends a message of its own."""
        return "out:internal_message_started" in self.lines

    @property
    def unanswered(self) -> bool:
        """Whether the model never finishes its answer."""
        return not self._has("appended assistant")

    @property
    def cancelled(self) -> bool:
        """Whether the request is cancelled in this turn."""
        return self._has("on_event cancelled")

    def _has(self, text: str) -> bool:
        return any(text in line for line in self.lines)


def turns_of(trace: Sequence[str]) -> list[Turn]:
    starts = [index for index, line in enumerate(trace) if line == "model"]
    ends = [*starts, len(trace)][1:]
    return [Turn(tuple(trace[start:end])) for start, end in zip(starts, ends, strict=True)]


class Stage:
    """Where a trace plays: the extensions, the model, the tools, and what they did."""

    def __init__(self, scenario: str = "", expected: Sequence[str] = ()) -> None:
        self.trace: list[str] = []
        self.control = Control()
        self.settled = asyncio.Event()
        """A call has its result."""
        self.turns = turns_of(expected)
        self.turn = 0
        fails = scenario.split(" fails", maxsplit=1)[0] if " fails" in scenario else ""
        if any(line.startswith("first.") for line in expected):
            failing = failing_one(fails, expected)
            last = Tracing(self, "last", 200, fails if failing == "last" else "")
            first = Tracing(self, "first", 10, fails if failing == "first" else "")
            self.host = ExtensionHost([last, first])
        else:
            self.host = ExtensionHost([Tracing(self, fails=fails)])

    def tools(self) -> list[Tool]:
        beside = Locks(shared=frozenset({"alone"}))
        alone = Locks(exclusive=frozenset({"alone"}))
        return [
            Tool("quick", "", ANY, self._quick, locks=beside),
            Tool("slow", "", ANY, self._slow, locks=beside),
            Tool("broken", "", ANY, self._broken, locks=beside),
            Tool("hang", "", ANY, self._hang, locks=beside),
            Tool("alone", "", ANY, self._quick, locks=alone),
        ]

    async def _quick(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self._begins(call)
        return Success("quick")

    async def _slow(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self._begins(call)
        if "quick" in self.turns[self.turn - 1].calls:
            await self.settled.wait()
        return Success("slow")

    async def _broken(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self._begins(call)
        raise RuntimeError("broken")

    async def _hang(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self._begins(call)
        self.control.interrupt()
        await asyncio.Event().wait()
        raise AssertionError

    def _begins(self, call: ToolCall) -> None:
        self.trace.append(f"tool:{call.name}")
        if self.turns[self.turn - 1].steered_in_tool:
            self.intervene()

    def see(self, event: Event) -> None:
        match event:
            case RunFinished(Answered()):
                self.trace.append("out:run_completed")
            case Warned(code="tool_skipped"):
                self.trace.append("out:tool_skipped")
            case SteeringQueued(()):
                self.trace.append("out:steering_started")
            case MessageAdded(Message(role="user", synthetic=True)):
                self.trace.append("out:internal_message_started")
            case _:
                pass

    async def stream(self, request: ModelRequest, on_delta: object) -> ModelResponse:
        """Be the provider."""
        self.trace.append("model")
        turn = self.turns[self.turn]
        self.turn += 1
        if turn.steered_in_model:
            self.intervene()
        if turn.goes_on:
            self.control.steer(user("by the way", synthetic=True))
        if turn.cancelled and turn.unanswered:
            self.control.interrupt()
            await asyncio.Event().wait()
        if turn.unanswered:
            raise RuntimeError("the model fails")
        uses = [ToolUse(f"{self.turn}-{n}", name, {}) for n, name in enumerate(turn.calls)]
        faults = {use.id: "no JSON" for use in uses if turn.undecodable}
        message = Message("assistant", (Text("answer"), *uses))
        return ModelResponse(message, "tool_use" if uses else "end_turn", faults=faults)

    def intervene(self) -> None:
        if not self.control.waiting:
            self.host.accept(None, "steering_message")
            self.control.steer(user("wait"))


def failing_one(hook: str, trace: Sequence[str]) -> str:
    """Return which of two extensions fails: the last one in the hook before the first error."""
    before = takewhile(lambda line: ".on_error" not in line or hook == "on_error", trace)
    *_, who = ["", *(line.split(".")[0] for line in before if f".{hook}" in line and hook)]
    return who


async def play(scenario: str, expected: Sequence[str]) -> list[str]:
    stage = Stage(scenario, expected)
    conversation = Conversation("session")
    if "compact" in scenario:
        try:
            await stage.host.compact(conversation)
        except RuntimeError:
            return [*stage.trace, "end:RuntimeError"]
        return [*stage.trace, "end:ok"]
    agent = Agent(stage, middleware=[stage.host])
    end = await agent.run("go", stage.see, conversation=conversation, control=stage.control)
    match end:
        case Answered():
            return [*stage.trace, "end:ok"]
        case Interrupted():
            return [*stage.trace, "end:cancelled"]
        case Failed(error=error):
            return [*stage.trace, f"end:{type(error).__name__}"]
        case _:
            raise AssertionError(end)


@pytest.mark.parametrize(
    "trace", [pytest.param(trace, id=trace["scenario"]) for trace in DATA["traces"]]
)
async def test_trace(trace):
    assert await play(trace["scenario"], trace["trace"]) == trace["trace"]


@pytest.mark.parametrize(
    "fact", [pytest.param(f, id=f"{next(iter(f))}-{i}") for i, f in enumerate(DATA["facts"])]
)
def test_fact(fact):
    stage = Stage()
    match fact:
        case {"external_event": event, "accepted_by": names, "trace": trace}:
            host = ExtensionHost([Tracing(stage, "last", 200), Tracing(stage, "first", 10)])
            assert list(host.accept(None, event)) == names
            assert stage.trace == trace
        case {"default_name": name}:
            plain = type(name, (Extension,), {})
            assert plain().name == name
        case {"two_of_one_class_renamed": "accepted"}:
            first, second = Tracing(stage, "one"), Tracing(stage, "two")
            assert ExtensionHost([first, second]).extensions == (first, second)
        case {"blank_name": "refused"}:
            with pytest.raises(ValueError, match="blank name"):
                ExtensionHost([Tracing(stage, " ")])
        case _:
            raise AssertionError(f"an unknown fact: {fact}")
