"""The errors a person reads."""

from __future__ import annotations


class TodoAgentError(Exception):
    """Something the user can understand and act on; the message is complete in itself."""


class ConfigError(TodoAgentError):
    """The configuration, the environment or the command line is wrong."""
