"""Tells a person who looks elsewhere that the agent has finished or waits."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL
from collections.abc import Sequence
from typing import Literal, assert_never

from todo_agent.tui import terminal

WAIT_SECONDS = 30.0
"""How long a program may take to notify."""
Way = Literal["off", "bell", "desktop", "command"]


async def notified(way: Way, message: str, *, command: Sequence[str]) -> tuple[str, str]:
    """Tell the message; return what to send to the terminal, and what went wrong.

    Args:
        way: how to tell.
        message: a sentence of our own.
        command: the program of `command`; it is run without a shell, the message behind it.
    """
    match way:
        case "off":
            return "", ""
        case "bell":
            return terminal.BELL, ""
        case "desktop":
            return terminal.notification(message), ""
        case "command":
            return "", await _run(command, message)
        case _:
            assert_never(way)


async def _run(command: Sequence[str], message: str) -> str:
    """Run a program to its end; return why it failed, or nothing."""
    if not command:
        return 'ui.notify is "command", but ui.notify_command names no program.'
    try:
        process = await asyncio.create_subprocess_exec(
            *command, message, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return f"ui.notify_command: {command[0]} cannot be run: {reason}."
    try:
        code = await asyncio.wait_for(process.wait(), WAIT_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        return f"ui.notify_command: {command[0]} did not end in {WAIT_SECONDS:g} s."
    return f"ui.notify_command: {command[0]} ended with {code}." if code else ""
