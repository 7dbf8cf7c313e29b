"""What the transcript says when a run is over: what happened, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from todo_agent.agent.outcomes import (
    Answered,
    Blocked,
    Failed,
    Interrupted,
    RunEnd,
    Suspended,
)
from todo_agent.agent.provider import NO_USAGE, Usage
from todo_agent.plan.plan import Plan
from todo_agent.tui.entries import Entry, Notice, Turn
from todo_agent.tui.progress import Progress
from todo_agent.tui.text import cost, count, duration, tokens

AGAIN = "Nothing is lost. Press Enter on the empty prompt to try again."
HINTS = {
    "auth": "Set ANTHROPIC_API_KEY and start again; `todo-agent --demo` works without a key.",
    "permission": "This key may not use this model: /model picks another one.",
    "not_found": "/model picks another model.",
    "too_large": "/compact shortens the conversation, /clear starts a new thread.",
    "context_window": "Shorten the largest part, /model picks a larger one, /clear starts anew.",
    "rate_limit": AGAIN,
    "overloaded": AGAIN,
    "server": AGAIN,
    "connection": f"Check the network and ANTHROPIC_BASE_URL. {AGAIN}",
    "timeout": AGAIN,
    "stream": AGAIN,
    "refusal": "Say it in other words, or pick another model with /model.",
    "limit": "Press Enter on the empty prompt to go on; the limits are in the configuration.",
}
STOPS = {
    "max_tokens": "The answer was cut off: it reached the model's limit for one answer.",
    "model_context_window_exceeded": "The answer was cut off: the model's context is full.",
    "stopped": "A middleware ended the run here.",
}
QUIET_STOPS = frozenset({"end_turn", "stop_sequence", "tool_use", "performed"})


@dataclass
class Tally:
    """What a run took, counted from its events."""

    started: float = 0.0
    """Seconds, on the clock of the events."""
    usage: Usage = NO_USAGE
    """Of the thread, before the run."""
    cost_usd: float | None = None
    """Of the thread, before the run."""
    done: int = 0
    """Todos that were done before the run."""
    files: set[str] = field(default_factory=set)
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """The same, when it is over."""

    at: float
    usage: Usage
    cost_usd: float | None
    plan: Plan


def ending_entries(end: RunEnd, tally: Tally, totals: Totals) -> Iterator[Entry]:
    """Yield what closes a turn."""
    match end:
        case Answered(stop=stop):
            if stop not in QUIET_STOPS:
                text = STOPS.get(stop, f"The model stopped: {stop}.")
                yield Notice(text, "Press Enter on the empty prompt to continue.", "warning")
            verb = ""
        case Interrupted():
            verb = "interrupted"
        case Failed(message, kind):
            yield Notice(message, HINTS.get(kind, AGAIN), "error")
            verb = "failed"
        case Blocked(by, reason, edge):
            what = "Your message was" if edge == "input" else "The answer was"
            hint = "It was taken out of the thread again; the text is back in the prompt."
            if edge == "output":
                hint = "The whole turn was undone; the thread goes on as before it."
            yield Notice(f"{what} refused by {by}: {reason}", hint, "warning")
            verb = "blocked"
        case Suspended(question):
            hint = "Send a message to answer, or resume the thread later."
            yield Notice(f"Waits for an answer: {question.text}", hint, "warning")
            verb = "waiting"
        case _:
            assert_never(end)
    yield Turn(_line(verb, tally, totals), ok=not verb)
    if not isinstance(end, Suspended):
        yield from _open_todos(totals.plan)


def _line(verb: str, tally: Tally, totals: Totals) -> str:
    took = duration(max(totals.at - tally.started, 0.0))
    parts = [f"{verb} after {took}" if verb else took]
    read = _read(totals.usage) - _read(tally.usage)
    written = totals.usage.output_tokens - tally.usage.output_tokens
    if read or written:
        parts.append(f"{tokens(read)} in, {tokens(written)} out")
    if totals.cost_usd is not None and totals.cost_usd > (tally.cost_usd or 0.0):
        parts.append(cost(totals.cost_usd - (tally.cost_usd or 0.0)))
    elif totals.cost_usd is None and (read or written):
        parts.append("price unknown")
    if tally.files:
        parts.append(f"{count(len(tally.files), 'file')} changed")
    done = Progress.of(totals.plan).done - tally.done
    if done > 0:
        parts.append(f"{count(done, 'todo')} done")
    return " · ".join(parts)


def _open_todos(plan: Plan) -> Iterator[Entry]:
    progress = Progress.of(plan)
    left = progress.total - progress.done
    if left:
        yield Notice(
            f"Stopped with {left} of {count(progress.total, 'todo')} open.",
            "Press Enter on the empty prompt to continue.",
        )


def _read(usage: Usage) -> int:
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
