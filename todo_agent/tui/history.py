"""What was typed at the prompt, in a file that survives crashes."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

MAX_TEXTS = 1000
"""So many of the newest are offered."""
MAX_BYTES = 2_000_000
"""A larger file is cut down to the newest texts at the next start."""


class FileHistory:
    """A history (see `History`), one JSON text a line. Without a disk it lives in memory."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> list[str]:
        """Return the texts, oldest first; lines that are none are left out."""
        try:
            lines = self._file.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []
        texts = [text for line in lines[-MAX_TEXTS:] if (text := _text(line))]
        if sum(len(line) for line in lines) > MAX_BYTES:
            self._write("".join(f"{json.dumps(text)}\n" for text in texts), os.O_TRUNC)
        return texts

    def add(self, text: str) -> None:
        """Remember one more."""
        self._write(f"{json.dumps(text)}\n", os.O_APPEND)

    def _write(self, data: str, flag: int) -> None:
        # A history that cannot be kept is no reason to stop anybody from typing.
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | flag, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(data)


def _text(line: str) -> str:
    try:
        text = json.loads(line)
    except ValueError:
        return ""
    return text if isinstance(text, str) else ""
