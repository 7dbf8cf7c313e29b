"""Images and documents that a model can look at, within the limits of the Messages API."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO

from todo_agent.agent.messages import Display, Image, Opaque, Text
from todo_agent.agent.tools import Error, Outcome, Success

MAX_IMAGE_BASE64 = 5_000_000
MAX_IMAGE_PIXELS = 8_000
"""Of either side."""
MAX_PDF_BYTES = 20_000_000
MAX_PDF_PAGES = 100

_MAGIC = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"%PDF-\d"), "application/pdf"),
)
_PAGE = re.compile(rb"/Type\s*/Page\b")


@dataclass(frozen=True, slots=True)
class Media:
    """What a file's bytes are, and how large that is."""

    type: str
    width: int = 0
    height: int = 0
    pages: int = 0
    bytes: int = 0

    def outcome(self, shown: str, base64: str) -> Outcome:
        """Return the block the model sees, or why it may not enter the conversation."""
        too_large = self._too_large(len(base64))
        if too_large:
            return Error(f"{shown} was not read: {too_large}. Make a smaller copy and read that.")
        if self.type == "application/pdf":
            source = {"type": "base64", "media_type": self.type, "data": base64}
            summary = f"PDF · {self.bytes:,} bytes"
            block: Image | Opaque = Opaque({"type": "document", "source": source})
        else:
            kind = self.type.removeprefix("image/").upper()
            summary = f"{kind} · {self.width}×{self.height} · {self.bytes:,} bytes"
            block = Image(self.type, base64)
        return Success((Text(f"{shown}: {summary}"), block), display=Display(summary, path=shown))

    def _too_large(self, base64_length: int) -> str:
        if self.type == "application/pdf":
            if self.bytes > MAX_PDF_BYTES:
                return f"a PDF may have {MAX_PDF_BYTES:,} bytes, this one has {self.bytes:,}"
            if self.pages > MAX_PDF_PAGES:
                return f"a PDF may have {MAX_PDF_PAGES} pages, this one has {self.pages}"
            return ""
        if self.width <= 0 or self.height <= 0:
            return "the image is damaged: it has no readable size"
        if max(self.width, self.height) > MAX_IMAGE_PIXELS:
            limit = f"{MAX_IMAGE_PIXELS} pixels a side"
            return f"an image may have {limit}, this one has {self.width}×{self.height}"
        if base64_length > MAX_IMAGE_BASE64:
            most = MAX_IMAGE_BASE64 // 4 * 3
            return f"an image may have {most:,} bytes, this one has {self.bytes:,}"
        return ""


def media_of(data: bytes) -> Media | None:
    """Return what kind of media the bytes are, by content; None where they are none."""
    kind = next((name for magic, name in _MAGIC if magic.match(data)), None)
    if kind is None:
        return None
    if kind == "application/pdf":
        return Media(kind, pages=len(_PAGE.findall(data)), bytes=len(data))
    # Only an image needs it, and it is slow to import.
    import imagesize  # type: ignore[import-untyped]  # noqa: PLC0415

    width, height = imagesize.get(BytesIO(data))
    return Media(kind, int(width), int(height), bytes=len(data))
