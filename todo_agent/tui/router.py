"""Where events meet widgets: one `match`, nothing decided."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, assert_never

from todo_agent.agent.events import (
    ApprovalRequested,
    Compacted,
    CompactionStarted,
    Event,
    MessageAdded,
    QuestionAsked,
    QuestionClosed,
    RetryScheduled,
    RunFinished,
    RunStarted,
    StateChanged,
    SteeringQueued,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolOutput,
    ToolStarted,
    UsageChanged,
    Warned,
)
from todo_agent.agent.messages import Display, Message
from todo_agent.agent.outcomes import Answered, Blocked, Failed, Interrupted, Question, RunEnd
from todo_agent.plan.plan import Plan
from todo_agent.tui.endings import Tally, Totals, ending_entries
from todo_agent.tui.entries import (
    PLAN_TOOLS,
    Call,
    CallState,
    Notice,
    entries_of_message,
    title_of,
)
from todo_agent.tui.progress import Progress, change
from todo_agent.tui.text import count, duration, tokens

if TYPE_CHECKING:
    from todo_agent.session import Session
    from todo_agent.tui.widgets.transcript import Transcript


class Screen(Protocol):
    """The parts of the screen that events reach, apart from the transcript."""

    def show_plan(self, plan: Plan) -> None:
        """Show the committed plan."""
        ...

    def show_vitals(self) -> None:
        """Show the numbers of the session."""
        ...

    def show_queue(self, texts: tuple[str, ...]) -> None:
        """Show what waits."""
        ...

    def show_running(self, *, running: bool) -> None:
        """Show whether the agent works."""
        ...

    def show_activity(self, what: str) -> None:
        """Show what the agent is at, while it works."""
        ...

    def ask(self, question: Question) -> None:
        """Put a question to the person."""
        ...

    def close_question(self, question_id: str) -> None:
        """Take a question away."""
        ...

    def run_ended(self, end: RunEnd, undone: str) -> None:
        """Tell the person; `undone` is a message that did not get into the thread."""
        ...


@dataclass
class Router:
    """Shows the events of one session."""

    session: Session
    transcript: Transcript
    screen: Screen
    _tally: Tally = field(default_factory=Tally)
    _step_start: int = 0
    """Where in the transcript the running step begins."""
    _run_start: int = 0
    _typed: str = ""
    """What the person sent to start the run."""
    _running: bool = False
    _kept: bool = True
    """Whether that is in the thread."""
    _asked: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By question: the call that asks, and since when."""
    _waited: dict[str, float] = field(default_factory=dict)
    """By call: the seconds that a person took to answer."""
    _plan: Plan = field(default_factory=Plan)
    _plan_change: str = ""

    def __post_init__(self) -> None:
        self._plan = self.session.plan

    async def route(self, event: Event) -> None:
        """Show one event."""
        transcript, screen = self.transcript, self.screen
        match event:
            case RunStarted(message):
                self._begin(event.at, message)
            case StepStarted():
                self._step_start = len(transcript.entries)
                self._tally.steps += 1
            case TextDelta(text):
                transcript.stream_text(text)
            case ThinkingDelta(text):
                transcript.stream_thought(text)
            case ToolInputDelta(call_id, name):
                if transcript.call(call_id) is None:
                    transcript.start_call(Call(call_id, name))
            case MessageAdded(message):
                self._message(message)
            case ToolStarted(call_id, name, title, args):
                shown = title or title_of(args)
                transcript.start_call(Call(call_id, name, shown, CallState.RUNNING))
            case ToolOutput(call_id, text):
                transcript.add_output(call_id, text)
            case ToolFinished():
                self._finish_call(event)
            case StateChanged():
                self._show_plan(event)
            case QuestionAsked(question) | ApprovalRequested(question):
                self._asked[question.id] = (transcript.running(question), event.at)
                screen.ask(question)
            case QuestionClosed(question_id):
                call_id, since = self._asked.pop(question_id, ("", event.at))
                self._waited[call_id] = self._waited.get(call_id, 0.0) + event.at - since
                screen.close_question(question_id)
            case RetryScheduled(attempt, seconds, reason):
                await transcript.forget(since=self._step_start)
                hint = f"Attempt {attempt + 1} in {duration(seconds)}. Esc stops."
                transcript.add(Notice(reason, hint, "warning"))
            case CompactionStarted():
                self._begin_compaction(event.at)
            case Compacted(before, after, summarised):
                self._show_compaction(before, after, summarised)
            case Warned(text):
                transcript.add(Notice(text, level="warning"))
                screen.show_vitals()
            case UsageChanged():
                screen.show_vitals()
            case SteeringQueued(texts):
                screen.show_queue(texts)
            case RunFinished(end):
                await self._end(event.at, end)
            case _:
                assert_never(event)

    def _begin(self, at: float, message: Message) -> None:
        session = self.session
        done = Progress.of(session.plan).done
        self._tally = Tally(at, session.usage, session.cost_usd, done)
        self._typed = message.text
        self._kept = not message.text.strip()
        self._running = True
        self._run_start = len(self.transcript.entries)
        for entry in entries_of_message(message, {}):
            self.transcript.add(entry)
        self.screen.show_running(running=True)

    def _begin_compaction(self, at: float) -> None:
        """Show that the older turns are summed up: within a run, or as one of its own."""
        session = self.session
        if not self._running:
            self._tally = Tally(at, session.usage, session.cost_usd, Progress.of(self._plan).done)
            self._typed, self._kept = "", True
            self._running = True
            self.screen.show_running(running=True)
        self._step_start = len(self.transcript.entries)
        self.screen.show_activity("compacting")

    def _show_compaction(self, before: int, after: int, summarised: int) -> None:
        what = f"{count(summarised, 'message')} summed up" if summarised else "old results cleared"
        sizes = f"{tokens(before)} → {tokens(after)} tokens"
        text = f"Context shortened: {what}, {sizes}. The thread keeps everything."
        self.transcript.add(Notice(text))
        self._step_start = len(self.transcript.entries)
        self.screen.show_activity("working")
        self.screen.show_vitals()

    def _message(self, message: Message) -> None:
        if message.role == "assistant":
            entries = entries_of_message(message, {})
            self.transcript.finish_stream(entries, since=self._step_start)
            return
        if not self._kept:
            self._kept = True
            return
        for entry in entries_of_message(message, {}):
            self.transcript.add(entry)

    def _finish_call(self, event: ToolFinished) -> None:
        result = event.result
        call = self.transcript.call(event.call_id) or Call(event.call_id, event.name)
        state = CallState.FAILED if result.is_error else CallState.DONE
        if event.name in PLAN_TOOLS and not result.is_error:
            result = replace(result, display=Display(self._plan_change or "unchanged", result.text))
            self._plan_change = ""
        if result.display is not None and result.display.kind == "diff" and not result.is_error:
            self._tally.files.add(result.display.path)
        seconds = max(event.seconds - self._waited.pop(event.call_id, 0.0), 0.0)
        done = replace(call, state=state, result=result, seconds=seconds, output="")
        self.transcript.start_call(done)

    def _show_plan(self, event: StateChanged) -> None:
        plan = self.session.plan
        if plan == self._plan:
            return
        self._plan_change = change(self._plan, plan)
        self._plan = plan
        self.screen.show_plan(plan)

    async def _end(self, at: float, end: RunEnd) -> None:
        session, transcript = self.session, self.transcript
        undone = isinstance(end, Blocked)
        if undone:
            await transcript.forget(since=self._run_start)
        if isinstance(end, Answered) and not self._running:
            return
        self._running = False
        transcript.settle_calls()
        totals = Totals(at, session.usage, session.cost_usd, session.plan)
        for entry in ending_entries(end, self._tally, totals):
            transcript.add(entry)
        self.screen.show_running(running=False)
        lost = undone or (isinstance(end, Failed | Interrupted) and not self._kept)
        self.screen.run_ended(end, self._typed if lost else "")
