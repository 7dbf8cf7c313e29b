"""One turn without a screen: the session's events, condensed to one report."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Protocol, assert_never

from todo_agent.agent.events import (
    ApprovalRequested,
    Event,
    QuestionAsked,
    RetryScheduled,
    RunFinished,
    StepStarted,
    ToolStarted,
    Warned,
    event_to_json,
)
from todo_agent.agent.json import Json
from todo_agent.agent.outcomes import (
    Answer,
    Answered,
    Blocked,
    Failed,
    Interrupted,
    RunEnd,
    Suspended,
)
from todo_agent.agent.provider import OVERFLOW
from todo_agent.exit_codes import ExitCode
from todo_agent.plan.keys import plan_to_json
from todo_agent.session import Session
from todo_agent.text import plain

SCHEMA_VERSION = 1
NOBODY = "nobody is there to approve it in print mode. Do what needs no approval, or say what does."
CUT_OFF = ("max_tokens", "model_context_window_exceeded")
_STATUS = {
    ExitCode.ANSWERED: "answered",
    ExitCode.FAILED: "failed",
    ExitCode.USAGE: "usage",
    ExitCode.LIMIT: "limit",
    ExitCode.NEEDS_APPROVAL: "needs_approval",
    ExitCode.DECLINED: "declined",
    ExitCode.NOT_DONE: "not_done",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.TERMINATED: "terminated",
}


class Output(Protocol):
    """A text stream."""

    def write(self, text: str, /) -> object:
        """Write text."""
        ...

    def flush(self) -> object:
        """Hand on what was written."""
        ...

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        ...


@dataclass(frozen=True)
class Report:
    """What came of a run; the object of `--output-format json`."""

    code: ExitCode
    answer: str = ""
    thread_id: str = ""
    """Empty where there is nothing to resume."""
    plan: Json = None
    """`{"todos": [{"id", "content", "status"}, …]}`, or null where no thread was opened."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Tokens of this run."""
    cost_usd: float | None = None
    """Of this run; None where a price is not known."""
    turns: int = 0
    """Model steps."""
    error: str | None = None

    def to_json(self, **more: Json) -> str:
        """Return it as one line of ASCII JSON; `more` is put in front."""
        return json.dumps(
            {
                **more,
                "schema_version": SCHEMA_VERSION,
                "status": _STATUS[self.code],
                "answer": self.answer,
                "thread_id": self.thread_id,
                "plan": self.plan,
                "usage": dict(self.usage),
                "cost_usd": self.cost_usd,
                "turns": self.turns,
                "error": self.error,
            }
        )


@dataclass
class _Seen:
    """What the events told."""

    steps: int = 0
    denied: str = ""
    """The first call that needed an approval."""


async def run_print(
    session: Session,
    prompt: str,
    *,
    stream: Output | None,
    err: Output,
    stop: Callable[[], Awaitable[ExitCode]],
    require_done: bool,
) -> Report:
    """Send one prompt, wait for the end, and report.

    A call that needs an approval is denied, and the model is told so. If the run is
    answered all the same, the report says `needs_approval`. What ended a run otherwise, an
    error or a limit, has the last word over that; and that over an unfinished plan.

    Args:
        session: the thread; it is not closed here.
        prompt: what is sent.
        stream: gets every event as one line of JSON; None for no events.
        err: gets the thread's notices, and progress where it is a terminal.
        stop: returns when the run has to stop, with the exit code to report.
        require_done: a plan with open todos is no success.

    Raises:
        TodoAgentError: nothing can be sent to this thread.
        OSError: an output takes nothing more.
    """
    for notice in session.notices:
        err.write(f"todo-agent: {plain(notice)}\n")
    usage, cost, seen = session.usage, session.cost_usd, _Seen()
    session.send(prompt)
    reading = asyncio.ensure_future(_read(session, seen, stream, err))
    ended = asyncio.ensure_future(session.finished())
    stopping = asyncio.ensure_future(_interrupt(session, stop))
    try:
        await asyncio.wait([reading, ended], return_when=asyncio.FIRST_COMPLETED)
        if reading.done():
            reading.result()
        end = await ended
        if end is not None:
            await reading
        code = await stopping if stopping.done() or isinstance(end, Interrupted) else None
    finally:
        for task in (reading, ended, stopping):
            task.cancel()
    report = _judge(end, session, seen, require_done=require_done)
    used = {f.name: getattr(session.usage, f.name) - getattr(usage, f.name) for f in fields(usage)}
    spent = None if session.cost_usd is None or cost is None else session.cost_usd - cost
    return Report(
        report.code if code is None else code,
        answer=report.answer,
        thread_id="" if session.unsaved_reason else session.id,
        plan=plan_to_json(session.plan),
        usage=used,
        cost_usd=None if spent is None else round(spent, 6),
        turns=seen.steps,
        error=report.error,
    )


async def _interrupt(session: Session, stop: Callable[[], Awaitable[ExitCode]]) -> ExitCode:
    code = await stop()
    await session.interrupt()
    return code


async def _read(session: Session, seen: _Seen, stream: Output | None, err: Output) -> None:
    async for event in session.events():
        if stream is not None:
            stream.write(json.dumps(event_to_json(event)) + "\n")
            stream.flush()
        if err.isatty():
            _show_progress(event, err)
        match event:
            case StepStarted():
                seen.steps += 1
            case ApprovalRequested(question):
                seen.denied = seen.denied or f"{question.tool} {question.title}".strip()
                session.answer(question.id, Answer(text=NOBODY))
            case QuestionAsked(question):
                session.answer(question.id, Answer(unattended=True))
            case Warned(text, "unsaved"):
                err.write(f"todo-agent: {plain(text)}\n")
            case RunFinished():
                return
            case _:
                pass


@dataclass(frozen=True)
class _Verdict:
    code: ExitCode
    answer: str = ""
    error: str | None = None


def _judge(end: RunEnd | None, session: Session, seen: _Seen, *, require_done: bool) -> _Verdict:
    verdict = _verdict(end)
    if verdict.code is not ExitCode.ANSWERED:
        return verdict
    left = len(session.plan.open)
    if session.unsaved_reason:
        error = f"The thread is not saved: {session.unsaved_reason}"
        return _Verdict(ExitCode.FAILED, verdict.answer, error)
    if seen.denied:
        error = f"Denied, because nobody can approve it in print mode: {seen.denied}"
        return _Verdict(ExitCode.NEEDS_APPROVAL, verdict.answer, error)
    if require_done and left:
        error = f"{left} of {len(session.plan)} todos are open."
        return _Verdict(ExitCode.NOT_DONE, verdict.answer, error)
    return verdict


def _verdict(end: RunEnd | None) -> _Verdict:
    match end:
        case Answered(text, stop) if stop in CUT_OFF:
            return _Verdict(ExitCode.LIMIT, text, f"The answer was cut off: {stop}.")
        case Answered(text):
            return _Verdict(ExitCode.ANSWERED, text)
        case Failed(message, kind) if kind == "limit" or kind in OVERFLOW:
            return _Verdict(ExitCode.LIMIT, error=message)
        case Failed(message, "refusal"):
            return _Verdict(ExitCode.DECLINED, error=message)
        case Failed(message):
            return _Verdict(ExitCode.FAILED, error=message)
        case Blocked(by, reason, edge):
            return _Verdict(ExitCode.FAILED, error=f"{by} blocked the {edge}: {reason}")
        case Suspended(question):
            return _Verdict(ExitCode.NEEDS_APPROVAL, error=question.text)
        case Interrupted():
            return _Verdict(ExitCode.INTERRUPTED, error="Interrupted.")
        case None:
            return _Verdict(ExitCode.FAILED, error="The run ended without a result.")
        case _:
            assert_never(end)


def _show_progress(event: Event, err: Output) -> None:
    match event:
        case ToolStarted(name=name, title=title):
            err.write(f"  {name} {plain(title)}\n")
        case RetryScheduled(attempt, seconds, reason):
            err.write(f"  {plain(reason)} Attempt {attempt} follows in {seconds:.0f} s.\n")
        case Warned(text, code) if code != "unsaved":
            err.write(f"  {plain(text)}\n")
        case _:
            pass
