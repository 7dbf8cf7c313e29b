"""Unified diffs for the screen, quick on large texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from todo_agent.agent.messages import Display

CONTEXT = 3
MAX_COMPARED_PAIRS = 4_000_000
"""Where more pairs of changed lines could match, they are shown as one replaced block."""
NO_NEWLINE = "\n\\ No newline at end of file"
MAX_SHOWN = 2_000
"""Lines of a diff that are kept."""


def diff_display(old: str, new: str, path: str) -> Display:
    """Return a change as a diff with `+3 -1` as its summary."""
    before, after = _lines(old), _lines(new)
    changes = [op for op in _changes(before, after) if op[0] != "equal"]
    added = sum(stop - start for _, _, _, start, stop in changes)
    removed = sum(last - first for _, first, last, _, _ in changes)
    lines = list(_hunks(before, after, changes))
    left_out = len(lines) - MAX_SHOWN
    if left_out > 0:
        lines = [*lines[:MAX_SHOWN], f"… {left_out} more lines"]
    body = "\n".join([f"--- {path}", f"+++ {path}", *lines]) if changes else ""
    return Display(f"+{added} -{removed}", body, kind="diff", path=path)


_Op = tuple[str, int, int, int, int]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, last + NO_NEWLINE] if last else lines


def _changes(before: Sequence[str], after: Sequence[str]) -> list[_Op]:
    """Compare what lies between the lines that both have at their beginning and their end."""
    limit = min(len(before), len(after))
    head = _alike(before, after, limit)
    tail = _alike(before[::-1], after[::-1], limit - head)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) * len(new) > MAX_COMPARED_PAIRS:
        return [("replace", head, head + len(old), head, head + len(new))]
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in opcodes]


def _alike(before: Sequence[str], after: Sequence[str], limit: int) -> int:
    """Return how many lines at the beginning are the same, `limit` at most."""
    same = 0
    for size in (65_536, 256, 1):
        while same + size <= limit and before[same : same + size] == after[same : same + size]:
            same += size
    return same


def _hunks(before: Sequence[str], after: Sequence[str], changes: Sequence[_Op]) -> Iterator[str]:
    group: list[_Op] = []
    for change in changes:
        if group and change[1] - group[-1][2] > 2 * CONTEXT:
            yield from _hunk(before, after, group)
            group = []
        group.append(change)
    if group:
        yield from _hunk(before, after, group)


def _hunk(before: Sequence[str], after: Sequence[str], group: Sequence[_Op]) -> Iterator[str]:
    lead = min(CONTEXT, group[0][1])
    first, start = group[0][1] - lead, group[0][3] - lead
    last = min(group[-1][2] + CONTEXT, len(before))
    stop = group[-1][4] + last - group[-1][2]
    yield f"@@ -{first + 1},{last - first} +{start + 1},{stop - start} @@"
    at = first
    for _, a, b, c, d in group:
        yield from (f" {line}" for line in before[at:a])
        yield from (f"-{line}" for line in before[a:b])
        yield from (f"+{line}" for line in after[c:d])
        at = b
    yield from (f" {line}" for line in before[at:last])
