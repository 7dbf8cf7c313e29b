"""The events of a session, from many writers to one reader, in total order."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from todo_agent.agent.events import (
    Event,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    ToolOutput,
)


class EventStream:
    """A queue that never drops an event.

    Pieces of one text that the reader has not fetched yet are joined, so a slow reader
    costs no memory beyond the text itself.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._seq = 0
        self._waiting: deque[Event] = deque()
        self._ready = asyncio.Event()
        self._closed = False

    def put(self, event: Event) -> None:
        """Add an event at the end."""
        self._seq += 1
        joined = _joined(self._waiting[-1], event) if self._waiting else None
        if joined is not None:
            self._waiting[-1] = joined
        else:
            self._waiting.append(replace(event, seq=self._seq, at=self._clock()))
        self._ready.set()

    def close(self) -> None:
        """Let the reader end after what is still in the queue."""
        self._closed = True
        self._ready.set()

    async def read(self) -> AsyncIterator[Event]:
        """Yield the events until the stream is closed."""
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._closed:
                return
            self._ready.clear()
            await self._ready.wait()


def _joined(last: Event, event: Event) -> Event | None:
    match event:
        case TextDelta(text) if isinstance(last, TextDelta):
            return replace(last, text=last.text + text)
        case ThinkingDelta(text) if isinstance(last, ThinkingDelta):
            return replace(last, text=last.text + text)
        case ToolInputDelta(call_id=id_) if (
            isinstance(last, ToolInputDelta) and last.call_id == id_
        ):
            return replace(last, text=last.text + event.text)
        case ToolOutput(call_id=id_) if isinstance(last, ToolOutput) and last.call_id == id_:
            return replace(last, text=last.text + event.text)
        case _:
            return None
