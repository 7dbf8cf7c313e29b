"""A provider that is loaded when it is first needed, and one that cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from todo_agent.agent.provider import (
    ModelDelta,
    ModelRequest,
    ModelResponse,
    Provider,
    ProviderError,
)


class CountingProvider(Provider, Protocol):
    """A provider that also counts."""

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return how many input tokens a request has.

        Raises:
            ProviderError: they cannot be counted.
        """
        ...


class LateProvider:
    """Builds the real provider in a thread, once, however many ask for it at a time.

    Where it cannot be built, every request says why.
    """

    def __init__(self, build: Callable[[], CountingProvider]) -> None:
        self._build = build
        self._provider: asyncio.Future[CountingProvider] | None = None

    async def ready(self) -> CountingProvider:
        """Return the real provider, built by now."""
        if self._provider is None:
            self._provider = asyncio.ensure_future(asyncio.to_thread(self._built))
        return await asyncio.shield(self._provider)

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Ask the real provider (see `Provider`)."""
        return await (await self.ready()).stream(request, on_delta)

    async def count_tokens(self, request: ModelRequest) -> int:
        """Ask the real provider (see `CountingProvider`)."""
        return await (await self.ready()).count_tokens(request)

    def _built(self) -> CountingProvider:
        try:
            return self._build()
        except (ImportError, ValueError) as error:
            return MissingProvider(str(error), kind="configuration")


class MissingProvider:
    """Stands where there is nobody to ask: a thread can be read, but no request is answered.

    Args:
        reason: why, and what to do.
        kind: what the failing requests are called (see `ProviderError`).
    """

    def __init__(self, reason: str, *, kind: str = "auth") -> None:
        self._reason = reason
        self._kind = kind

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Say why there is nobody to ask (see `Provider`)."""
        raise ProviderError(self._reason, kind=self._kind)

    async def count_tokens(self, request: ModelRequest) -> int:
        """Say why there is nobody to ask (see `CountingProvider`)."""
        raise ProviderError(self._reason, kind=self._kind)
