"""Makes foreign text safe to show, and measures it in cells. Pure functions."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rich.cells import cell_len, split_graphemes

TAB_CELLS = 4

_SEQUENCE = re.compile(
    r"""
    (?:\x1b\]|\x9d) [^\x07\x1b\x9c\n]* (?:\x07|\x1b\\|\x9c)?    # OSC: titles, links, clipboard
  | (?:\x1b[PX^_]|[\x90\x98\x9e\x9f]) [^\x1b\x9c\n]* (?:\x1b\\|\x9c)?    # DCS, SOS, PM, APC
  | (?:\x1b\[|\x9b) [0-?]* [ -/]* [@-~]?                        # CSI: colours, cursor, modes
  | \x1b [ -/]* [0-~]?                                          # all other escapes
    """,
    re.VERBOSE,
)
_ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"  # controls, and halves of characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of a line
    "\u2028\u2029]"  # what some take for the end of a line
)
_WORD = re.compile(r"[^\W\d_]+")
_ZWJ = "\u200d"
_LOOKALIKE_SCRIPTS = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")


def plain(text: str) -> str:
    """Return prose or program output without anything a terminal would act on.

    Escape sequences vanish; what is left of control characters and of those that turn
    the direction of a line becomes a visible escape. Newlines stay, tabs become spaces.
    """
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    text = "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))
    return prose(text.expandtabs(TAB_CELLS))


def prose(text: str) -> str:
    """Return a piece of Markdown in which no character acts on the terminal.

    It works on each character alone, so a text may come in pieces.
    """
    return _ACTS.sub(lambda match: _visible(match[0]), text)


def literal(text: str, *, lines: bool = False) -> str:
    r"""Return text as it must be judged: nothing invisible stays invisible.

    Every control, format, private or unassigned character shows as its escape (`\u202e`).
    With `lines`, newlines stay; tabs become spaces then too.
    """
    if lines:
        text = text.replace("\r\n", "\n").expandtabs(TAB_CELLS)
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _visible(c) if _hidden(text, i) and not (lines and c == "\n") else c
        for i, c in enumerate(text)
    )


def first_line(text: str) -> tuple[str, bool]:
    """Return the first line that says something, literally, and whether there is more."""
    lines = text.strip().splitlines()
    if not lines:
        return "", False
    return literal(lines[0].replace("\t", " ").strip()), len(lines) > 1


def suspicions(text: str) -> tuple[str, ...]:
    """Return what in a text may deceive the reader: hidden characters, look-alike letters."""
    hidden = dict.fromkeys(
        _visible(c) for i, c in enumerate(text) if c not in "\n\t\r" and _hidden(text, i)
    )
    found = []
    if hidden:
        found.append(f"invisible characters: {', '.join(list(hidden)[:6])}")
    mixed = dict.fromkeys(c for word in _WORD.findall(text) for c in _lookalikes(word))
    if mixed:
        shown = ", ".join(f"{c} (U+{ord(c):04X})" for c in list(mixed)[:6])
        found.append(f"letters that look like Latin ones: {shown}")
    return tuple(found)


def fit(text: str, width: int) -> str:
    """Return the text cut to a width in cells, with `…` where something is missing."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    kept, room = 0, width - 1
    for _, end, cells in split_graphemes(text)[0]:
        if cells > room:
            break
        kept, room = end, room - cells
    return f"{text[:kept].rstrip()}…"


def fit_left(text: str, width: int) -> str:
    """Return the text cut at its beginning to a width in cells."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    kept, room = len(text), width - 1
    for start, _, cells in reversed(split_graphemes(text)[0]):
        if cells > room:
            break
        kept, room = start, room - cells
    return f"…{text[kept:]}"


@lru_cache(maxsize=4096)
def wrap(text: str, width: int) -> tuple[str, ...]:
    """Return the lines of one paragraph wrapped at words, each at most `width` cells.

    A word that is longer than a line is broken between graphemes.
    """
    width = max(width, 2)
    lines, line, room = [], "", width
    for word in re.findall(r"\S+|\s+", text):
        cells = cell_len(word)
        if cells <= room:
            line, room = line + word, room - cells
            continue
        if word.isspace():
            continue
        if line.strip() and cells <= width:
            lines.append(line.rstrip())
            line, room = word, width - cells
            continue
        for start, end, size in split_graphemes(word)[0]:
            if size > room:
                lines.append(line.rstrip())
                line, room = "", width
            line, room = line + word[start:end], room - size
    if line.strip() or not lines:
        lines.append(line.rstrip())
    return tuple(lines)


def breaks(text: str, width: int) -> list[int]:
    """Return where to break one line of program text so that no part is wider than `width`."""
    width = max(width, 2)
    if text.isascii():
        return list(range(width, len(text), width))
    found, room = [], width
    for start, _, cells in split_graphemes(text)[0]:
        if cells > room:
            found.append(start)
            room = width
        room -= cells
    return found


def count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 line", "3 lines"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration(seconds: float) -> str:
    """Return a time for people: `0.4s`, `12s`, `3m 05s`, `2h 10m`."""
    if seconds < 9.95 and seconds != round(seconds):
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


def tokens(number: int) -> str:
    """Return a number of tokens for people: `950`, `12.3k`, `200k`, `1.2M`."""
    if number < 1000:
        return str(number)
    short = f"{number / 1000:.1f}k" if number < 999_950 else f"{number / 1_000_000:.1f}M"
    return short.replace(".0", "")


def cost(usd: float) -> str:
    """Return a price: `$0.0042` while it is small, `$1.25` from a cent on."""
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"


def ago(seconds: float) -> str:
    """Return how long ago something was, in one unit."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    return "just now"


_BLANKS = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u2028\u2029")


def _hidden(text: str, index: int) -> bool:
    character = text[index]
    if character.isascii():
        return not character.isprintable()
    if character == _ZWJ:
        return not _joins_symbols(text, index)
    if character in _BLANKS:
        return True
    category = unicodedata.category(character)
    return category in ("Cc", "Cf", "Cs", "Co", "Cn") or (
        category == "Zs" and character != "\u3000"
    )


def _joins_symbols(text: str, index: int) -> bool:
    """Tell a joiner inside an emoji from one that only hides."""
    before = text[:index].rstrip("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")[-1:]
    after = text[index + 1 : index + 2]
    return all(c and unicodedata.category(c) == "So" for c in (before, after))


def _visible(character: str) -> str:
    code = ord(character)
    if unicodedata.category(character) == "Cc":
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _lookalikes(word: str) -> list[str]:
    if not any(c.isascii() for c in word):
        return []
    return [c for c in word if unicodedata.name(c, "").startswith(_LOOKALIKE_SCRIPTS)]
