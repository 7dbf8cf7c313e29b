"""A command's output as a person would have seen it, in constant memory."""

from __future__ import annotations

import asyncio
import codecs
import re
from collections.abc import Callable

HEAD_CHARS = 10_000
TAIL_CHARS = 20_000
MAX_HELD_CHARS = 4_096
"""A line that has not ended is held back up to this length; it may yet be overwritten."""
SHOWN_AT_ONCE = 8_000
SECONDS_BETWEEN_SHOWS = 0.05

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor, screen
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC: title, clipboard, links
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]?"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n])")
_OVERSTRUCK = re.compile(r"[^\n\x08]\x08")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def as_seen(text: str) -> str:
    """Return text without control codes: of a line that was overwritten, its last state."""
    if not _CONTROLS.search(text):
        return text
    text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", re.sub(r"\r+(?=\n|$)", "", text))
    if "\x08" in text:
        text = _OVERSTRUCK.sub("", text)
    return _CONTROLS.sub("", text)


class Capture:
    """Takes output in pieces of any size; keeps its beginning and its end.

    Bytes that are no UTF-8 become U+FFFD. Complete lines are shown as they come.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._reset()

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        self._add(self._decoder.decode(data))

    def finish(self) -> None:
        """Take what was held back: nothing more comes."""
        self._add(self._decoder.decode(b"", final=True))
        self._keep(as_seen(self._held))
        self._held = ""

    def take(self) -> str:
        """Return what came since the last call, the middle left out with a note if it is long."""
        head, tail, lines = self._head, self._tail, self._lines_left_out
        left_out = self._left_out
        self._reset()
        if not left_out:
            return head + tail
        note = f"[… {left_out:,} characters ({lines:,} lines) left out …]"
        return "\n".join([head.removesuffix("\n"), note, tail])

    def _reset(self) -> None:
        self._head = self._tail = ""
        self._left_out = self._lines_left_out = 0

    def _add(self, text: str) -> None:
        held, line_end, rest = (self._held + text).rpartition("\n")
        if len(rest) > MAX_HELD_CHARS:
            # A piece of an escape sequence at the very end stays for the next round.
            cut = rest.rfind("\x1b", -256)
            rest, whole = (rest[cut:], rest[:cut]) if cut > 0 else ("", rest)
        else:
            whole = ""
        self._held = rest
        self._keep(as_seen(held + line_end + whole))

    def _keep(self, text: str) -> None:
        if not text:
            return
        self._show(text)
        room = HEAD_CHARS - len(self._head)
        if room > 0 and not self._tail:
            self._head += text[:room]
            text = text[room:]
        tail = self._tail + text
        dropped = len(tail) - TAIL_CHARS
        if dropped > 0:
            self._left_out += dropped
            self._lines_left_out += tail.count("\n", 0, dropped)
            tail = tail[dropped:]
        self._tail = tail


class Pacer:
    """Passes text on in larger pieces, at most twenty a second; of a flood only the end."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._waiting = ""
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, text: str) -> None:
        """Take a piece; it is shown soon."""
        waiting = self._waiting + text
        if len(waiting) > SHOWN_AT_ONCE:
            waiting = "…" + waiting[-SHOWN_AT_ONCE:]
        self._waiting = waiting
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SECONDS_BETWEEN_SHOWS, self.flush)

    def flush(self) -> None:
        """Show at once what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        text, self._waiting = self._waiting, ""
        if text:
            self._show(text)
