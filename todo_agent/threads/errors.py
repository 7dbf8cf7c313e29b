"""What can go wrong with a stored thread, said so that a person can act on it."""

from __future__ import annotations

from todo_agent.errors import TodoAgentError


class ThreadError(TodoAgentError):
    """A thread cannot be found, opened or changed."""


class ThreadBusyError(ThreadError):
    """Another process writes this thread."""


class SaveError(OSError):
    """A commit could not be stored; the journal is as it was before."""
