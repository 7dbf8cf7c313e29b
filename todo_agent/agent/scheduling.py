"""One message's calls: together where they may, in turn where they share a lock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from todo_agent.agent.tools import Locks


async def run_together(locks: Sequence[Locks], run: Callable[[int], Awaitable[None]]) -> None:
    """Run one call per entry of `locks`; a call waits for every earlier one it conflicts with.

    They start in order. When one raises, or the caller is cancelled, the others are
    cancelled and awaited before the exception goes on.
    """
    done = [asyncio.Event() for _ in locks]

    async def one(index: int) -> None:
        for earlier in range(index):
            if locks[earlier].conflicts(locks[index]):
                await done[earlier].wait()
        await run(index)
        done[index].set()

    tasks = [asyncio.ensure_future(one(index)) for index in range(len(locks))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
