"""A conversation in memory: its messages, its state, and the one way to change them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias
from uuid import uuid4

from todo_agent.agent.history import append, repair_message
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message
from todo_agent.agent.provider import NO_USAGE, Usage
from todo_agent.agent.state import NO_UPDATE, Key, State, Update, restoring

By: TypeAlias = Literal["model", "user", "restore"]


def _object(data: Json) -> dict[str, Json]:
    if not isinstance(data, dict):
        raise ValueError("extra is a JSON object")
    return dict(data)


def _same(extra: dict[str, Json]) -> Json:
    return extra


EXTRA: Key[dict[str, Json]] = Key("extra", {}, to_json=_same, from_json=_object)


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of a conversation. It is applied whole or not at all."""

    messages: tuple[Message, ...] = ()
    update: Update = NO_UPDATE
    usage: Usage = NO_USAGE
    """Of one model call, with the size of its context."""
    keep: int | None = None
    """First forget all but so many messages: a blocked turn, a rewind."""
    by: By = "model"
    context_tokens: int | None = None
    """How full the context is from now on; None: as the usage says."""

    def __bool__(self) -> bool:
        return bool(self.messages or self.update or self.usage != NO_USAGE or self.keep is not None)


Record: TypeAlias = Callable[[Commit], Awaitable[None]]
"""Stores a commit durably, or raises."""
Show: TypeAlias = Callable[[Commit], None]


def _to_nobody(commit: Commit) -> None:
    """Show a commit to nobody."""


async def _in_memory(commit: Commit) -> None:
    """Keep nothing beyond the process."""


class Conversation:
    """Messages, state and usage of one thread.

    Everything changes through `commit`, which first awaits `record` and then applies, so
    what can be seen here is on disk. `extra` is a live dict; whatever is in it at a commit
    is committed along.
    """

    def __init__(
        self,
        conversation_id: str | None = None,
        *,
        messages: tuple[Message, ...] = (),
        state: State | None = None,
        usage: Usage = NO_USAGE,
        context_tokens: int = 0,
        record: Record = _in_memory,
    ) -> None:
        self.id = conversation_id or uuid4().hex
        self.messages = messages
        self.state = state or State()
        self.usage = usage
        self.context_tokens = context_tokens
        extra: dict[str, Json] = self.state[EXTRA]
        self.extra = extra.copy()
        self._saved_extra = json.dumps(self.extra, sort_keys=True)
        self.record = record
        self.running = False
        """Whether a run of it is under way; there is one at a time (S2-55)."""
        self._lock = asyncio.Lock()

    async def commit(self, commit: Commit, show: Show = _to_nobody) -> Commit:
        """Record a commit, apply it, show it, and return it as it was applied.

        All of it happens even when the caller is cancelled meanwhile.

        Raises:
            OSError: it could not be recorded; nothing changed.
        """
        task = asyncio.ensure_future(self._commit(commit, show))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    async def restore(self, *, keep: int, state: State, show: Show = _to_nobody) -> Commit:
        """Go back to the first `keep` messages and an earlier state, `extra` included."""
        extra: dict[str, Json] = state[EXTRA]
        self.extra.clear()
        self.extra.update(extra)
        update = restoring(state, self.state)
        return await self.commit(Commit(keep=keep, update=update, by="restore"), show)

    async def _commit(self, commit: Commit, show: Show) -> Commit:
        async with self._lock:
            extra = json.dumps(self.extra, sort_keys=True)
            applied = self._prepare(commit, extra)
            if not applied:
                return applied
            await self.record(applied)
            self._saved_extra = extra
            self._apply(applied)
            show(applied)
            return applied

    def _prepare(self, commit: Commit, extra: str) -> Commit:
        messages = (repair_message(message) for message in commit.messages)
        update = commit.update
        if extra != self._saved_extra:
            update = update | EXTRA.set(json.loads(extra))
        return replace(commit, messages=tuple(m for m in messages if m.content), update=update)

    def _apply(self, commit: Commit) -> None:
        if commit.keep is not None:
            self.messages = self.messages[: commit.keep]
        for message in commit.messages:
            self.messages = append(self.messages, message)
        self.state = self.state.apply(commit.update)
        self.usage = self.usage + commit.usage
        if commit.context_tokens is not None:
            self.context_tokens = commit.context_tokens
        elif commit.usage != NO_USAGE:
            self.context_tokens = commit.usage.context_tokens
