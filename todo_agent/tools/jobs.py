"""Commands that go on in the background while the agent works."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from todo_agent.tools.output import Capture
from todo_agent.tools.processes import Process, start


class Job:
    """One command in the background."""

    def __init__(self, name: str, command: str, process: Process, output: Capture) -> None:
        self.name = name
        self.command = command
        self._process = process
        self._output = output
        self._over = asyncio.ensure_future(self._watch())

    @property
    def pid(self) -> int:
        """The id of its process and of its session."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.code if self._over.done() else None

    async def wait(self, seconds: float) -> None:
        """Wait until it is over, or so long."""
        await asyncio.wait([self._over], timeout=seconds)

    def take_output(self) -> str:
        """Return what it has written since the last call."""
        return self._output.take()

    async def stop(self) -> None:
        """End it and everything it started, and wait until that is done."""
        await self._process.end()
        await self._over

    async def _watch(self) -> None:
        await self._process.wait()
        await self._process.end()
        self._output.finish()


class Jobs:
    """The background commands of one session. `close` them when it ends."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def __getitem__(self, name: str) -> Job:
        """Return a job by name; KeyError where there is none."""
        return self._jobs[name]

    @property
    def all(self) -> Sequence[Job]:
        """All jobs that were started, in that order."""
        return tuple(self._jobs.values())

    async def start(
        self, command: str, line: Sequence[str], *, cwd: Path, env: Mapping[str, str]
    ) -> Job:
        """Start a command.

        Args:
            command: as it is shown.
            line: the program and its arguments.
            cwd: where it runs.
            env: its environment.

        Raises:
            OSError: it cannot be started.
        """
        output = Capture(_show_nothing)
        process = await start(line, cwd=cwd, env=env, feed=output.feed)
        job = Job(f"job-{len(self._jobs) + 1}", command, process, output)
        self._jobs[job.name] = job
        return job

    async def close(self) -> None:
        """End all that still run."""
        await asyncio.gather(*(job.stop() for job in self.all if job.code is None))


def _show_nothing(text: str) -> None:
    """Show nothing while it runs: its output waits until it is asked for."""
