"""What a session did, line by line in the log: names, sizes and times, never contents."""

from __future__ import annotations

import logging

from todo_agent.agent.events import (
    Compacted,
    Event,
    RetryScheduled,
    RunFinished,
    RunStarted,
    StepStarted,
    ToolFinished,
    ToolStarted,
    UsageChanged,
    Warned,
)
from todo_agent.agent.outcomes import Failed

_LOG = logging.getLogger("todo_agent.trail")
# Without a log file nothing is to appear anywhere.
_LOG.addHandler(logging.NullHandler())


class Trail:
    """Logs the events of one thread's session."""

    def __init__(self, thread_id: str) -> None:
        self._thread = thread_id

    def note(self, event: Event) -> None:
        """Log an event, if it is one of those that tell what was done."""
        match event:
            case RunStarted():
                self._log(logging.INFO, "run started")
            case StepStarted(step):
                self._log(logging.DEBUG, f"step {step}: the model is asked")
            case UsageChanged(total, context_tokens, model):
                used = f"{total.input_tokens} in, {total.output_tokens} out in all"
                self._log(logging.DEBUG, f"{model} answered: context {context_tokens}, {used}")
            case RetryScheduled(attempt, seconds, reason):
                self._log(logging.WARNING, f"attempt {attempt} failed: {reason} ({seconds:.1f} s)")
            case ToolStarted(call_id, name):
                self._log(logging.DEBUG, f"call {call_id} {name} begins")
            case ToolFinished(call_id, name, result, seconds):
                outcome = "error" if result.is_error else "ok"
                self._log(logging.DEBUG, f"call {call_id} {name}: {outcome}, {seconds:.2f} s")
            case Compacted(before, after):
                self._log(logging.INFO, f"compacted: {before} to {after} tokens")
            case Warned(text):
                self._log(logging.WARNING, text)
            case RunFinished(Failed(message, kind, by, error)):
                self._log(logging.ERROR, f"run failed in {by or kind}: {message}", error)
            case RunFinished(end):
                self._log(logging.INFO, f"run ended: {type(end).__name__.lower()}")
            case _:
                pass

    def _log(self, level: int, text: str, error: BaseException | None = None) -> None:
        _LOG.log(level, "%s %s", self._thread, text, exc_info=error)
