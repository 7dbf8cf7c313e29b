"""The conversation. Only what is near the viewport is mounted, however long the thread is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, TypeAlias, assert_never

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Markdown

from todo_agent.agent.outcomes import Question
from todo_agent.tui.details import LIVE_CHARS
from todo_agent.tui.entries import (
    Answer,
    Call,
    CallState,
    Entry,
    Notice,
    Said,
    Thought,
    Turn,
    weight,
)
from todo_agent.tui.pieces import block_at, join, pieces
from todo_agent.tui.searching import Find, Hit
from todo_agent.tui.text import plain
from todo_agent.tui.themes import Marks
from todo_agent.tui.widgets.banner import Banner, Place
from todo_agent.tui.widgets.markdown_blocks import Fence
from todo_agent.tui.widgets.message import ModelMessage, UserMessage
from todo_agent.tui.widgets.notice import NoticeBlock, TurnLine
from todo_agent.tui.widgets.thought import ThoughtRow
from todo_agent.tui.widgets.tool_call import ToolCallRow

Row: TypeAlias = UserMessage | ModelMessage | ThoughtRow | ToolCallRow | NoticeBlock | TurnLine

WINDOW = 60
"""Entries of so much weight stay mounted while the end is in view."""
PAGE = 30
"""So much more is mounted when the scroll comes near an edge, and dropped at the other."""
BATCH = 15
"""So much is mounted at a time while a turn goes on."""
NEAR = 4
"""Lines from an edge at which more is mounted."""
PAINT_SECONDS = 1 / 30
"""Text that streams in is shown at most so often."""
STEP = 3
"""Lines by which one moves through what is higher than the view."""
PATIENCE = 4
"""Laying out a change may take one part of the time; the keyboard gets so many."""


class Transcript(VerticalScroll, can_focus=True):
    """Entries from the oldest to the newest, of which a range around the viewport is mounted.

    It follows the end unless the person scrolled away.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.next_place", "Prompt", show=False, id="next_place"),
        Binding("shift+tab", "app.next_mode", "Next permission mode", show=False, id="next_mode"),
        Binding("up", "cursor(-1)", "Previous entry", show=False),
        Binding("down", "cursor(1)", "Next entry", show=False),
    ]

    following: reactive[bool] = reactive(default=True)
    details: reactive[bool] = reactive(default=False)
    """Whether calls show their detail without being opened one by one."""

    news: reactive[bool] = reactive(default=False)
    """Something came below what is in view, and the view stayed."""

    class LinkChosen(Message):
        """A link in an answer was clicked."""

        def __init__(self, href: str) -> None:
            super().__init__()
            self.href = href

    class Copied(Message):
        """A text is to be copied."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, marks: Marks, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._marks = marks
        self._clock = clock
        self._banner = Banner()
        self._entries: list[Entry] = []
        self._rows: dict[int, Row] = {}
        self._first = self._stop = 0
        self._calls: dict[str, int] = {}
        self._stream: int | None = None
        self._stream_text = ""
        self._stream_since = 0.0
        self._opened: set[int] = set()
        """Which entries are open, or were when they were dropped."""
        self._found_open: int | None = None
        """The entry that a search opened."""
        self._find: Find | None = None
        self._find_entry: int | None = None
        self._turn: tuple[int, float] | None = None
        """The message that was jumped to, and the scroll position that made."""
        self._changed: set[int] = set()
        self._painting = False
        self._moving = False
        self._lock = asyncio.Lock()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything in it, mounted or not."""
        return tuple(self._entries)

    @property
    def mounted(self) -> range:
        """The positions of the entries that are mounted, or will be with the next paint."""
        return range(self._first, self._stop)

    @property
    def busy(self) -> bool:
        """Whether something that was added is not on the screen yet."""
        return bool(self._changed) or self._moving or self._lock.locked()

    async def on_mount(self) -> None:
        """Begin with the banner, at the end."""
        await self.mount(self._banner)
        self.anchor()

    def place(self, place: Place) -> None:
        """Say in the banner where the session is."""
        self._banner.show(place)

    async def show(self, entries: Iterable[Entry]) -> None:
        """Show another conversation from its end."""
        self._stop_stream()
        self._entries = list(entries)
        self._opened.clear()
        self._find = self._found_open = self._turn = None
        self._calls = {e.id: i for i, e in enumerate(self._entries) if isinstance(e, Call)}
        await self._mount_end()
        self.following = True

    def add(self, entry: Entry) -> None:
        """Add an entry at the end."""
        self._stop_stream()
        self._append(entry)

    def stream_text(self, text: str) -> None:
        """Add a piece of the answer that is being written."""
        self._stream_into(Answer, text)

    def stream_thought(self, text: str) -> None:
        """Add a piece of the reasoning that goes on."""
        self._stream_into(Thought, text)

    def finish_stream(self, entries: Iterable[Entry], *, since: int) -> None:
        """Put the complete entries in the place of what streamed in since a position.

        Calls stay as they are: their state is newer than the message.
        """
        self._stop_stream()
        wanted = [entry for entry in entries if not isinstance(entry, Call)]
        streamed = [
            index
            for index in range(since, len(self._entries))
            if isinstance(self._entries[index], Answer | Thought)
        ]
        for index, entry in zip(streamed, wanted, strict=False):
            shown = self._entries[index]
            if isinstance(shown, Thought) and isinstance(entry, Thought):
                self._replace(index, replace(entry, seconds=shown.seconds))
            elif type(entry) is type(shown):
                self._replace(index, entry)
        for entry in wanted[len(streamed) :]:
            self._append(entry)

    async def forget(self, *, since: int) -> None:
        """Take away everything from a position on: the attempt is void."""
        self._stop_stream()
        async with self._lock:
            for index in range(len(self._entries) - 1, since - 1, -1):
                entry = self._entries.pop()
                self._changed.discard(index)
                if isinstance(entry, Call):
                    self._calls.pop(entry.id, None)
                row = self._rows.pop(index, None)
                if row is not None:
                    await row.remove()
            self._stop = min(self._stop, len(self._entries))

    def start_call(self, call: Call) -> None:
        """Show a call, or what is new about it."""
        index = self._calls.get(call.id)
        if call.state is CallState.RUNNING and call.since is None:
            call = replace(call, since=self._clock())
        if index is None:
            self._stop_stream()
            self._calls[call.id] = len(self._entries)
            self._append(call)
            return
        self._replace(index, call)

    def call(self, call_id: str) -> Call | None:
        """Return a call as it stands."""
        index = self._calls.get(call_id)
        entry = None if index is None else self._entries[index]
        return entry if isinstance(entry, Call) else None

    def running(self, question: Question) -> str:
        """Return the id of the running call that a question is about, or nothing."""
        for entry in reversed(self._entries):
            if isinstance(entry, Call) and entry.state is CallState.RUNNING:
                if entry.name == question.tool and entry.title == question.title:
                    return entry.id
            elif isinstance(entry, Said):
                break
        return ""

    def add_output(self, call_id: str, text: str) -> None:
        """Add a piece of output of a running call."""
        call = self.call(call_id)
        if call is not None:
            output = (call.output + text)[-2 * LIVE_CHARS :]
            self._replace(self._calls[call_id], replace(call, output=output))

    def settle_calls(self) -> None:
        """Show calls without a result as what did not run: the run is over."""
        for index in self._calls.values():
            entry = self._entries[index]
            if isinstance(entry, Call) and entry.result is None:
                self._replace(index, replace(entry, state=CallState.WAITING))

    def turn(self, frame: int) -> None:
        """Turn the marks of running calls."""
        now = self._clock()
        for row in self._rows.values():
            if isinstance(row, ToolCallRow) and row.running:
                row.turn(frame, now)

    def watch_details(self) -> None:
        """Open or close everything that is mounted."""
        self._opened.clear()
        for row in self._rows.values():
            if isinstance(row, ToolCallRow | ThoughtRow):
                row.opened = self.details

    def watch_following(self) -> None:
        """There is nothing new below for who sees the end."""
        if self.following:
            self.news = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Notice whether the end is in view, and mount what comes near."""
        super().watch_scroll_y(old_value, new_value)
        self.following = not self._anchor_released or self.is_vertical_scroll_end
        if new_value != old_value:
            self._near_edges(up=new_value < old_value, down=new_value > old_value)

    def _near_edges(self, *, up: bool = True, down: bool = True) -> None:
        """Mount more where the view comes near what is mounted."""
        if up and self.scroll_y <= NEAR and self._first > 0:
            self._move(self._mount_earlier)
        elif down and self._cut_below and self._lines_below() <= NEAR:
            self._move(self._mount_later)

    def action_cursor(self, by: int) -> None:
        """Move through an entry that is higher than the view, then to the next one."""
        rows = [row for _, row in sorted(self._rows.items()) if row.can_focus]
        view = range(self.scroll_offset.y, self.scroll_offset.y + self.size.height)
        at = next((i for i, row in enumerate(rows) if row.has_focus), None)
        if at is None:
            seen = [
                row
                for row in rows
                if row.virtual_region.y < view.stop and row.virtual_region.bottom > view.start
            ]
            if seen:
                (seen[-1] if by < 0 else seen[0]).focus(scroll_visible=False)
            return
        row = rows[at]
        if isinstance(row, ToolCallRow) and row.scroll_lines(by * STEP):
            return
        region = row.virtual_region
        edge = region.y if by < 0 else region.bottom - 1
        if edge not in view or not 0 <= at + by < len(rows):
            self.scroll_relative(y=by * STEP, animate=False)
            return
        rows[at + by].focus(scroll_visible=False)
        self._show_part(rows[at + by].virtual_region, by)

    def _show_part(self, region: Region, by: int) -> None:
        """Bring the near end of an entry into view."""
        top, height = self.scroll_offset.y, self.size.height
        if by < 0 and region.y < top:
            self.scroll_to(y=max(region.y, region.bottom - height), animate=False)
        elif by > 0 and region.bottom > top + height:
            self.scroll_to(y=min(region.bottom - height, region.y), animate=False)

    def key_c(self, event: events.Key) -> None:
        """Copy the entry that has the focus."""
        index = next((i for i, row in self._rows.items() if row.has_focus), None)
        if index is not None:
            event.stop()
            self.post_message(self.Copied(self.text_of(index)))

    def text_of(self, index: int) -> str:
        """Return what is copied of an entry; of an answer, all of its parts."""
        match self._entries[index]:
            case Answer():
                return join(entry.text for entry in self._answer(index)[1])
            case Said(text) | Thought(text) | Turn(text):
                return text
            case Notice(text, hint):
                return f"{text}\n{hint}".strip()
            case Call() as call:
                return plain(call.display.body) or call.title

    def on_fence_copied(self, event: Fence.Copied) -> None:
        """Copy a whole code block, also where it is cut into several for the screen."""
        event.stop()
        for index, row in self._rows.items():
            if isinstance(row, ModelMessage) and event.fence in row.query(Fence):
                at, answer = self._answer(index)
                texts = [entry.text for entry in answer]
                self.post_message(self.Copied(block_at(texts, at, row.number_of(event.fence))))
                return

    def _answer(self, index: int) -> tuple[int, Sequence[Answer]]:
        """Return the parts of an answer, and which of them an entry is."""
        first = stop = index
        while first > 0 and isinstance(self._entries[first - 1], Answer):
            first -= 1
        while stop < len(self._entries) and isinstance(self._entries[stop], Answer):
            stop += 1
        return index - first, [e for e in self._entries[first:stop] if isinstance(e, Answer)]

    def to_turn(self, by: int) -> None:
        """Go to the previous or the next message of the person."""
        turns = [i for i, e in enumerate(self._entries) if isinstance(e, Said) and not e.note]
        here = self._here()
        if by < 0:
            found = next((i for i in reversed(turns) if i < here), None)
        else:
            found = next((i for i in turns if i > here), None)
        if found is not None:
            self._go(self._to_entry(found))
        elif by > 0:
            self.follow()

    def _here(self) -> int:
        """Return the entry that one looks at: the one jumped to, or the first in view."""
        if self._turn is not None and self._turn[1] == self.scroll_y:
            return self._turn[0]
        if self.following:
            return len(self._entries)
        top = self.scroll_offset.y
        below = (i for i, row in sorted(self._rows.items()) if row.virtual_region.y >= top)
        return next(below, self._stop)

    async def _to_entry(self, index: int) -> None:
        await self._bring(index)
        self._scroll_into_view(index, 0, at=0.0)
        self._turn = (index, self.scroll_y)

    async def find(self, find: Find | None) -> None:
        """Let everything that a query finds stand out, mounted now or later."""
        self._find = find
        for index, row in self._rows.items():
            self._mark(index, row)

    async def to_hit(self, hit: Hit) -> None:
        """Go to what was found: open what hides it, and let it stand out."""
        await self._bring(hit.entry)
        if self._find is None:
            return
        if self._found_open not in (None, hit.entry):
            self._close_found()
        row = self._rows[hit.entry]
        folded = isinstance(row, ToolCallRow | ThoughtRow) and not row.opened
        self._find = replace(self._find, chosen=hit.place)
        self._find_entry = hit.entry
        for index, other in self._rows.items():
            self._mark(index, other)
        if not isinstance(row, NoticeBlock | TurnLine):
            row.reveal(hit.place)
        if folded and isinstance(row, ToolCallRow | ThoughtRow) and row.opened:
            self._found_open = hit.entry
        await self._laid_out()
        inside = 0 if isinstance(row, NoticeBlock | TurnLine) else row.reveal(hit.place)
        self._scroll_into_view(hit.entry, inside, at=0.4)

    def keep_found(self) -> None:
        """Leave open what the search opened last."""
        self._found_open = None

    def _close_found(self) -> None:
        index, self._found_open = self._found_open, None
        row = None if index is None else self._rows.get(index)
        if isinstance(row, ToolCallRow | ThoughtRow):
            row.opened = False
        elif index is not None:
            self._opened.discard(index)

    def _mark(self, index: int, row: Row) -> None:
        if isinstance(row, NoticeBlock | TurnLine):
            return
        find = self._find
        if find is not None and index != self._find_entry:
            find = replace(find, chosen=None)
        row.find(find)

    async def _bring(self, index: int) -> None:
        """Mount what is around an entry, if it is not mounted."""
        if index not in self._rows:
            async with self._lock:
                first = self._back(index, PAGE)
                await self._mount_range(first, self._forth(index, WINDOW))
                self.release_anchor()
        await self._laid_out()

    async def _laid_out(self) -> None:
        """Wait until everything that is mounted has its place."""
        done = asyncio.Event()
        if not self.call_after_refresh(done.set):
            return
        await done.wait()

    def _scroll_into_view(self, index: int, inside: int, *, at: float) -> None:
        """Scroll a row of an entry to a part of the view's height, if it is not in view."""
        row = self._rows.get(index)
        if row is None:
            return
        y = row.virtual_region.y + inside
        if at == 0.0 or not self.scroll_offset.y <= y < self.scroll_offset.y + self.size.height - 1:
            self.scroll_to(y=y - int(at * self.size.height), animate=False, immediate=True)
        self.following = self.is_vertical_scroll_end and not self._cut_below
        self._near_edges()

    def _go(self, work: Coroutine[None, None, None]) -> None:
        self.run_worker(work, group="go", exclusive=True)

    def page(self, by: int) -> None:
        """Scroll by pages."""
        self.scroll_relative(y=by * max(self.size.height - 2, 1), animate=False)

    def to_start(self) -> None:
        """Scroll to the first thing that is mounted; more comes as one goes on."""
        self.scroll_home(animate=False)

    def follow(self) -> None:
        """Go to the end soon, and follow it again."""
        self.run_worker(self.to_end(), group="move")

    async def to_end(self) -> None:
        """Go to the end and follow it again."""
        if self._cut_below:
            await self._mount_end()
        self.following = True
        self.anchor()

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Offer a link's address instead of following it."""
        event.stop()
        self.post_message(self.LinkChosen(event.href))

    @property
    def _cut_below(self) -> bool:
        return self._stop < len(self._entries)

    def _lines_below(self) -> int:
        return int(self.max_scroll_y - self.scroll_y)

    def _stream_into(self, kind: type[Answer | Thought], text: str) -> None:
        index = self._stream
        if index is None or not isinstance(self._entries[index], kind):
            if not text.strip():
                return
            self._stop_stream()
            index = len(self._entries)
            self._stream_text = ""
            self._stream_since = self._clock()
        first, *more = self._cut(kind, self._stream_text + text)
        if index < len(self._entries):
            self._replace(index, self._streamed(kind, first))
        else:
            self._append(self._streamed(kind, first))
        for piece in more:
            self._append(self._streamed(kind, piece))
        self._stream, self._stream_text = len(self._entries) - 1, more[-1] if more else first

    @staticmethod
    def _cut(kind: type[Answer | Thought], text: str) -> list[str]:
        return pieces(text) if kind is Answer else [text]

    def _streamed(self, kind: type[Answer | Thought], text: str) -> Answer | Thought:
        if kind is Answer:
            return Answer(text)
        return Thought(text, self._clock() - self._stream_since, growing=True)

    def _stop_stream(self) -> None:
        index, self._stream = self._stream, None
        entry = None if index is None else self._entries[index]
        if index is not None and isinstance(entry, Thought):
            took = self._clock() - self._stream_since
            self._replace(index, replace(entry, seconds=took, growing=False))

    def _append(self, entry: Entry) -> None:
        cut = self._cut_below
        self._entries.append(entry)
        self.news = not self.following
        if not cut:
            self._stop = len(self._entries)
            self._changed.add(self._stop - 1)
            self._paint_soon()

    def _replace(self, index: int, entry: Entry) -> None:
        if self._entries[index] == entry:
            return
        self._entries[index] = entry
        self.news = not self.following
        if index in self.mounted:
            self._changed.add(index)
            self._paint_soon()

    def _paint_soon(self) -> None:
        if not self._painting:
            self._painting = True
            self.run_worker(self._paint(), group="paint")

    async def _paint(self) -> None:
        """Show what changed, then rest: longer, the longer it took."""
        try:
            while self._changed and self.is_attached:
                started = time.perf_counter()
                async with self._lock:
                    await self._show_changes()
                took = time.perf_counter() - started
                await asyncio.sleep(max(PAINT_SECONDS, took * PATIENCE))
        finally:
            self._painting = False

    async def _show_changes(self) -> None:
        with self.app.batch_update():
            if self.following:
                await self._forget_far()
            changed, self._changed = sorted(self._changed), set()
            fresh: list[Row] = []
            room = BATCH
            for index in changed:
                row = self._rows.get(index)
                if row is not None:
                    await _update(row, self._entries[index])
                elif room > 0:
                    room -= weight(self._entries[index])
                    fresh.append(self._make(index))
                else:
                    self._changed.add(index)
            if fresh:
                self._banner.display = False
                await self.mount_all(fresh)

    async def _forget_far(self) -> None:
        """Drop, or never mount, what is far above the end that is in view."""
        if sum(weight(self._entries[index]) for index in self.mounted) <= WINDOW + PAGE:
            return
        first = self._back(self._stop, WINDOW)
        self._changed -= set(range(self._first, first))
        await self._drop(range(self._first, first))

    def _make(self, index: int) -> Row:
        row = _row(self._entries[index], self._marks)
        if isinstance(row, ToolCallRow | ThoughtRow) and (self.details or index in self._opened):
            row.set_reactive(type(row).opened, True)  # noqa: FBT003 -- Textual's signature
        if self._find is not None:
            self._mark(index, row)
        self._rows[index] = row
        return row

    async def _mount_end(self) -> None:
        async with self._lock:
            await self._mount_range(self._back(len(self._entries), WINDOW), len(self._entries))
        self.anchor()
        self.call_after_refresh(self._fill)

    async def _mount_range(self, first: int, stop: int) -> None:
        """Mount a range in the place of what is mounted."""
        self._keep_opened(self._rows)
        rows = list(self._rows.values())
        self._rows = {}
        self._changed.clear()
        self._first, self._stop = first, stop
        made = [self._make(index) for index in self.mounted]
        with self.app.batch_update():
            self._banner.display = not made
            for row in rows:
                await row.remove()
            await self.mount_all(made)

    def _keep_opened(self, indices: Iterable[int]) -> None:
        """Remember which rows are open that go out of sight."""
        for index in indices:
            row = self._rows[index]
            if isinstance(row, ToolCallRow | ThoughtRow) and row.opened and not self.details:
                self._opened.add(index)
            else:
                self._opened.discard(index)

    def _fill(self) -> None:
        """Mount more where the entries do not fill the view."""
        if self._first > 0 and self.max_scroll_y <= NEAR:
            self._move(self._mount_earlier)

    async def _mount_earlier(self) -> None:
        async with self._lock:
            first = self._back(self._first, PAGE)
            made = [self._make(index) for index in range(first, self._first)]
            place = self._rows[self._first]
            before = place.virtual_region.y
            self._first = first
            with self.app.batch_update():
                await self.mount_all(made, before=place)
                last = self._forth(self._first, 2 * WINDOW)
                if last < self._stop and not self.following:
                    await self._drop(range(last, self._stop))
        self.call_after_refresh(self._keep_place, place, before)

    def _keep_place(self, row: Row, before: int) -> None:
        """Leave the lines that were in view where they were."""
        grown = row.virtual_region.y - before
        self.scroll_relative(y=grown, animate=False, force=True, immediate=True)
        self._moving = False
        self._fill()

    async def _mount_later(self) -> None:
        async with self._lock:
            first, self._stop = self._stop, self._forth(self._stop, PAGE)
            await self.mount_all([self._make(index) for index in range(first, self._stop)])
        self._moving = False

    def _back(self, stop: int, amount: int) -> int:
        """Return where to begin so that entries of a weight stand before `stop`."""
        while stop > 0 and amount > 0:
            stop -= 1
            amount -= weight(self._entries[stop])
        return stop

    def _forth(self, first: int, amount: int) -> int:
        """Return where entries of a weight from `first` on end."""
        while first < len(self._entries) and amount > 0:
            amount -= weight(self._entries[first])
            first += 1
        return first

    def _move(self, mount: Callable[[], Coroutine[None, None, None]]) -> None:
        if not self._moving:
            self._moving = True
            self.run_worker(mount(), group="move")

    async def _drop(self, indices: range) -> None:
        self._keep_opened(index for index in indices if index in self._rows)
        rows = [self._rows.pop(index) for index in indices if index in self._rows]
        if indices.start == self._first:
            self._first = indices.stop
        else:
            self._stop = indices.start
            self._changed -= set(indices)
        for row in rows:
            await row.remove()


async def _update(row: Row, entry: Entry) -> None:
    match row, entry:
        case ModelMessage(), Answer():
            await row.show(entry)
        case UserMessage(), Said():
            row.show(entry)
        case ThoughtRow(), Thought():
            row.show(entry)
        case ToolCallRow(), Call():
            row.show(entry)
        case NoticeBlock(), Notice():
            row.show(entry)
        case TurnLine(), Turn():
            row.show(entry)
        case _:
            raise TypeError(f"{type(row).__name__} cannot show {type(entry).__name__}")


def _row(entry: Entry, marks: Marks) -> Row:
    match entry:
        case Said():
            return UserMessage(entry)
        case Answer():
            return ModelMessage(entry)
        case Thought():
            return ThoughtRow(entry, marks)
        case Call():
            return ToolCallRow(entry, marks)
        case Notice():
            return NoticeBlock(entry)
        case Turn():
            return TurnLine(entry)
        case _:
            assert_never(entry)
