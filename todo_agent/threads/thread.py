"""One opened thread: its conversation, its header, and their way to the disk."""

from __future__ import annotations

import asyncio
import contextlib
import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from filelock import FileLock
from rich.cells import set_cell_size

from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.json import JsonObject
from todo_agent.threads.files import replace_private
from todo_agent.threads.journal import SCHEMA, Contents, Journal, usage_to_json

JOURNAL = "messages.jsonl"
CACHE = "thread.json"
TITLE_CELLS = 80


class Thread:
    """A thread that is open.

    What is committed to its `conversation` is in the journal before it is seen.
    `thread.json` follows it: written with every change of the state or the header, and at
    the end; it can always be made again.
    """

    def __init__(
        self,
        thread_id: str,
        contents: Contents,
        journal: Journal,
        *,
        cache: Path,
        notices: tuple[str, ...] = (),
        read_only: bool = False,
        lock: FileLock | None = None,
        take_lock: Callable[[], FileLock] | None = None,
    ) -> None:
        self.id = thread_id
        self.notices = notices
        self.read_only = read_only
        self._header = contents.header
        self._journal = journal
        self._cache = cache
        self._lock = lock
        self._take_lock = take_lock
        self._header_waits = take_lock is not None
        self.conversation = Conversation(
            thread_id,
            messages=contents.messages,
            state=contents.state,
            usage=contents.usage,
            context_tokens=contents.context_tokens,
            record=self._record,
        )

    @property
    def title(self) -> str:
        """Its title; empty before the first message."""
        return self._header.title

    @property
    def cwd(self) -> str:
        """The directory it was begun in."""
        return self._header.cwd

    @property
    def model(self) -> str:
        """The model that was asked last."""
        return self._header.model

    @property
    def mode(self) -> str:
        """The permission mode that was set last."""
        return self._header.mode

    @property
    def created(self) -> float:
        """When it was begun, in seconds since the epoch."""
        return self._header.created

    def rename(self, title: str) -> None:
        """Give it another title, on one line.

        Raises:
            SaveError: it could not be stored.
        """
        self._change(title=as_title(title))

    def set_model(self, model: str) -> None:
        """Remember the model for the next time.

        Raises:
            SaveError: it could not be stored.
        """
        self._change(model=model)

    def set_mode(self, mode: str) -> None:
        """Remember the permission mode for the next time.

        Raises:
            SaveError: it could not be stored.
        """
        self._change(mode=mode)

    def append_now(self, commit: Commit) -> None:
        """Commit to a thread that nobody uses yet. Blocks.

        Raises:
            SaveError: it could not be stored.
        """
        asyncio.run(self._append_now(commit))

    def close(self) -> None:
        """Bring `thread.json` up to date and give the thread free. Blocks."""
        if self._lock is None:
            return
        self._write_cache()
        self._lock.release()
        self._lock = None

    async def _append_now(self, commit: Commit) -> None:
        await self.conversation.commit(commit)

    async def _record(self, commit: Commit) -> None:
        await asyncio.to_thread(self._begin)
        if not self.title and (title := _title_of(commit)):
            self._header = replace(self._header, title=title)
            self._header_waits = True
        if self._header_waits:
            await asyncio.to_thread(self._append_header)
        await self._journal.record(commit)
        if commit.update or commit.keep is not None:
            state = self.conversation.state.apply(commit.update)
            await asyncio.to_thread(self._write_cache, state.to_json())

    def _begin(self) -> None:
        if self._take_lock is not None:
            self._lock = self._take_lock()
            self._take_lock = None

    def _change(self, **fields: str) -> None:
        changed = replace(self._header, **fields)  # type: ignore[arg-type]
        if changed == self._header:
            return
        self._header = changed
        self._header_waits = True
        if self._lock is not None:
            self._append_header()
            self._write_cache()

    def _append_header(self) -> None:
        self._journal.append("header", {"header": self._header.to_json()})
        self._header_waits = False

    def _write_cache(self, state: JsonObject | None = None) -> None:
        """Write `thread.json`. It is only a cache, so a full disk may keep an old one."""
        conversation = self.conversation
        data = {
            "schema": SCHEMA,
            "id": self.id,
            **self._header.to_json(),
            "updated": self._journal.last_at,
            "messages": len(conversation.messages),
            "usage": usage_to_json(conversation.usage),
            "context_tokens": conversation.context_tokens,
            "state": conversation.state.to_json() if state is None else state,
            "seq": self._journal.seq,
        }
        with contextlib.suppress(OSError):
            replace_private(self._cache, json.dumps(data, ensure_ascii=False, indent=1).encode())


def as_title(text: str) -> str:
    """Return the first line of a text that says something, safe to show, in 80 cells."""
    for line in text.splitlines():
        shown = "".join(c for c in line.strip() if unicodedata.category(c)[0] != "C")
        if shown:
            return set_cell_size(shown, TITLE_CELLS).rstrip()
    return ""


def _title_of(commit: Commit) -> str:
    for message in commit.messages:
        if message.role == "user" and not message.synthetic and message.text.strip():
            return as_title(message.text)
    return ""
