"""A provider that is loaded when it is first needed, and one that cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from todo_agent.agent.provider import (
    ModelDelta,
    ModelRequest,
    ModelResponse,
    Provider,
    ProviderError,
)


class LateProvider:
    """Builds the real provider in a thread, once, however many ask for it at a time."""

    def __init__(self, build: Callable[[], Provider]) -> None:
        self._build = build
        self._provider: asyncio.Future[Provider] | None = None

    async def ready(self) -> Provider:
        """Return the real provider, built by now."""
        if self._provider is None:
            self._provider = asyncio.ensure_future(asyncio.to_thread(self._build))
        return await asyncio.shield(self._provider)

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Ask the real provider (see `Provider`)."""
        return await (await self.ready()).stream(request, on_delta)


class MissingProvider:
    """Stands where no key is known: a thread can be read, but nobody answers."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Say why there is nobody to ask (see `Provider`)."""
        raise ProviderError(self._reason, kind="auth")
