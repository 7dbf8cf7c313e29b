"""What is piped into the program: read with a limit, and without hanging on a silent pipe."""

from __future__ import annotations

import select
import sys

from todo_agent.errors import ConfigError

MAX_BYTES = 10_000_000
PATIENCE = 0.5
"""Seconds to wait for the first byte of an input that is not needed."""


def piped_text(*, needed: bool) -> str:
    """Return what is piped in; nothing where the input is a terminal or closed.

    An input that is not `needed` is read only if it has data, or its end, within a moment;
    if it stays silent, a line on standard error says that it was left out.

    Raises:
        ConfigError: it is longer than the limit.
    """
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    source = sys.stdin.buffer
    try:
        if not needed and not select.select([source], [], [], PATIENCE)[0]:
            sys.stderr.write("todo-agent: standard input is open but silent; going on without.\n")
            return ""
        data = source.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        return ""
    if len(data) > MAX_BYTES:
        raise ConfigError(f"Standard input is longer than {MAX_BYTES} bytes.")
    return data.decode("utf-8", "replace")
