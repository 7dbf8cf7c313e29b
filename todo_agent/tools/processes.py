"""Processes in a session of their own, which is ended as a whole."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

TERM_SECONDS = 0.4
"""How long a process may take to end by itself before it is killed."""
DRAIN_SECONDS = 0.1
_POLL_SECONDS = 0.02
_REST_BYTES = 65_536


class Process:
    """A running command: no terminal, no input, both outputs in one pipe.

    It leads a session of its own. Whatever it starts belongs to that session and is ended
    with it, unless it leaves for another one (`setsid`, a daemon): such a process is left
    alone.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, transport: asyncio.ReadTransport, pipe: _Pipe
    ) -> None:
        self._process = process
        self._transport = transport
        self._pipe = pipe

    @property
    def pid(self) -> int:
        """The process id, which is the session's id too."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for the command itself to exit, and return its code."""
        return await self._process.wait()

    async def wait_for_output(self) -> None:
        """Wait until the pipe is closed: by everyone who could still write to it."""
        await self._pipe.closed.wait()

    async def end(self) -> bool:
        """End everything in the session, and close the pipe.

        It takes under a second whatever the processes do, and is not cut short when the
        caller is cancelled. Returns whether anything beside the command itself still ran.
        """
        return await uncancelled(self._end())

    async def _end(self) -> bool:
        if self.code is not None:
            # What has been written already comes through, unless somebody holds the pipe.
            await _until(self._pipe.closed, DRAIN_SECONDS)
        exited = self.code is not None
        alive = bool(session(self.pid))
        if alive:
            _signal(self.pid, signal.SIGTERM)
            if not await _gone(self.pid, TERM_SECONDS):
                _signal(self.pid, signal.SIGKILL)
                await _gone(self.pid, TERM_SECONDS)
        with suppress(TimeoutError):  # Nothing ends a process that waits for a dead disk.
            await asyncio.wait_for(self._process.wait(), TERM_SECONDS)
        self._pipe.take_rest()
        self._transport.close()
        return exited and alive


async def start(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    feed: Callable[[bytes], None],
    pass_fds: Sequence[int] = (),
) -> Process:
    """Start a command; its output goes to `feed` as it comes.

    Raises:
        OSError: it cannot be started.
    """
    if sys.platform == "win32":
        raise OSError("commands need Linux or macOS; on Windows, run the program in WSL")
    loop = asyncio.get_running_loop()
    reader, writer = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            start_new_session=True,
            pass_fds=pass_fds,
        )
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    source = FileIO(reader)
    transport, pipe = await loop.connect_read_pipe(lambda: _Pipe(feed, source), source)
    return Process(process, transport, pipe)


class _Pipe(asyncio.Protocol):
    def __init__(self, feed: Callable[[bytes], None], source: FileIO) -> None:
        self._feed = feed
        self._source = source
        self.closed = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()

    def take_rest(self) -> None:
        """Take what is in the pipe now; a busy event loop may not have come to it yet."""
        while not self.closed.is_set() and (data := self._source.read(_REST_BYTES)):
            self._feed(data)
            if len(data) < _REST_BYTES:
                return


async def uncancelled(work: Coroutine[None, None, T]) -> T:
    """Finish some work even when the caller is cancelled meanwhile, then be cancelled."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    return task.result()


def session(sid: int) -> tuple[int, ...]:
    """Return the processes of a session that are alive."""
    return tuple(_from_proc(sid) if sys.platform == "linux" else _from_ps(sid))


def _from_proc(sid: int) -> Iterator[int]:
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            fields = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == sid and fields[0] not in (b"Z", b"X"):
                yield int(entry.name)


def _from_ps(sid: int) -> Iterator[int]:
    listed = subprocess.run(["ps", "-axo", "pid=,stat="], capture_output=True, check=False)
    for line in listed.stdout.splitlines():
        pid, state = line.split()[:2]
        with suppress(OSError):
            if os.getsid(int(pid)) == sid and not state.startswith(b"Z"):
                yield int(pid)


def _signal(sid: int, number: signal.Signals) -> None:
    for pid in session(sid):
        with suppress(OSError):
            os.kill(pid, number)


async def _gone(sid: int, seconds: float) -> bool:
    """Wait until a session is empty; False when it is not by then."""
    deadline = asyncio.get_running_loop().time() + seconds
    while session(sid):
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(_POLL_SECONDS)
    return True


async def _until(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
