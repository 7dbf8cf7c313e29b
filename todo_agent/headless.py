"""One turn without a screen: the same events, as text, one JSON object, or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Protocol, assert_never

from todo_agent.agent.events import (
    ApprovalRequested,
    Event,
    QuestionAsked,
    RunFinished,
    StepStarted,
    ToolStarted,
    Warned,
    event_to_json,
)
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.outcomes import (
    Answer,
    Answered,
    Blocked,
    Failed,
    Interrupted,
    RunEnd,
    Suspended,
)
from todo_agent.exit_codes import ExitCode
from todo_agent.plan.keys import plan_to_json
from todo_agent.session import Session
from todo_agent.text import plain

SCHEMA_VERSION = 1
NOBODY = "nobody is there to approve it in print mode. Do what needs no approval, or say what does."
LIMITED = ("max_tokens", "model_context_window_exceeded")


class Format(StrEnum):
    """How the outcome is written."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


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


@dataclass
class Report:
    """What is told of a run: the object of `--output-format json`."""

    status: str
    """`answered`, `limit`, `failed`, `blocked`, `declined`, `needs_approval`, `not_done`,
    `interrupted` or `usage`."""
    answer: str = ""
    thread_id: str = ""
    """Empty where there is nothing to resume."""
    plan: Json = None
    usage: JsonObject = field(default_factory=dict)
    cost_usd: float | None = None
    turns: int = 0
    """Model steps."""
    error: str | None = None
    schema_version: int = SCHEMA_VERSION

    def to_json(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


async def run_print(
    session: Session,
    prompt: str,
    *,
    output_format: Format,
    require_done: bool,
    out: Output,
    err: Output,
    render: Callable[[str], None],
) -> ExitCode:
    """Send one prompt, wait for the end, write what came of it, and return the exit code.

    The answer alone goes to `out` (through `render` where that is a terminal), everything
    else to `err`. A call that needs an approval is denied.
    """
    for notice in session.notices:
        err.write(f"todo-agent: {plain(notice)}\n")
    session.send(prompt)
    steps, denied, end = 0, False, None
    async for event in session.events():
        if output_format is Format.STREAM_JSON:
            out.write(json.dumps(event_to_json(event), ensure_ascii=False) + "\n")
            out.flush()
        elif err.isatty():
            _progress(event, err)
        match event:
            case StepStarted():
                steps += 1
            case ApprovalRequested(question) | QuestionAsked(question):
                denied = denied or isinstance(event, ApprovalRequested)
                session.answer(question.id, Answer(text=NOBODY))
            case Warned(text, "unsaved"):
                err.write(f"todo-agent: {plain(text)}\n")
            case RunFinished(finished):
                end = finished
                break
            case _:
                pass
    await session.finished()
    code, report = _judge(end, session, denied=denied, require_done=require_done)
    report.turns = steps
    match output_format:
        case Format.JSON:
            out.write(report.to_json() + "\n")
        case Format.TEXT:
            _write_answer(report.answer, out, render)
        case Format.STREAM_JSON:
            pass
        case _:
            assert_never(output_format)
    if report.error:
        err.write(f"todo-agent: {plain(report.error)}\n")
    return code


def _write_answer(answer: str, out: Output, render: Callable[[str], None]) -> None:
    if not answer:
        return
    if out.isatty():
        render(plain(answer))
    else:
        out.write(plain(answer).rstrip("\n") + "\n")


def _judge(
    end: RunEnd | None, session: Session, *, denied: bool, require_done: bool
) -> tuple[ExitCode, Report]:
    code, status, answer, error = _outcome(end)
    still_open = len(session.plan.open)
    if code is ExitCode.ANSWERED and denied:
        code, status = ExitCode.NEEDS_APPROVAL, "needs_approval"
        error = "A call needed an approval, and nobody can give one in print mode."
    elif code is ExitCode.ANSWERED and require_done and still_open:
        code, status = ExitCode.NOT_DONE, "not_done"
        error = f"{still_open} of {len(session.plan)} todos are open."
    if code is ExitCode.ANSWERED and session.unsaved_reason:
        code, status = ExitCode.FAILED, "failed"
        error = f"The thread is not saved: {session.unsaved_reason}"
    report = Report(
        status,
        answer=answer,
        thread_id="" if session.unsaved_reason else session.id,
        plan=plan_to_json(session.plan),
        usage=asdict(session.usage),
        cost_usd=session.cost_usd,
        error=error,
    )
    return code, report


def _outcome(end: RunEnd | None) -> tuple[ExitCode, str, str, str | None]:
    match end:
        case Answered(text, stop) if stop in LIMITED:
            return ExitCode.LIMIT, "limit", text, f"The answer was cut off: {stop}."
        case Answered(text):
            return ExitCode.ANSWERED, "answered", text, None
        case Failed(message, "limit" | "context_window"):
            return ExitCode.LIMIT, "limit", "", message
        case Failed(message, "refusal"):
            return ExitCode.DECLINED, "declined", "", message
        case Failed(message):
            return ExitCode.FAILED, "failed", "", message
        case Blocked(by, reason, edge):
            return ExitCode.FAILED, "blocked", "", f"{by} blocked the {edge}: {reason}"
        case Suspended(question):
            return ExitCode.NEEDS_APPROVAL, "needs_approval", "", question.text
        case Interrupted() | None:
            return ExitCode.INTERRUPTED, "interrupted", "", "Interrupted."
        case _:
            assert_never(end)


def _progress(event: Event, err: Output) -> None:
    match event:
        case ToolStarted(name=name, title=title):
            err.write(f"  {name} {plain(title)}\n")
        case Warned(text=text):
            err.write(f"  {plain(text)}\n")
        case _:
            pass
