"""Takes keys out of text: those the program knows, and those of well-known shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable

MIN_CHARS = 8
"""Shorter secrets would mask ordinary text."""
MAX_CHARS = 256
"""So many characters at most of a piece of text are held back to see how a word goes on."""
MASK = "[a secret, masked]"
_SHAPES = (
    r"sk-ant-[\w-]{8,}",
    r"gh[pousr]_\w{30,}",
    r"github_pat_\w{30,}",
    r"AKIA[0-9A-Z]{16}",
    r"AIza[\w-]{35}",
    r"xox[abprs]-[\w-]{20,}",
)
_UNFINISHED = re.compile(r"[\w-]+\Z")


class Masking:
    """Masks secrets in texts.

    Args:
        known: secrets to mask wherever they occur, such as the program's own key. Besides
            them, keys of well-known shapes are masked.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = sorted((s for s in known if len(s) >= MIN_CHARS), key=len, reverse=True)
        exact = [re.escape(secret) for secret in self._known]
        self._secret = re.compile("|".join([*exact, rf"(?<![\w-])(?:{'|'.join(_SHAPES)})"]))

    def __call__(self, text: str) -> str:
        """Return the text with every secret masked."""
        return self._secret.sub(MASK, text)

    def unfinished(self, text: str) -> int:
        """Return where in a text a secret may begin that goes on in the next piece.

        That is its length where none can.
        """
        word = _UNFINISHED.search(text, max(len(text) - MAX_CHARS, 0))
        starts = [word.start()] if word else []
        for secret in self._known:
            ends = range(min(len(secret) - 1, len(text)), 0, -1)
            starts += [len(text) - n for n in ends if text.endswith(secret[:n])][:1]
        at = min(starts, default=len(text))
        whole = (m.start() for m in self._secret.finditer(text) if m.start() < at < m.end())
        return next(whole, at)


class LiveMasking:
    """Masks secrets in texts that come in pieces, also one that stands in two of them."""

    def __init__(self, masking: Masking) -> None:
        self._masking = masking
        self._held: dict[str, str] = {}

    def __call__(self, source: str, piece: str) -> str:
        """Return what can be shown of a source by now; the end of it may have to wait."""
        text = self._held.pop(source, "") + piece
        at = self._masking.unfinished(text)
        if text[at:]:
            self._held[source] = text[at:]
        return self._masking(text[:at])

    def end(self, source: str) -> str:
        """Return what waited of a source that is at its end."""
        return self._masking(self._held.pop(source, ""))
