"""How a run ends: whatever stops it, the conversation can be sent again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from todo_agent.agent.calls import Stopped
from todo_agent.agent.conversation import Commit
from todo_agent.agent.events import MessageAdded, RunFinished, ToolFinished
from todo_agent.agent.history import INTERRUPTED, close_calls, open_calls
from todo_agent.agent.outcomes import Failed, Interrupted, LimitReached, RunEnd
from todo_agent.agent.provider import ProviderError
from todo_agent.agent.run import Run
from todo_agent.agent.stack import MiddlewareError, UndeclaredKeyError, guarded

INTERRUPTED_CALL = "Interrupted by the user before it finished."


async def closed(run: Run, body: Callable[[], Awaitable[RunEnd]]) -> RunEnd:
    """Run the body so that an error, an interrupt or a cancellation ends it cleanly.

    It is refused, without any hook, while another run of the conversation is under way
    (S2-55).

    Raises:
        asyncio.CancelledError: the caller was cancelled; the run is closed first.
    """
    conversation = run.conversation
    if conversation.running:
        text = "A run of this conversation is under way. Steer it, or wait for its end."
        return Failed(text, kind="usage")
    conversation.running = True
    try:
        return await _closed(run, body)
    finally:
        conversation.running = False


async def answer_open_calls(run: Run, reason: str = INTERRUPTED) -> None:
    """Answer the calls that never got a result, so that the conversation can be sent."""
    calls = open_calls(run.messages)
    if not calls:
        return
    message = close_calls(calls, reason)
    finished = [
        ToolFinished(call.id, call.name, result, seconds=0.0)
        for call, result in zip(calls, message.results, strict=True)
    ]
    await run.commit(Commit((message,)), with_events=finished)
    run.emit(MessageAdded(run.messages[-1], len(run.messages) - 1))


async def _closed(run: Run, body: Callable[[], Awaitable[RunEnd]]) -> RunEnd:
    task = asyncio.ensure_future(body())
    run.control.attach(task)
    cancelled: asyncio.CancelledError | None = None
    try:
        end = await task
    except asyncio.CancelledError as error:
        end = Interrupted()
        caller = asyncio.current_task()
        cancelled = error if caller is not None and caller.cancelling() else None
    except Exception as error:  # noqa: BLE001 -- names who failed; the thread stays usable
        end = _end_of(error)
    closing = asyncio.ensure_future(_close(run, end))
    while not closing.done():
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return closing.result()


async def _close(run: Run, end: RunEnd) -> RunEnd:
    """Answer what is open, tell every middleware, store what they left, and show the end."""
    try:
        if isinstance(end, Interrupted):
            await answer_open_calls(run, INTERRUPTED_CALL)
    except Exception as error:  # noqa: BLE001 -- an end that cannot be stored is a failed one
        end = _end_of(error)
    for item in run.stack.middleware:
        try:
            await guarded(item, item.on_end, run, end)
        except Exception as error:  # noqa: BLE001 -- every other middleware still hears of it
            end = end if isinstance(end, Failed) else _end_of(error)
    try:
        await run.commit(Commit())
    except Exception as error:  # noqa: BLE001 -- an end that cannot be stored is a failed one
        end = end if isinstance(end, Failed) else _end_of(error)
    run.emit(RunFinished(end))
    return end


def _end_of(error: Exception) -> RunEnd:
    match error:
        case Stopped(end=end):
            return end
        case ProviderError():
            return Failed(str(error), kind=error.kind, by="model", error=error)
        case LimitReached():
            return Failed(str(error), kind="limit")
        case MiddlewareError():
            return Failed(str(error), kind="middleware", by=error.name, error=error.error)
        case UndeclaredKeyError():
            return Failed(str(error), kind="middleware", by=error.name, error=error)
        case OSError():
            return Failed(f"The thread could not be saved: {error}", kind="storage", error=error)
        case _:
            text = f"{type(error).__name__}: {error}"
            return Failed(text, kind="error", by=type(error).__name__, error=error)
