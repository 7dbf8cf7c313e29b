"""Runs the terminal app, and leaves the terminal as it was on every way out."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

from todo_agent.tui.app import TodoAgentApp
from todo_agent.tui.clipboard import Clipboard
from todo_agent.tui.settings import TuiSettings
from todo_agent.tui.terminal import read_alt_enter
from todo_agent.tui.themes import marks_for

if TYPE_CHECKING:
    from todo_agent.session import Workbench

STOPPING = {signal.SIGTERM: 143, signal.SIGHUP: 129}


def run_tui(workbench: Workbench, *, thread: str | None, prompt: str, settings: TuiSettings) -> int:
    """Run the app until the person leaves; return the exit code.

    Args:
        workbench: opens sessions and lists threads.
        thread: the thread to open; None for a new one.
        prompt: sent as soon as the session is open; may be empty.
        settings: what the person has set about the screen.

    Raises:
        BaseException: what ended the app, once the terminal is as it was.
    """
    marks = marks_for(
        ascii_only=settings.ascii,
        term=os.environ.get("TERM", ""),
        encoding=sys.stdout.encoding or "ascii",
    )
    app = TodoAgentApp(
        workbench,
        thread=thread,
        prompt=prompt,
        settings=settings,
        marks=marks,
        clipboard=Clipboard.of(os.environ),
    )
    read_alt_enter()
    asyncio.run(_run(app))
    if app.crash is not None:
        raise app.crash
    return app.return_value or 0


async def _run(app: TodoAgentApp) -> None:
    loop = asyncio.get_running_loop()
    for number, code in STOPPING.items():
        loop.add_signal_handler(number, _leave, app, code)
    try:
        await app.run_async(mouse=app.settings.mouse)
    finally:
        await app.close_session()


def _leave(app: TodoAgentApp, code: int) -> None:
    app.run_worker(app.leave(code), group="leave")
