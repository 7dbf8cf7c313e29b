"""Starts the app on a stand-in, and waits for what a test expects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from textual import events
from textual.pilot import Pilot

from tests.tui.stand_in import Bench, StandIn
from todo_agent.tui.app import TodoAgentApp
from todo_agent.tui.settings import TuiSettings
from todo_agent.tui.themes import UNICODE, Marks

PATIENCE = 400
"""So many turns of the app a test waits for what it expects."""


@dataclass
class Screen:
    """The running app, the session behind it, and the person's hands."""

    app: TodoAgentApp
    session: StandIn
    bench: Bench
    pilot: Pilot[int]

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds."""
        for _ in range(PATIENCE):
            if holds():
                return
            await self.pilot.pause(0.005)
        raise AssertionError(f"it never came; the screen shows:\n{self.text()}")

    async def shows(self, text: str) -> None:
        """Wait until a text is on the screen."""
        await self.until(lambda: text in self.text())

    async def settled(self) -> None:
        """Wait until everything that was said is on the screen."""
        await self.until(lambda: not self.app.transcript.busy)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Press keys one by one, as fingers do."""
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Write into the prompt."""
        self.app.prompt.insert(text)
        await self.pilot.pause()

    def burst(self, text: str) -> None:
        """Send keys without a pause between them, as a paste without its marks does."""
        keys = {"\r": "enter", "/": "slash", " ": "space"}
        for character in text:
            self.app.post_message(events.Key(keys.get(character, character), character))

    def text(self) -> str:
        """Return what the screen shows, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)


@asynccontextmanager
async def screen(
    session: StandIn | None = None,
    *,
    bench: Bench | None = None,
    size: tuple[int, int] = (120, 40),
    thread: str | None = None,
    prompt: str = "",
    marks: Marks = UNICODE,
    clock: Callable[[], float] = lambda: 0.0,
    **settings: Any,
) -> AsyncIterator[Screen]:
    """Run the app on a stand-in, and wait until its session is open."""
    session = session or StandIn()
    bench = bench or Bench({thread: session})
    app = TodoAgentApp(
        cast("Any", bench),
        thread=thread,
        prompt=prompt,
        settings=TuiSettings(**settings),
        marks=marks,
        clock=clock,
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        shown = Screen(app, session, bench, pilot)
        if thread not in bench.broken:
            await shown.until(lambda: app.session is not None)
        await pilot.pause()
        yield shown
