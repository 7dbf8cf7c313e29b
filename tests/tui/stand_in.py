"""A session without an agent: a test says what happens in it, and sees what was asked of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from todo_agent.agent.events import (
    CompactionStarted,
    Event,
    MessageAdded,
    QuestionClosed,
    RunFinished,
    RunStarted,
    StateChanged,
    SteeringQueued,
    StepStarted,
    ToolFinished,
    ToolStarted,
)
from todo_agent.agent.messages import Display, Message, Text, ToolResult, assistant, user
from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import Answer, Answered, Interrupted, RunEnd
from todo_agent.agent.provider import NO_USAGE, Usage
from todo_agent.agent.state import State
from todo_agent.errors import TodoAgentError
from todo_agent.event_stream import EventStream
from todo_agent.middleware.rules import Rule
from todo_agent.plan.history import Author, History, Version, with_version
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.rewind import Preview, Turn
from todo_agent.settings import Config
from todo_agent.threads.errors import ThreadBusy
from todo_agent.threads.moments import Moment
from todo_agent.tools.snapshots import Undone

DIFF = """--- a/shop/cart.py
+++ b/shop/cart.py
@@ -41,6 +41,7 @@ class Cart:
     def total(self) -> Decimal:
         subtotal = sum(line.price for line in self.lines)
-        subtotal = apply_discount(subtotal, self.code)
-        return apply_discount(subtotal, self.code).quantize(CENT)
+        discounted = apply_discount(subtotal, self.code)
+        # the discount belongs to the order
+        return discounted.quantize(CENT)
"""


def plan(*rows: str) -> Plan:
    """Return a plan of lines like `x done`, `> active`, `. pending`."""
    status = {"x": Status.DONE, ">": Status.ACTIVE, ".": Status.PENDING}
    return Plan(tuple(Todo(row[2:], status[row[0]]) for row in rows))


def result(
    call_id: str, text: str = "", display: Display | None = None, *, is_error: bool = False
) -> ToolResult:
    """Return the result of a call."""
    return ToolResult(call_id, (Text(text),), is_error, display)


@dataclass
class StandIn:
    """What the app needs of a session."""

    id: str = "k3x9qa"
    title: str = ""
    cwd: Path = Path("/home/ada/shop")
    model: str = "claude-opus"
    models: tuple[str, ...] = ("claude-opus", "claude-haiku")
    mode: Mode = Mode.ASK
    plan: Plan = Plan()
    plan_history: History = ()
    messages: tuple[Message, ...] = ()
    usage: Usage = NO_USAGE
    context_tokens: int = 24_000
    context_window: int = 200_000
    cost_usd: float | None = None
    running: bool = False
    queued: tuple[str, ...] = ()
    read_only: bool = False
    unsaved_reason: str = ""
    scripted: bool = False
    notices: tuple[str, ...] = ()
    now: float = 1000.0
    sent: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    answers: list[tuple[str, Answer]] = field(default_factory=list)
    retries: int = 0
    compactions: list[str] = field(default_factory=list)
    refuses_plans: str | None = None
    refuses_messages: str | None = None
    closed: bool = False
    background: tuple[tuple[str, str, int | None], ...] = ()
    rules: tuple[Rule, ...] = ()
    granted_rules: tuple[Rule, ...] = ()
    past: tuple[Turn, ...] = ()
    files: tuple[Display, ...] = ()
    conflicts: tuple[Path, ...] = ()
    files_taken_back: list[tuple[Turn, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stream = EventStream(clock=lambda: self.now)

    def events(self) -> AsyncIterator[Event]:
        return self._stream.read()

    def emit(self, *events: Event) -> None:
        for event in events:
            self._stream.put(event)

    def send(self, text: str) -> None:
        if self.refuses_messages is not None:
            raise TodoAgentError(self.refuses_messages)
        if self.running:
            self.queued = (*self.queued, text)
            self.emit(SteeringQueued(self.queued))
            return
        self.sent.append(text)
        self.begin(text)

    def begin(self, text: str) -> None:
        self.running = True
        message = user(text)
        self.emit(RunStarted(message), MessageAdded(message, 0), StepStarted(1))

    def end(self, end: RunEnd | None = None) -> None:
        self.running = False
        self.emit(RunFinished(end or Answered("")))

    def says(self, text: str) -> None:
        message = assistant(Text(text))
        self.messages = (*self.messages, message)
        self.emit(MessageAdded(message, 1))

    def calls(
        self,
        name: str,
        title: str,
        display: Display,
        *,
        text: str = "",
        is_error: bool = False,
        seconds: float = 0.0,
    ) -> None:
        call_id = f"{name}-{title}"
        finished = result(call_id, text or display.body, display, is_error=is_error)
        self.emit(
            ToolStarted(call_id, name, title, {}), ToolFinished(call_id, name, finished, seconds)
        )

    def set_plan(self, plan: Plan, *, by: Author = "model") -> None:
        before = self.plan_history or with_version((), Version(self.plan, "model", self.now))
        self.plan_history = with_version(before, Version(plan, by, self.now))
        self.plan = plan
        self.emit(StateChanged(State(), frozenset({"todos"}), by="model"))

    def retry(self) -> None:
        self.retries += 1

    def unqueue(self) -> str | None:
        if not self.queued:
            return None
        *rest, newest = self.queued
        self.queued = tuple(rest)
        self.emit(SteeringQueued(self.queued))
        return newest

    async def interrupt(self) -> None:
        if self.running:
            self.end(Interrupted())

    def answer(self, question_id: str, answer: Answer) -> None:
        self.answers.append((question_id, answer))
        self.emit(QuestionClosed(question_id))

    async def edit_plan(self, plan: Plan, *, by: Author = "user") -> str | None:
        if self.refuses_plans is None:
            self.set_plan(plan, by=by)
        return self.refuses_plans

    def run_command(self, command: str) -> None:
        self.commands.append(command)

    def compact(self, focus: str = "") -> None:
        self.compactions.append(focus)
        self.running = True
        self.emit(CompactionStarted())

    def set_model(self, name: str) -> None:
        self.model = name

    def set_mode(self, mode: Mode) -> None:
        self.mode = mode

    def use_rules(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)

    def revoke_rule(self, rule: Rule) -> None:
        self.granted_rules = tuple(r for r in self.granted_rules if r != rule)

    def rename(self, title: str) -> None:
        self.title = title

    async def turns(self) -> tuple[Turn, ...]:
        return self.past

    async def preview(self, turn: Turn) -> Preview:
        behind = len(self.messages) - turn.moment.index
        return Preview(turn, behind, self.plan, self.files, self.conflicts)

    async def rewind_files(self, turn: Turn, *, tell: bool) -> Undone:
        self.files_taken_back.append((turn, tell))
        return Undone(tuple(Path(file.path) for file in self.files), self.conflicts)

    async def close(self) -> None:
        self.closed = True
        self._stream.close()


@dataclass(frozen=True)
class Info:
    """One row of the list of threads."""

    id: str
    title: str
    updated: float = 0.0
    done: int = 0
    total: int = 0
    damaged: bool = False


@dataclass
class Bench:
    """Opens stand-ins. A thread named in `broken` cannot be opened."""

    sessions: dict[str | None, StandIn]
    infos: Sequence[Info] = ()
    broken: dict[str | None, str] = field(default_factory=dict)
    busy: frozenset[str] = frozenset()
    """Threads that another process has open."""
    warm: bool = False
    configured: list[tuple[Config, bool]] = field(default_factory=list)

    async def reconfigure(self, config: Config, *, demo: bool = False) -> None:
        self.configured.append((config, demo))

    async def open(self, thread: str | None) -> StandIn:
        if thread in self.broken:
            raise TodoAgentError(self.broken[thread])
        if thread in self.busy:
            raise ThreadBusy(f"thread {thread} is open in another process")
        return self.sessions[thread]

    async def read(self, thread: str) -> StandIn:
        return replace(self.sessions[thread], read_only=True)

    async def fork(self, thread: str) -> StandIn:
        return replace(self.sessions[thread], id=f"{thread}-copy", read_only=False)

    async def branch(self, thread: str | None, moment: Moment) -> StandIn:
        old = self.sessions.get(thread) or self.sessions[None]
        messages = old.messages[: moment.index]
        return replace(old, id=f"{old.id}-branch", messages=messages, plan=Plan(), sent=[])

    def threads(self) -> Sequence[Info]:
        return self.infos

    async def warm_up(self) -> None:
        self.warm = True
