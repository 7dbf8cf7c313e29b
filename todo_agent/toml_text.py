"""Edits TOML as text, so that comments, order and layout stay as a person wrote them.

What comes out is a proposal: the text is read line by line, not as a grammar, so the caller
has to read the result as TOML and compare.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping

import tomli_w

_SECTION = re.compile(r"\s*\[\s*([\w.-]+)\s*\]")
_ASSIGNMENT = re.compile(r"\s*((?:[\w-]+|\"[\w-]+\")(?:\s*\.\s*(?:[\w-]+|\"[\w-]+\"))*)\s*=")
_COMMENTED = re.compile(r"\s*#\s*([\w-]+)\s*=")


def positions(text: str) -> Mapping[str, tuple[int, int]]:
    """Return the line and column, from 0, of what looks like a setting or a section."""
    found: dict[str, tuple[int, int]] = {}
    section = ""
    for number, line in enumerate(_lines(text)):
        indent = len(line) - len(line.lstrip())
        if header := _SECTION.match(line):
            section = header[1]
            found.setdefault(section, (number, indent))
        elif assignment := _ASSIGNMENT.match(line):
            name = re.sub(r'[\s"]', "", assignment[1])
            found.setdefault(f"{section}.{name}" if section else name, (number, indent))
    return found


def with_value(text: str, key: str, value: object) -> Iterator[str]:
    """Yield texts with one setting changed or added, the one that keeps the most first.

    It goes where it stands already, else below its commented-out line, else to the top of its
    section, else below a new section.
    """
    section, _, name = key.rpartition(".")
    lines = _lines(text)
    known = positions(text)
    new = tomli_w.dumps({name: value}).rstrip("\n").split("\n")
    if key in known:
        start, indent = known[key]
        end = _end(lines, start)
        if isinstance(value, list):
            yield _text(text, [*lines[:start], *_list(lines[start:end], value), *lines[end:]])
        left = re.match(r"[^=]*=\s*", lines[start])
        head = left[0] if left else f"{' ' * indent}{name} = "
        new[0] = head + new[0].partition("=")[2].lstrip()
        new[-1] += _remark(lines[start:end])
        yield _text(text, [*lines[:start], *new, *lines[end:]])
        return
    if section and section not in known:
        gap = [""] if lines and lines[-1] else []
        yield _text(text, [*lines, *gap, f"[{section}]", *new])
        return
    at = _place(lines, known[section][0] + 1 if section else 0, name)
    yield _text(text, [*lines[:at], *new, *lines[at:]])


def without_value(text: str, key: str) -> str:
    """Return the text without the lines of one setting."""
    known = positions(text)
    if key not in known:
        return text
    lines = _lines(text)
    start = known[key][0]
    return _text(text, [*lines[:start], *lines[_end(lines, start) :]])


def _lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    return lines[:-1] if not lines[-1] else lines


def _text(like: str, lines: list[str]) -> str:
    """Return the lines as one text, ended as those of another text are."""
    end = "\r\n" if "\r\n" in like else "\n"
    return end.join([*lines, ""])


def _end(lines: list[str], start: int) -> int:
    """Return the line behind the assignment that begins at `start`."""
    for end in range(start + 1, len(lines) + 1):
        try:
            tomllib.loads("\n".join(lines[start:end]))
        except tomllib.TOMLDecodeError:
            continue
        return end
    return start + 1


def _remark(lines: list[str]) -> str:
    """Return the comment at the end of an assignment, with the space before it."""
    last = lines[-1]
    whole = _read("\n".join(lines))
    for match in re.finditer(r"\s*#", last):
        shorter = "\n".join([*lines[:-1], last[: match.start()]])
        if _read(shorter) == whole is not None:
            return last[match.start() :]
    return ""


def _read(text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _list(lines: list[str], value: list[object]) -> list[str]:
    """Return a list of one item a line with some lines less and new ones at its end."""
    if len(lines) < 3:
        return lines
    left = list(value)
    kept = [lines[0]]
    for line in lines[1:-1]:
        items = _read(f"x = [\n{line}\n]")
        found = items["x"] if isinstance(items, dict) else None
        if not found:
            kept.append(line)
        elif len(found) == 1 and found[0] in left:
            left.remove(found[0])
            kept.append(line)
    if left and (gap := re.match(r"\s*", lines[1])):
        body = kept[-1].partition("#")
        if len(kept) > 1 and body[0].strip() and not body[0].rstrip().endswith(","):
            kept[-1] = f"{body[0].rstrip()},{'  ' if body[1] else ''}{body[1]}{body[2]}"
        kept += [f"{gap[0]}{_item(item)}," for item in left]
    return [*kept, lines[-1]]


def _item(item: object) -> str:
    return tomli_w.dumps({"x": item})[4:].strip()


def _place(lines: list[str], first: int, name: str) -> int:
    """Return where in a section, which begins at `first`, a setting is put."""
    headers = (n for n, line in enumerate(lines) if n >= first and _SECTION.match(line))
    for number in range(first, next(headers, len(lines))):
        commented = _COMMENTED.match(lines[number])
        if commented and commented[1] == name:
            return number + 1
    return first
