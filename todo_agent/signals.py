"""Signals that end a run: caught once, turned into an exit code."""

from __future__ import annotations

import asyncio
import signal
from types import FrameType, TracebackType

from todo_agent.exit_codes import ExitCode

CODES = {
    signal.SIGINT: ExitCode.INTERRUPTED,
    signal.SIGTERM: ExitCode.TERMINATED,
}


class StopSignals:
    """Catches Ctrl-C and SIGTERM within a `with` block of a running loop.

    The second signal of a kind does what it would have done without this.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped: asyncio.Future[ExitCode] = self._loop.create_future()

    def __enter__(self) -> StopSignals:
        self._before = {number: signal.signal(number, self._caught) for number in CODES}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    async def wait(self) -> ExitCode:
        """Return the exit code that the first signal stands for."""
        return await asyncio.shield(self._stopped)

    def _caught(self, number: int, frame: FrameType | None) -> None:
        signal.signal(number, self._before[signal.Signals(number)])
        self._loop.call_soon_threadsafe(self._settle, CODES[signal.Signals(number)])

    def _settle(self, code: ExitCode) -> None:
        if not self._stopped.done():
            self._stopped.set_result(code)
