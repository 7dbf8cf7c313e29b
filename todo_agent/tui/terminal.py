"""The sequences we send to the terminal ourselves. Nothing foreign gets into them raw."""

from __future__ import annotations

from textual import _ansi_sequences
from textual.keys import Keys

from todo_agent.tui.text import fit, literal

SAVE_TITLE = "\x1b[22;2t"
RESTORE_TITLE = "\x1b[23;2t"
BELL = "\x07"
TITLE_CELLS = 80


def title(text: str) -> str:
    """Return the sequence that sets the window's title."""
    return f"\x1b]2;{fit(literal(text), TITLE_CELLS)}\x07"


def notification(text: str) -> str:
    """Return the sequence that many terminals show as a desktop notification."""
    return f"\x1b]9;{fit(literal(text), TITLE_CELLS)}\x07"


def read_alt_enter() -> None:
    """Let Alt+Enter begin a new line in terminals that send it as Escape and Enter.

    Textual takes the pair for a plain Enter, which would send the draft.
    """
    sequences = _ansi_sequences.ANSI_SEQUENCES_KEYS
    if isinstance(sequences, dict):
        sequences["\x1b\r"] = (Keys.ControlJ,)
