"""Repeats model calls that failed for a passing reason."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from todo_agent.agent.events import RetryScheduled
from todo_agent.agent.middleware import CallModel, Middleware, RunContext
from todo_agent.agent.provider import ModelRequest, ModelResponse, ProviderError

LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is reported, not waited for."""
SPREAD = 0.25
"""How much longer than planned a wait may be, so that many clients do not come back at once."""


class Retries(Middleware):
    """Repeats a call that failed before anything of its answer was seen.

    Args:
        max_attempts: the most calls for one answer, the first included; 1 repeats nothing.
        base: seconds before the second call; each further wait is twice as long.
        sleep: waits; an interrupt ends it at once.
        jitter: a number from 0 to 1 by which waits differ.

    Raises:
        ValueError: there is no attempt at all.
    """

    name = "retries"

    def __init__(
        self,
        max_attempts: int = 6,
        *,
        base: float = 1.0,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        if max_attempts < 1:
            raise ValueError(f"max_attempts is at least 1, not {max_attempts}")
        self._max_attempts = max_attempts
        self._base = base
        self._sleep = sleep
        self._jitter = jitter

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """Call until an answer comes, the reason does not pass, or it was tried enough."""
        for attempt in range(1, self._max_attempts):
            try:
                return await call_next(request)
            except ProviderError as error:
                wait = self._wait(attempt, error)
                if wait is None:
                    raise
                ctx.emit(RetryScheduled(attempt, round(wait, 1), str(error)))
            await self._sleep(wait)
        return await call_next(request)

    def _wait(self, attempt: int, error: ProviderError) -> float | None:
        """Return how many seconds to wait, or None to give up."""
        if not error.retriable or error.partial is not None:
            return None
        wait = error.retry_after or min(LONGEST_WAIT, self._base * 2.0 ** (attempt - 1))
        return None if wait > LONGEST_WAIT else wait * (1 + SPREAD * self._jitter())
