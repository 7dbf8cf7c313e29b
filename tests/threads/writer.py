"""A process that writes a thread: `python writer.py ROOT ID hold|write`.

`hold` opens the thread, says so, and waits for its input to end. `write` commits one
message after another and says which are committed.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path

from todo_agent.agent.conversation import Commit
from todo_agent.agent.messages import user
from todo_agent.threads.store import Thread, ThreadStore


async def write(thread: Thread) -> None:
    begin = len(thread.conversation.messages)
    for number in count(begin):
        await thread.conversation.commit(Commit((user(f"message {number} " + "x" * 2000),)))
        print(number, flush=True)


def main() -> None:
    root, thread_id, task = sys.argv[1:]
    thread = ThreadStore(Path(root)).open(thread_id)
    if task == "write":
        asyncio.run(write(thread))
    print("open", flush=True)
    sys.stdin.read()
    thread.close()


main()
