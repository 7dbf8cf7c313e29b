"""Bytes to text and back without loss: byte order marks, encodings, line endings."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
PROBE_BYTES = 8192
"""How much of a file decides whether it is text, and in which encoding."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file's text is stored: a codec, behind a byte order mark or none."""

    codec: str = "utf-8"
    mark: bytes = b""

    def decode(self, data: bytes) -> str:
        """Return the text without the mark.

        Raises:
            UnicodeDecodeError: the bytes are not in this encoding.
        """
        return data[len(self.mark) :].decode(self.codec)

    def encode(self, text: str) -> bytes:
        """Return the bytes, the mark in front.

        Raises:
            UnicodeEncodeError: the text holds a lone surrogate.
        """
        return self.mark + text.encode(self.codec)


UTF8 = Encoding()


def encoding_of(start: bytes) -> Encoding | None:
    """Return the encoding that a file's first bytes speak of; None where they are binary."""
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return Encoding(codec, mark)
    return None if b"\0" in start else UTF8


def guess(data: bytes) -> str:
    """Return the likely name of an encoding that is not UTF-8; empty where nobody can tell."""
    # It is seldom needed, and slow to import.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(data[: 8 * PROBE_BYTES]).best()
    return "" if best is None or best.encoding in ("utf_8", "ascii") else best.encoding


def dominant_ending(text: str) -> str:
    """Return the line ending that most lines have; a line feed where there are none."""
    crlf = text.count("\r\n")
    return "\r\n" if 2 * crlf > text.count("\n") else "\n"


def lone_surrogate(text: str) -> int | None:
    """Return where a text holds half a character that no file can store, or None."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None
