"""What the agent knows of the files it works on: the content it last saw of each."""

from __future__ import annotations

import hashlib
from enum import Enum
from pathlib import Path


class Sight(Enum):
    """What the agent knows of a file's present content."""

    NEVER = "never read"
    CURRENT = "as it was read"
    CHANGED = "changed since it was read"


class SeenFiles:
    """Remembers a digest of the content of every file that was read or written.

    The content decides, never a time stamp: a file that was touched, or changed and
    changed back, is as it was.
    """

    def __init__(self) -> None:
        self._digests: dict[Path, bytes] = {}

    def saw(self, path: Path, digest: bytes) -> None:
        """Remember that the agent knows the content with this digest."""
        self._digests[path] = digest

    def sight(self, path: Path, digest: bytes) -> Sight:
        """Compare a file's present digest with the one that was seen."""
        known = self._digests.get(path)
        if known is None:
            return Sight.NEVER
        return Sight.CURRENT if known == digest else Sight.CHANGED


def digest_of(data: bytes) -> bytes:
    """Return the digest that stands for a content."""
    return hashlib.sha256(data).digest()
