"""Keeps a conversation going when the disk does not: failed commits wait and are tried again."""

from __future__ import annotations

from collections.abc import Callable

from todo_agent.agent.conversation import Commit, Record


class Saving:
    """A `Record` that never fails: what cannot be written now is written later, in order.

    Args:
        record: writes one commit, or raises OSError.
        changed: told whenever `problem` changes.
    """

    def __init__(self, record: Record, changed: Callable[[str], None]) -> None:
        self._record = record
        self._changed = changed
        self._waiting: list[Commit] = []
        self._problem = ""

    @property
    def problem(self) -> str:
        """Why the last commits are not on disk; empty when all are."""
        return self._problem

    async def __call__(self, commit: Commit) -> None:
        """Write the commit behind those that still wait."""
        self._waiting.append(commit)
        await self.retry()

    async def retry(self) -> None:
        """Write everything that waits."""
        try:
            while self._waiting:
                await self._record(self._waiting[0])
                del self._waiting[0]
        except OSError as error:
            self._tell(str(error))
        else:
            self._tell("")

    def _tell(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self._changed(problem)
