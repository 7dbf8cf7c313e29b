"""What a call's row and its detail say, as values. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from todo_agent.tui import diff
from todo_agent.tui.entries import PLAN_TOOLS, USER_CALL, Call, CallState
from todo_agent.tui.lines import Line
from todo_agent.tui.text import count, duration, first_line, literal, plain

LONG_LINE = 10_000
"""Characters of one line that are shown."""
WORTH_TELLING = 0.1
"""Seconds below which it does not matter how long a call took."""
LIVE_CHARS = 20_000
"""Characters of a running call's output that are looked at."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What shows below a call that is opened."""

    lines: Sequence[Line] = ()
    changes: Sequence[diff.Row] = ()
    """Of a diff; it has no lines then."""
    path: str = ""
    """The file it belongs to, if any."""


def verb(call: Call) -> str:
    """Return what a call does, in a word."""
    if call.id.startswith(USER_CALL):
        return "!"
    if call.name in PLAN_TOOLS:
        return "plan"
    return first_line(call.name)[0] or "call"


def title(call: Call) -> str:
    """Return what a call is about, in one line."""
    if call.name in PLAN_TOOLS:
        return ""
    line, more = first_line(call.title)
    return f"{line} …" if more else line


def outcome(call: Call) -> str:
    """Return how a call ended, in a few words; the first of them stand for all."""
    match call.state:
        case CallState.PREPARING:
            return "…"
        case CallState.RUNNING:
            return ""
        case CallState.WAITING:
            return "did not run"
        case CallState.FAILED if call.result is None or call.result.display is None:
            summary = "failed"
        case CallState.FAILED | CallState.DONE:
            summary = literal(call.display.summary)
    output = call.display.kind == "output"
    if output:
        lines = len(_output(call))
        return f"{summary} · {count(lines, 'line')}" if lines else summary
    seconds = call.seconds or 0.0
    took = duration(seconds) if seconds >= WORTH_TELLING else ""
    return " · ".join(part for part in (summary, took) if part)


def why(call: Call) -> str:
    """Return why a call failed: what the tool says, or the last words of a program."""
    if call.state is not CallState.FAILED or call.result is None:
        return ""
    if call.display.kind == "output" and call.result.display is not None:
        return next((line.strip() for line in reversed(_output(call)) if line.strip()), "")
    return first_line(plain(call.result.text))[0]


def head_text(call: Call) -> str:
    """Return what can be found in a call's row."""
    return "  ".join(part for part in (verb(call), title(call), outcome(call)) if part)


def live_lines(call: Call, most: int) -> Sequence[Line]:
    """Return the last lines that a running call printed."""
    text = plain(call.output[-LIVE_CHARS:]).rstrip("\n")
    lines = text.split("\n")[-most:] if text.strip() else []
    return [Line(Content.styled(_short(line), "$muted")) for line in lines]


def detail(call: Call) -> Detail:
    """Return what shows below a call when it is opened."""
    shown = call.display
    whole = [Line(Content.styled(line, "$primary")) for line in _rest_of_title(call)]
    if shown.kind == "diff" and shown.body:
        return Detail((), tuple(diff.rows(shown.body)), shown.path)
    style = "$error" if call.state is CallState.FAILED and shown.kind != "output" else ""
    lines = [Line(Content.styled(_short(line), style)) for line in _output(call)]
    if not lines and not whole:
        lines = [Line(Content.styled("no output", "$muted"))]
    return Detail([*whole, *lines], path=shown.path)


def searchable_lines(call: Call) -> Sequence[str]:
    """Return the lines of a call's detail, as they are shown."""
    if call.result is None:
        return ()
    shown = detail(call)
    return [*(line.text.plain for line in shown.lines), *map(diff.shown, shown.changes)]


def _rest_of_title(call: Call) -> Sequence[str]:
    """Return the whole of a title that does not stand in one line."""
    lines = plain(call.title).strip("\n").split("\n")
    return lines if len(lines) > 1 or len(lines[0]) > 60 else ()


def _output(call: Call) -> Sequence[str]:
    body = call.display.body or (call.result.text if call.result is not None else "")
    text = plain(body).strip("\n")
    return text.split("\n") if text else ()


def _short(line: str) -> str:
    more = len(line) - LONG_LINE
    return f"{line[:LONG_LINE]}… {count(more, 'more character')}" if more > 0 else line
