"""What the program's exit status means."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The contract with scripts."""

    ANSWERED = 0
    FAILED = 1
    USAGE = 2
    """The command line or the configuration is wrong."""
    LIMIT = 3
    """A limit ended the run: turns, cost, or the length of the answer."""
    NEEDS_APPROVAL = 4
    """A call needed an approval that nobody could give."""
    DECLINED = 5
    """The model refused to answer."""
    NOT_DONE = 6
    """`--require-done`, and todos are open."""
    INTERRUPTED = 130
    TERMINATED = 143
