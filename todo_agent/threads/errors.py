"""What can go wrong with a thread on disk."""

from __future__ import annotations

from todo_agent.errors import TodoAgentError


class ThreadError(TodoAgentError):
    """A thread cannot be found, opened or changed; the message names it and the reason."""


class ThreadBusy(ThreadError):  # noqa: N818 -- a condition, not a fault
    """The thread is open in another process."""


def reason(error: OSError) -> str:
    """Return what the system says, without the numbers."""
    return error.strerror or str(error)


class NotSavedError(ThreadError, OSError):
    """A change is not on disk. The journal is as it was, so the same change can be tried again."""
