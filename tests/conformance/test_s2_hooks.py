"""The order of an extension's hooks, trace by trace, through the real agent (spec 3.3)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.conformance.vectors import FOLDER
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.events import Event, MessageAdded, RunFinished, SteeringQueued, Warned
from todo_agent.agent.json import JsonObject
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Message, ToolUse, user
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
    Extension,
    MessageAppended,
    Notice,
    Request,
)
from todo_agent.extensions.host import ExtensionHost
from todo_agent.providers.scripted import ScriptedProvider

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
        self, request: Request, call: ToolUse, outcome: Outcome, error: Exception | None
    ) -> Outcome:
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
                self.log("on_event", f"appended tool{failed}")
            case MessageAppended(message):
                role = "agent" if message.synthetic else message.role
                self.log("on_event", f"appended {role}")
            case _:
                self.log("on_event", "cancelled")

    async def on_compact(self, request: Request) -> None:
        self.log("on_compact")


class Stage:
    """Where a scenario plays: the model, the tools, the trace."""

    def __init__(self) -> None:
        self.trace: list[str] = []
        self.control = Control()
        self.hanging = asyncio.Event()
        self.quick_done = asyncio.Event()
        self.waits_for_quick = False
        self.extensions: list[Tracing] = []

    def tools(self) -> list[Tool]:
        alone = Locks(exclusive=frozenset({"alone"}))
        return [
            Tool("quick", "", ANY, self._quick),
            Tool("slow", "", ANY, self._slow),
            Tool("broken", "", ANY, self._broken),
            Tool("hang", "", ANY, self._hang),
            Tool("alone", "", ANY, self._quick, locks=alone),
        ]

    async def _quick(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self.trace.append(f"tool:{call.name}")
        self.quick_done.set()
        return Success("quick")

    async def _slow(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self.trace.append("tool:slow")
        await self.quick_done.wait()
        await asyncio.sleep(0.05)
        return Success("slow")

    async def _broken(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self.trace.append("tool:broken")
        raise RuntimeError("broken")

    async def _hang(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        self.trace.append("tool:hang")
        self.hanging.set()
        await asyncio.Event().wait()
        raise AssertionError

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

    def answers(self, *calls: str, model_does: Any = None) -> Any:
        def reply(request: ModelRequest) -> JsonObject:
            self.trace.append("model")
            if model_does is not None:
                model_does()
            return {"calls": [{"name": name, "input": {}} for name in calls], "text": "answer"}

        return reply

    def intervene(self) -> None:
        for extension in self.extensions:
            extension.accept(None, "steering_message")
        self.control.steer(user("wait"))

    def intervene_inside(self) -> None:
        self.control.steer(user("by the way", synthetic=True))


def fail() -> None:
    raise RuntimeError("the model fails")


def undecodable(stage: Stage) -> Any:
    def reply(request: ModelRequest) -> ModelResponse:
        stage.trace.append("model")
        message = Message("assistant", (ToolUse("c1", "quick", {}),))
        return ModelResponse(message, "tool_use", faults={"c1": "no JSON"})

    return reply


def script(stage: Stage, scenario: str) -> list[Any]:
    """The model's replies in a scenario."""
    answer = stage.answers()
    match scenario:
        case "one tool, two extensions (onion)" | "on_tool_call fails" | "before_tool fails":
            return [stage.answers("quick"), answer]
        case "after_turn fails" | "after_run fails":
            return [stage.answers("quick"), answer]
        case "two parallel tools, the slower asked first":
            return [stage.answers("slow", "quick"), answer]
        case "tool that fails":
            return [stage.answers("broken"), answer]
        case "unknown tool":
            return [stage.answers("nothing"), answer]
        case "arguments that could not be decoded":
            return [undecodable(stage), answer]
        case "model fails":
            return [stage.answers(model_does=fail)]
        case "cancelled in a tool":
            return [stage.answers("hang")]
        case "steering while tools are requested":
            return [stage.answers("quick", "slow", model_does=stage.intervene), answer]
        case "internal message":
            return [stage.answers(model_does=stage.intervene_inside), answer]
        case _:
            return [answer]


async def play(scenario: str) -> list[str]:
    stage = Stage()
    hook = scenario.split(" fails", maxsplit=1)[0] if " fails" in scenario else ""
    if "two extensions" in scenario:
        fails = "before_run" if hook else ""
        stage.extensions = [
            Tracing(stage, "last", 200),
            Tracing(stage, "first", 10, fails),
        ]
    else:
        stage.extensions = [Tracing(stage, fails=hook if hook != "model" else "")]
    host = ExtensionHost(stage.extensions)
    conversation = Conversation("session")
    if "compact" in scenario:
        try:
            await host.compact(conversation)
        except RuntimeError:
            return [*stage.trace, "end:RuntimeError"]
        return [*stage.trace, "end:ok"]
    agent = Agent(ScriptedProvider(script(stage, scenario)), middleware=[host])
    running = asyncio.ensure_future(
        agent.run("go", stage.see, conversation=conversation, control=stage.control)
    )
    if scenario == "cancelled in a tool":
        await stage.hanging.wait()
        stage.control.interrupt()
    end = await running
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
    assert await play(trace["scenario"]) == trace["trace"]


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
