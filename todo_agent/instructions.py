"""What a project says to agents that work in it: its AGENTS.md, read with care."""

from __future__ import annotations

import hashlib
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path

NAME = "AGENTS.md"
MAX_BYTES = 32_000
"""More than that is cut off, with a mark."""
CUT = "\n[cut: the file is longer than 32,000 bytes]"


@dataclass(frozen=True, slots=True)
class ProjectInstructions:
    """The text of a project's file, fit to be shown and sent."""

    path: Path
    text: str
    digest: str
    """Of the whole file as it is on disk."""


def read_instructions(project: Path) -> ProjectInstructions | None:
    """Return a project's instructions, or None where it has none that can be read.

    The file has to be a regular one inside the project. Characters that nobody sees are
    shown as escapes, so that what is read by a person is what the model reads.
    """
    path = project / NAME
    try:
        inside = path.resolve().is_relative_to(project.resolve())
        if not inside or not stat.S_ISREG(path.stat().st_mode):
            return None
        data = path.read_bytes()
    except OSError:
        return None
    head = data[:MAX_BYTES].decode("utf-8", "replace")
    text = "".join(_visible(c) for c in head).strip()
    if not text:
        return None
    digest = hashlib.sha256(data).hexdigest()
    return ProjectInstructions(path, text + (CUT if len(data) > MAX_BYTES else ""), digest)


def _visible(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char)[0] != "C":
        return char
    return "" if char == "\r" else f"\\u{ord(char):04x}"
