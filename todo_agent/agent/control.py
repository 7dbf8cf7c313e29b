"""A person's hand on a running turn: steer it, or stop it."""

from __future__ import annotations

import asyncio

from todo_agent.agent.messages import Message


class Control:
    """Holds what a person typed meanwhile, and stops the run on demand.

    One belongs to one run. It may be used before the run starts and after it ended.
    """

    def __init__(self) -> None:
        self._waiting: list[Message] = []
        self._task: asyncio.Task[object] | None = None
        self._interrupted = False

    @property
    def waiting(self) -> tuple[Message, ...]:
        """What the next step will deliver, in order."""
        return tuple(self._waiting)

    @property
    def interrupted(self) -> bool:
        """Whether the run was asked to stop."""
        return self._interrupted

    def steer(self, message: Message) -> None:
        """Queue a message for the next step."""
        self._waiting.append(message)

    def unqueue(self) -> Message | None:
        """Take back the newest message that waits, if any."""
        return self._waiting.pop() if self._waiting else None

    def take(self) -> tuple[Message, ...]:
        """Hand out everything that waits."""
        taken = self.waiting
        self._waiting.clear()
        return taken

    def interrupt(self) -> None:
        """Stop the run at once, wherever it is."""
        self._interrupted = True
        if self._task is not None:
            self._task.cancel()

    def attach(self, task: asyncio.Task[object]) -> None:
        """Name the task that an interrupt cancels. The loop calls this."""
        self._task = task
        if self._interrupted:
            task.cancel()
