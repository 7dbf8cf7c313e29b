"""Ends a run in which the model makes the same failing call again and again."""

from __future__ import annotations

import json
from dataclasses import dataclass

from todo_agent.agent.messages import ToolResult, ToolUse
from todo_agent.agent.middleware import Middleware, RunContext
from todo_agent.agent.outcomes import LimitReached, RunEnd

MAX_REPETITIONS = 5


@dataclass(frozen=True, slots=True)
class Streak:
    """One call that failed in every round so far."""

    tool: str
    rounds: int


class Repetition(Middleware):
    """Counts rounds in a row in which one call, to the letter the same, failed.

    Args:
        limit: the most such rounds, at least 2; then the run ends as a reached limit.
    """

    name = "repetition"

    def __init__(self, limit: int = MAX_REPETITIONS) -> None:
        if limit < 2:
            raise ValueError(f"limit must be at least 2, not {limit}")
        self._limit = limit
        self._streaks: dict[str, dict[str, Streak]] = {}

    async def before_turn(self, ctx: RunContext) -> None:
        """End the run where the limit is reached."""
        for streak in self._streaks.get(ctx.run_id, {}).values():
            if streak.rounds >= self._limit:
                raise LimitReached(
                    f"Stopped: the same call of {streak.tool} failed {streak.rounds} times in a "
                    "row. Say how it should go on."
                )

    async def after_turn(self, ctx: RunContext, results: tuple[ToolResult, ...]) -> None:
        """Count the calls that failed once more, and forget all others."""
        failed = {result.tool_use_id for result in results if result.is_error}
        asked = next((m.calls for m in reversed(ctx.messages) if m.role == "assistant"), ())
        before = self._streaks.get(ctx.run_id, {})

        def rounds(call: ToolUse) -> int:
            streak = before.get(_letter(call))
            return 0 if streak is None else streak.rounds

        self._streaks[ctx.run_id] = {
            _letter(call): Streak(call.name, rounds(call) + 1)
            for call in asked
            if call.id in failed
        }

    async def on_end(self, ctx: RunContext, end: RunEnd) -> None:
        """Forget the run."""
        self._streaks.pop(ctx.run_id, None)


def _letter(call: ToolUse) -> str:
    return f"{call.name} {json.dumps(call.input, sort_keys=True)}"
