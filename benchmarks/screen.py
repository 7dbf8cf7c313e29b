"""Typing while an answer streams, in short and long threads: `python benchmarks/screen.py`."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from textual import events

from tests.tui.stand_in import StandIn
from tests.tui.support import Screen, screen
from todo_agent.agent.events import TextDelta
from todo_agent.agent.messages import Message, Text, ToolResult, ToolUse, assistant, user

LENGTHS = (30, 3000)
KEYS = 60
DELTAS_PER_SECOND = 50
MARKDOWN_BYTES = 200_000


def main() -> None:
    baseline: dict[str, float] = {}
    for length in LENGTHS:
        opened, keys = asyncio.run(measure(length))
        quantiles = statistics.quantiles(keys, n=20)
        row = {"open": opened, "key p50": quantiles[9], "key p95": quantiles[18]}
        for name, seconds in row.items():
            ratio = seconds / baseline.setdefault(name, seconds)
            print(f"{length:>6} messages  {name:<8} {seconds * 1000:8.1f} ms  {ratio:5.2f} x")
    wall, cpu, longest = asyncio.run(stream_markdown())
    print(f"{MARKDOWN_BYTES // 1000} KB of Markdown: {wall:.1f} s, {cpu:.1f} s of a core, ", end="")
    print(f"longest wait for a key {longest * 1000:.0f} ms")


async def measure(length: int) -> tuple[float, list[float]]:
    """Return how long a thread takes to open, and a key to be painted while text streams."""
    session = StandIn(messages=history(length))
    began = time.perf_counter()
    async with screen(session) as shown:
        opened = time.perf_counter() - began
        session.begin("go")
        streaming = asyncio.create_task(stream(session))
        keys = [await paint_key(shown) for _ in range(KEYS)]
        streaming.cancel()
        session.end()
    return opened, keys


async def stream(session: StandIn) -> None:
    words = 0
    while True:
        words += 1
        session.emit(TextDelta(f"word{words} " + ("\n\n" if words % 20 == 0 else "")))
        await asyncio.sleep(1 / DELTAS_PER_SECOND)


async def paint_key(shown: Screen) -> float:
    """Press a key and return the seconds until the prompt shows it."""
    before = len(shown.app.prompt.draft)
    began = time.perf_counter()
    shown.app.post_message(events.Key("a", "a"))
    while len(shown.app.prompt.draft) == before:  # noqa: ASYNC110 -- every turn of the loop counts
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    return time.perf_counter() - began


async def stream_markdown() -> tuple[float, float, float]:
    """Stream a long answer; return seconds of the clock and of a core, and the slowest key."""
    session = StandIn()
    paragraph = (
        "## Part\n\nSome **bold** text, `code` and [a link](https://x.example).\n\n- one\n- two\n\n"
    )
    pieces = MARKDOWN_BYTES // len(paragraph)
    async with screen(session) as shown:
        session.begin("go")
        wall, cpu, slowest = time.perf_counter(), time.process_time(), 0.0
        for number in range(pieces):
            session.emit(TextDelta(paragraph))
            await asyncio.sleep(0)
            if number % 200 == 0:
                slowest = max(slowest, await paint_key(shown))
        await shown.settled()
        session.end()
        return time.perf_counter() - wall, time.process_time() - cpu, slowest


def history(length: int) -> tuple[Message, ...]:
    messages: list[Message] = []
    for number in range(length // 4):
        call = ToolUse(f"t{number}", "read", {"path": f"src/file{number}.py"})
        messages += [
            user(f"question {number}"),
            assistant(Text(f"Let me look at **file {number}**."), call),
            Message("user", (ToolResult(call.id, (Text("content\n" * 20),)),)),
            assistant(Text(f"It is fine.\n\n- point {number}\n- another")),
        ]
    return tuple(messages)


if __name__ == "__main__":
    main()
