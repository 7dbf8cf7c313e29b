"""A live thread: the one door through which front ends talk to the agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, assert_never
from uuid import uuid4

from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import (
    Event,
    MessageAdded,
    StateChanged,
    SteeringQueued,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    Warned,
)
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Display, Message, Text, ToolResult, user
from todo_agent.agent.middleware import RunContext
from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import Answer, Answered, Question, RunEnd
from todo_agent.agent.provider import Usage
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
from todo_agent.errors import TodoAgentError
from todo_agent.event_stream import EventStream
from todo_agent.masking import LiveMasking
from todo_agent.middleware.budget import COST
from todo_agent.middleware.compaction import Compaction
from todo_agent.middleware.permissions import Permissions
from todo_agent.middleware.rules import Rule
from todo_agent.middleware.secrets import Secrets
from todo_agent.plan.discipline import Discipline
from todo_agent.plan.history import Author, History
from todo_agent.plan.keys import PLAN, PLAN_HISTORY, is_interrupted
from todo_agent.plan.plan import Plan
from todo_agent.rewind import Preview, Turn, turns
from todo_agent.saving import Saving
from todo_agent.settings import Config
from todo_agent.threads.moments import Moment
from todo_agent.threads.store import Thread, ThreadInfo
from todo_agent.tools.files import FileError
from todo_agent.tools.jobs import Jobs
from todo_agent.tools.snapshots import Snapshots, Undone
from todo_agent.trail import Trail

CONTINUE = "Continue with the open todos."
READ_ONLY = "This thread is open for reading only. Fork it to go on in a copy."


class PlanOwner(Protocol):
    """The middleware or extension that holds the plan."""

    discipline: Discipline

    async def user_edit(
        self, conversation: Conversation, plan: Plan, *, by: Author = "user"
    ) -> str | None:
        """Commit a plan that a person made, or brought back; return None, or why it cannot be."""
        ...

    async def take_over(self, conversation: Conversation) -> tuple[str, ...]:
        """Make a stored plan one of this discipline, and say what had to change."""
        ...


@dataclass(frozen=True)
class Parts:
    """What a session is made of."""

    agent: Agent
    thread: Thread
    cwd: Path
    """Where the tools work."""
    permissions: Permissions
    plan_owner: PlanOwner
    shell: Tool
    """Runs the person's own commands."""
    jobs: Jobs
    """The agent's commands in the background."""
    snapshots: Snapshots
    """What files held before the agent changed them."""
    models: tuple[str, ...]
    context_window: Callable[[str], int]
    compaction: Compaction
    secrets: Secrets
    """Masks what a person's own commands print, too."""
    scripted: bool = False
    notices: tuple[str, ...] = ()


class Workbench(Protocol):
    """Opens sessions for a front end."""

    async def open(self, thread: str | None) -> Session:
        """Open a thread by id or unique prefix, or begin a new one.

        Raises:
            TodoAgentError: it cannot be opened.
        """
        ...

    async def read(self, thread: str) -> Session:
        """Open a thread for reading only, even where another process works on it.

        Raises:
            TodoAgentError: it cannot be opened.
        """
        ...

    async def fork(self, thread: str) -> Session:
        """Open a copy of a thread.

        Raises:
            TodoAgentError: it cannot be copied.
        """
        ...

    async def branch(self, thread: str, moment: Moment) -> Session:
        """Open a copy of a thread as it was before a message.

        Raises:
            TodoAgentError: it cannot be copied.
        """
        ...

    def threads(self) -> Sequence[ThreadInfo]:
        """Return all threads, newest first. Reads the disk."""
        ...

    async def warm_up(self) -> None:
        """Load what the first model call needs."""
        ...

    async def reconfigure(self, config: Config, *, demo: bool = False) -> None:
        """Open sessions with another configuration from now on, or those of the demo.

        Raises:
            TodoAgentError: it cannot be done; everything stays as it is.
        """
        ...


class Session:
    """One thread with its agent.

    Everything a person does goes through here; everything that happens comes out of
    `events`, in order, after it is on disk.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._thread = parts.thread
        self._agent = parts.agent
        self._conversation = parts.thread.conversation
        self._events = EventStream()
        self._trail = Trail(parts.thread.id)
        self._live = LiveMasking(parts.secrets.mask)
        self._control = Control()
        self._run: asyncio.Task[RunEnd] | None = None
        self._commands: set[asyncio.Task[None]] = set()
        self._waiting: dict[str, tuple[Question, asyncio.Future[Answer]]] = {}
        self._saving = Saving(self._conversation.record, self._saving_changed)
        if not parts.thread.read_only:
            self._conversation.record = self._saving
        self.last_end: RunEnd | None = None
        """How the last run ended."""

    @property
    def id(self) -> str:
        """The thread's id."""
        return self._thread.id

    @property
    def title(self) -> str:
        """The thread's title; empty before the first message."""
        return self._thread.title

    @property
    def cwd(self) -> Path:
        """The directory the tools work in."""
        return self._parts.cwd

    @property
    def model(self) -> str:
        """The model that is asked at the next step."""
        return self._agent.model

    @property
    def models(self) -> tuple[str, ...]:
        """The models to choose from."""
        return self._parts.models

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._parts.permissions.mode

    @property
    def discipline(self) -> str:
        """The name of the plan's discipline."""
        return self._parts.plan_owner.discipline.name

    @property
    def plan(self) -> Plan:
        """The committed plan."""
        return self._conversation.state[PLAN]

    @property
    def plan_history(self) -> History:
        """The last versions of the plan; the newest is the plan of now."""
        return self._conversation.state[PLAN_HISTORY]

    @property
    def plan_interrupted(self) -> bool:
        """Whether a todo is in progress that nobody works on."""
        return not self.running and is_interrupted(self._conversation.state)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The committed conversation."""
        return self._conversation.messages

    @property
    def usage(self) -> Usage:
        """The tokens of the whole thread."""
        return self._conversation.usage

    @property
    def context_tokens(self) -> int:
        """How full the context was at the last call."""
        return self._conversation.context_tokens

    @property
    def context_window(self) -> int:
        """How much the model's context holds, in tokens."""
        return self._parts.context_window(self.model)

    @property
    def cost_usd(self) -> float | None:
        """What the thread has cost; None where the price of a call is not known."""
        cost = self._conversation.state[COST]
        return None if cost.unpriced_calls else cost.usd

    @property
    def running(self) -> bool:
        """Whether the agent works."""
        return self._run is not None and not self._run.done()

    @property
    def queued(self) -> tuple[str, ...]:
        """The texts that wait for the next step."""
        return tuple(message.text for message in self._control.waiting)

    @property
    def background(self) -> tuple[tuple[str, str, int | None], ...]:
        """The agent's commands in the background: name, command, exit code (None: it runs)."""
        return tuple((job.name, job.command, job.code) for job in self._parts.jobs.all)

    @property
    def read_only(self) -> bool:
        """Whether nothing can be sent."""
        return self._thread.read_only

    @property
    def unsaved_reason(self) -> str:
        """Why the last changes are not on disk; empty when all are."""
        return self._saving.problem or self._thread.unsaved_reason

    @property
    def scripted(self) -> bool:
        """Whether the model is a script."""
        return self._parts.scripted

    @property
    def notices(self) -> tuple[str, ...]:
        """What to tell the person at the opening."""
        return (*self._thread.notices, *self._parts.notices)

    def events(self) -> AsyncIterator[Event]:
        """Return everything that happens, for one reader, until the session is closed."""
        return self._events.read()

    def send(self, text: str) -> None:
        """Start a run with a message, or queue it for the next step of the one that runs.

        Raises:
            TodoAgentError: the thread is read-only, or the text is blank.
        """
        self._refuse_read_only()
        if not text.strip():
            raise TodoAgentError("There is nothing to send.")
        if self.running:
            self._control.steer(user(text))
            self._show_queue()
            return
        self._start(user(text))

    def retry(self) -> None:
        """Go on after a failed or interrupted run, or with the open todos.

        Raises:
            TodoAgentError: the thread is read-only or the agent works already.
        """
        self._refuse_read_only()
        if self.running:
            raise TodoAgentError("The agent is still working.")
        answered = not self.messages or self.messages[-1].role == "assistant"
        self._start(user(CONTINUE) if answered else None)

    def compact(self, focus: str = "") -> None:
        """Sum up the older part of the conversation, which stays whole in the thread.

        It is a run of its own: its end comes as an event.

        Args:
            focus: what the summary must keep in particular.

        Raises:
            TodoAgentError: the thread is read-only, or the agent works.
        """
        self._refuse_read_only()
        if self.running:
            raise TodoAgentError("The agent is still working. Interrupt it first.")

        async def job(ctx: RunContext) -> None:
            if not await self._parts.compaction.compact(ctx, focus):
                ctx.emit(Warned("The conversation is short; there is nothing to sum up yet."))

        self._renew_control()
        self._run = asyncio.ensure_future(self._perform(job))

    def unqueue(self) -> str | None:
        """Take back the newest text that waits."""
        message = self._control.unqueue()
        self._show_queue()
        return None if message is None else message.text

    async def interrupt(self) -> None:
        """Stop the run and the person's own commands; return when they have ended."""
        self._control.interrupt()
        tasks = [task for task in (self._run, *self._commands) if task and not task.done()]
        for task in tasks:
            if task is not self._run:
                task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def finished(self) -> RunEnd | None:
        """Wait for the run, and those that follow from queued texts; return how the last ended."""
        while self._run is not None and not self._run.done():
            await asyncio.wait([self._run])
        return self.last_end

    def answer(self, question_id: str, answer: Answer) -> None:
        """Answer a question; one that is closed already is ignored."""
        question, future = self._waiting.get(question_id, (None, None))
        if question is None or future is None or future.done():
            return
        if answer.always and question.rule:
            self._parts.permissions.allow(question.rule)
        future.set_result(answer)

    async def edit_plan(self, plan: Plan, *, by: Author = "user") -> str | None:
        """Make a person's plan the plan, or bring one back; return why not, or None."""
        if self.read_only:
            return READ_ONLY
        before = self._conversation.state
        refused = await self._parts.plan_owner.user_edit(self._conversation, plan, by=by)
        after = self._conversation.state
        if after is not before:
            self._events.put(StateChanged(after, frozenset({PLAN.name}), by=by))
        return refused

    def run_command(self, command: str) -> None:
        """Run a person's own command; the model reads its output with the next message.

        Raises:
            TodoAgentError: the thread is read-only.
        """
        self._refuse_read_only()
        task = asyncio.ensure_future(self._own_command(command))
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)

    async def undo_files(self) -> Undone | None:
        """Give the files of the last turn that changed any what they held before it.

        Returns what was restored and what was not, because somebody changed it since; None
        where there is nothing to undo. The model is told with the next message.

        Raises:
            TodoAgentError: the agent works, or a file cannot be written.
        """
        if self.running:
            raise TodoAgentError("The agent is still working. Interrupt it first.")
        undone = await asyncio.to_thread(self._undo_newest)
        if undone is not None:
            await self._tell_undone(undone)
        return undone

    async def turns(self) -> tuple[Turn, ...]:
        """Return the turns of the thread in order, to go back to before one.

        Raises:
            TodoAgentError: the thread is not stored, is only read, or cannot be read.
        """
        moments = await asyncio.to_thread(self._thread.moments)
        return await asyncio.to_thread(turns, moments, self.plan, self._parts.snapshots)

    async def preview(self, turn: Turn) -> Preview:
        """Return what going back to before a turn would do.

        Raises:
            TodoAgentError: a file cannot be read.
        """
        index = turn.moment.index
        try:
            files, conflicts = await asyncio.to_thread(self._parts.snapshots.preview, index)
        except FileError as error:
            raise TodoAgentError(str(error)) from error
        return Preview(turn, len(self.messages) - index, self.plan, files, conflicts)

    async def rewind_files(self, turn: Turn, *, tell: bool) -> Undone:
        """Give the files that were changed since a turn began what they held before it.

        Args:
            turn: the turn; what somebody else changed too stays and is a conflict.
            tell: tell the model with the next message.

        Raises:
            TodoAgentError: the agent works, or a file cannot be read or written.
        """
        if self.running:
            raise TodoAgentError("The agent is still working. Interrupt it first.")
        snapshots = self._parts.snapshots
        try:
            undone = await asyncio.to_thread(snapshots.undo_behind, turn.moment.index)
        except FileError as error:
            raise TodoAgentError(str(error)) from error
        if tell:
            await self._tell_undone(undone)
        return undone

    async def _tell_undone(self, undone: Undone) -> None:
        if undone.restored:
            names = ", ".join(str(path) for path in undone.restored)
            told = user(f"I undid your last changes to: {names}", synthetic=True)
            await self._conversation.commit(Commit((told,), by="user"))

    async def changed_files(self) -> Sequence[Display]:
        """Return how the files that the agent changed in this thread differ from before."""
        try:
            return await asyncio.to_thread(self._parts.snapshots.diff)
        except FileError as error:
            raise TodoAgentError(str(error)) from error

    def set_model(self, name: str) -> None:
        """Ask another model from the next step on."""
        self._agent.model = name
        self._thread.set_model(name)

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, at once."""
        self._parts.permissions.mode = mode
        self._thread.set_mode(mode)

    @property
    def granted_rules(self) -> tuple[Rule, ...]:
        """What "always allow" allowed in this session."""
        return self._parts.permissions.granted

    def use_rules(self, rules: Iterable[Rule]) -> None:
        """Take other rules as the person's own, at once."""
        self._parts.permissions.use(rules)

    def revoke_rule(self, rule: Rule) -> None:
        """Take back what was granted in this session."""
        self._parts.permissions.revoke(rule)

    def rename(self, title: str) -> None:
        """Give the thread another title."""
        self._thread.rename(title)

    async def close(self) -> None:
        """Stop what runs, save what waits, and give the thread free."""
        await self.interrupt()
        await self._parts.jobs.close()
        await self._saving.retry()
        self._thread.close()
        self._events.close()

    def _start(self, message: Message | None) -> None:
        self._parts.snapshots.begin_turn()
        self._renew_control()
        self._run = asyncio.ensure_future(self._drive(message))

    def _renew_control(self) -> None:
        """Take what still waits over into the control of the next run."""
        waiting = self._control.waiting
        self._control = Control()
        for queued in waiting:
            self._control.steer(queued)

    async def _perform(self, job: Callable[[RunContext], Awaitable[None]]) -> RunEnd:
        end = await self._agent.perform(
            job, self._emit, conversation=self._conversation, control=self._control
        )
        return await self._ended(end)

    async def _drive(self, message: Message | None) -> RunEnd:
        end = await self._agent.run(
            message,
            self._emit,
            conversation=self._conversation,
            control=self._control,
            ask=self._ask,
        )
        return await self._ended(end)

    async def _ended(self, end: RunEnd) -> RunEnd:
        """Go on with what waits, if the run left the agent free for it."""
        self.last_end = end
        if not self._control.waiting or not isinstance(end, Answered):
            return end
        first, *rest = self._control.take()
        for message in rest:
            self._control.steer(message)
        return await self._drive(first)

    def _undo_newest(self) -> Undone | None:
        snapshots = self._parts.snapshots
        try:
            for turn in range(snapshots.turn, 0, -1):
                undone = snapshots.undo(turn)
                if undone.restored or undone.conflicts:
                    return undone
        except FileError as error:
            raise TodoAgentError(str(error)) from error
        return None

    def _emit(self, event: Event) -> None:
        self._trail.note(event)
        match event:
            case ToolOutput(call_id, text):
                self._put_output(call_id, self._live(call_id, text))
            case ToolFinished(call_id):
                self._put_output(call_id, self._live.end(call_id))
                self._events.put(event)
            case MessageAdded(message) if message.role == "user":
                self._events.put(event)
                self._show_queue()
            case _:
                self._events.put(event)

    def _put_output(self, call_id: str, text: str) -> None:
        if text:
            self._events.put(ToolOutput(call_id, text))

    def _show_queue(self) -> None:
        self._events.put(SteeringQueued(self.queued))

    async def _ask(self, question: Question) -> Answer:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = (question, future)
        try:
            return await future
        finally:
            del self._waiting[question.id]

    async def _own_command(self, command: str) -> None:
        call = ToolCall(f"user-{uuid4().hex[:8]}", self._parts.shell.name, {"command": command})
        self._emit(ToolStarted(call.id, call.name, command, call.args))
        context = ToolContext(
            conversation_id=self.id,
            state=self._conversation.state,
            approved=True,
            output=lambda text: self._emit(ToolOutput(call.id, text)),
        )
        outcome = self._parts.secrets.masked(await self._parts.shell.run(call, context))
        result = _result(call, outcome)
        self._emit(ToolFinished(call.id, call.name, result, seconds=0.0))
        told = user(f"I ran `{command}` myself:\n{result.text}", synthetic=True)
        if self.running:
            self._control.steer(told)
        else:
            await self._conversation.commit(Commit((told,), by="user"))

    def _saving_changed(self, problem: str) -> None:
        if problem:
            self._emit(Warned(f"Not saved: {problem}. Trying again.", code="unsaved"))
        else:
            self._emit(Warned("Everything is saved again.", code="saved"))

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise TodoAgentError(READ_ONLY)


def _result(call: ToolCall, outcome: Outcome) -> ToolResult:
    match outcome:
        case Success(content=content, display=display):
            blocks = (Text(content),) if isinstance(content, str) else content
            return ToolResult(call.id, blocks, display=display)
        case Error(message=message, display=display):
            return ToolResult(call.id, (Text(message),), is_error=True, display=display)
        case NeedsApproval() | Fatal():
            raise TypeError(f"a person's own command cannot end as {outcome!r}")
        case _:
            assert_never(outcome)
