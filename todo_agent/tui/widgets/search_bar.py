"""Searches the conversation: one line above the prompt."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from todo_agent.tui.entries import Entry
from todo_agent.tui.searching import Find, Hit, Query, hits
from todo_agent.tui.widgets.transcript import Transcript

AT_ONCE = 50
"""Entries that are searched before the keyboard gets its turn."""


class SearchBar(Horizontal):
    """Finds literal text in all of a transcript, and goes from place to place.

    It begins at the newest place and goes up: what one looks for was usually just there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,shift+tab", "step(-1)", "Previous", show=False),
        Binding("down,shift+enter,tab", "step(1)", "Next", show=False),
        Binding("escape,ctrl+c", "leave", "Leave", show=False),
    ]

    class Left(Message):
        """The search is over."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__()
        self._transcript = transcript
        self._query = Query("")
        self._hits: list[Hit] = []
        self._at = 0
        self._searched: tuple[Entry, ...] = ()
        self.display = False

    def compose(self) -> ComposeResult:
        """Lay out the words, and how often they are found."""
        yield Static(Content.styled("find ", "$accent"), markup=False)
        yield Input(compact=True, placeholder="text in this conversation", select_on_focus=False)
        yield Static(id="found", markup=False)

    def open(self) -> None:
        """Begin a search, or go on with the last one."""
        self.display = True
        self.query_one(Input).focus()
        self._search_soon()

    @on(Input.Changed)
    def _changed(self) -> None:
        self._search_soon()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_step(-1)

    def action_step(self, by: int) -> None:
        """Go to the place before or behind."""
        self.run_worker(self._step(by), group="search", exclusive=True)

    def action_leave(self) -> None:
        """Close, and stay where the place is."""
        self.display = False
        self._transcript.keep_found()
        self.run_worker(self._transcript.find(None), group="search", exclusive=True)
        self.post_message(self.Left())

    def _search_soon(self) -> None:
        self.run_worker(self._search(), group="search", exclusive=True)

    async def _search(self) -> None:
        self._query = Query(self.query_one(Input).value)
        await self._look()
        self._at = len(self._hits) - 1
        await self._show()

    async def _step(self, by: int) -> None:
        if self._transcript.entries != self._searched:
            await self._look()
        if self._hits:
            self._at = (self._at + by) % len(self._hits)
        await self._show()

    async def _look(self) -> None:
        """Search all entries, a few at a time."""
        entries, found = self._transcript.entries, []
        for index, entry in enumerate(entries):
            found += [Hit(index, place) for place in hits(entry, self._query)]
            if index % AT_ONCE == 0:
                await asyncio.sleep(0)
        self._hits, self._searched = found, entries

    async def _show(self) -> None:
        words = self.query_one(Input).value
        found = f"{self._at + 1}/{len(self._hits)}" if self._hits else "not found" if words else ""
        style = "$muted" if self._hits else "$warning"
        keys = "  ↑↓ or enter move, esc leaves" if self._hits and self.size.width > 70 else ""
        self.query_one("#found", Static).update(Content.assemble((found, style), (keys, "$muted")))
        await self._transcript.find(Find(self._query) if self._hits else None)
        if self._hits:
            await self._transcript.to_hit(self._hits[self._at])
