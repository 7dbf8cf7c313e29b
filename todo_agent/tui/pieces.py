"""Cuts a long answer into pieces of Markdown that can be shown, and dropped, on their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from todo_agent.tui.markdown import code_blocks

PIECE_CHARS = 1_200
"""A piece ends at the first good place behind so many characters."""
FENCE_CHARS = 6_000
"""A code block is cut at a line end behind so many; both parts are fenced."""
LAST_RESORT_CHARS = 12_000
"""Anything else is cut at a space."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def pieces(text: str) -> list[str]:
    """Return the pieces of a text, at least one.

    They never change when the text grows, but for the last one: where it is cut depends
    only on what stands before.
    """
    found: list[str] = []
    piece, size, fence = [], 0, ""
    for line in _lines(text):
        piece.append(line)
        size += len(line)
        fence = _fence_after(line, fence)
        if not line.endswith("\n") and size < LAST_RESORT_CHARS:
            continue
        if not fence and ((size >= PIECE_CHARS and not line.strip()) or size >= LAST_RESORT_CHARS):
            found.append("".join(piece))
            piece, size = [], 0
        elif fence and size >= FENCE_CHARS:
            closing = _FENCE.match(fence)
            assert closing is not None  # noqa: S101 -- an open fence is one
            found.append("".join([*piece, f"{closing[1]}\n"]))
            piece, size = [fence], 0
    if piece or not found:
        found.append("".join(piece))
    return found


def join(cut: Iterable[str]) -> str:
    """Return the text that was cut into pieces: code blocks are whole again."""
    text = ""
    for piece in cut:
        text = _sewn(text, piece) if _continues(text, piece) else text + piece
    return text


def block_at(cut: Sequence[str], piece: int, number: int) -> str:
    """Return the whole code block of which a piece shows a part.

    Args:
        cut: all pieces of a text.
        piece: the position of the piece.
        number: which of the blocks of that piece it is.
    """
    before = join(cut[: piece + 1])
    here = code_blocks(cut[piece])
    blocks = code_blocks(join(cut))
    return blocks[len(code_blocks(before)) - len(here) + number]


def _continues(text: str, piece: str) -> bool:
    """Tell whether a piece goes on in the code block that the text before ends with.

    Outside of a code block a text is cut behind an empty line, never behind a fence.
    """
    last = text.rstrip("\n").rpartition("\n")[2]
    fence, opening = _FENCE.match(last), _FENCE.match(piece)
    return (
        fence is not None
        and opening is not None
        and text.endswith(f"{last}\n")
        and not text.endswith("\n\n")
        and fence[1] == opening[1]
        and not fence[2].strip()
    )


def _sewn(text: str, piece: str) -> str:
    head = text.removesuffix("\n").rpartition("\n")[0]
    return f"{head}\n{piece.partition(chr(10))[2]}"


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; one beyond all measure in several parts."""
    lines = []
    for line in text.splitlines(keepends=True):
        while len(line) > LAST_RESORT_CHARS:
            cut = line.rfind(" ", LAST_RESORT_CHARS // 2, LAST_RESORT_CHARS) + 1
            cut = cut or LAST_RESORT_CHARS
            lines.append(line[:cut])
            line = line[cut:]  # noqa: PLW2901 -- what is left of it
        lines.append(line)
    return lines


def _fence_after(line: str, fence: str) -> str:
    """Return the line that opened the code block which goes on behind a line, if any."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return "" if match[1][0] == "`" and "`" in match[2] else line
    opened = _FENCE.match(fence)
    assert opened is not None  # noqa: S101
    closes = match[1].startswith(opened[1]) and not match[2].strip()
    return "" if closes else fence
