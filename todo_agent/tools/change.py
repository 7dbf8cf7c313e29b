"""One change of one text file, from the path in a call to the bytes on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Success
from todo_agent.tools.diff import diff_display
from todo_agent.tools.editing import Refused
from todo_agent.tools.encoding import PROBE_BYTES, UTF8, encoding_of, guess, lone_surrogate
from todo_agent.tools.files import (
    FileError,
    check_inside,
    read_bytes,
    replace_file,
    still_leads_to,
)
from todo_agent.tools.seen import Sight, digest_of
from todo_agent.tools.workspace import PathError, Workspace

Keep: TypeAlias = Callable[[Path, bytes | None, bytes], None]
"""Is told of every change right before it is made: the file, what it holds (None where there
is no file), and what it will hold."""


def keep_nothing(path: Path, before: bytes | None, after: bytes) -> None:
    """Keep no earlier contents."""


@dataclass(frozen=True, slots=True)
class Present:
    """A file as it is now. A file that does not exist has no text."""

    text: str | None
    sight: Sight


Make: TypeAlias = Callable[[Present], str | Refused]
"""Makes a file's new text from what it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that can be made."""

    path: Path
    shown: str
    before: bytes | None
    after: bytes
    known: bool
    """The agent knows the whole new content."""
    display: Display


def plan_change(
    workspace: Workspace, path: str, make: Make, *, approved: bool, whole: bool = False
) -> Change:
    """Return what a change would do. Nothing is written.

    Args:
        workspace: where the path is resolved.
        path: as it came in the call.
        make: makes the new text.
        approved: a person agreed to it, so the path may be outside the workspace.
        whole: the new text does not depend on the old one.

    Raises:
        PathError, FileError: it cannot be made; the message says why.
    """
    target = workspace.resolve(path)
    shown = workspace.shown(target)
    check_inside(workspace, target, approved=approved)
    before = read_bytes(target, shown)
    sight = Sight.NEVER if before is None else workspace.seen.sight(target, digest_of(before))
    encoding = UTF8 if before is None else encoding_of(before[:PROBE_BYTES])
    if before is not None and encoding is None:
        raise FileError(f"{shown} is binary; only text files can be changed here.")
    try:
        old = None if before is None or encoding is None else encoding.decode(before)
    except UnicodeDecodeError as error:
        raise FileError(_undecodable(shown, before or b"", error)) from error
    new = make(Present(old, sight))
    if isinstance(new, Refused):
        raise FileError(f"{shown}: {new.reason}")
    position = lone_surrogate(new)
    if position is not None:
        raise FileError(
            f"{shown}: the new text holds half a character (a lone surrogate) at character "
            f"{position}; no file can store it."
        )
    return Change(
        target,
        shown,
        before,
        (encoding or UTF8).encode(new),
        known=whole or before is None or sight is Sight.CURRENT,
        display=_diff(old or "", new, shown),
    )


def _diff(old: str, new: str, shown: str) -> Display:
    """Show line endings only where nothing else changed."""
    before, after = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    return diff_display(before, after, shown) if before != after else diff_display(old, new, shown)


def preview_change(workspace: Workspace, path: str, make: Make) -> Display:
    """Return the diff of a change, or why it cannot be made."""
    try:
        return plan_change(workspace, path, make, approved=True).display
    except (FileError, PathError) as error:
        return Display("cannot be done", str(error))


def make_change(workspace: Workspace, path: str, change: Change, *, keep: Keep) -> None:
    """Write a change to disk.

    Raises:
        FileError: the file is read-only, changed since it was planned, or cannot be written.
    """
    keep(change.path, change.before, change.after)
    still = still_leads_to(workspace, path, change.path)
    replace_file(change.path, change.after, based_on=change.before, still=still)
    if change.known:
        workspace.seen.saw(change.path, digest_of(change.after))


def changed(change: Change, what: str) -> Success:
    """Return the outcome of a change that was made."""
    return Success(f"{what} ({change.display.summary}).", display=change.display)


def _undecodable(shown: str, data: bytes, error: UnicodeDecodeError) -> str:
    name = guess(data)
    likely = f"; it looks like {name}" if name else ""
    return (
        f"{shown} is not valid {error.encoding} (byte {error.start} is "
        f"0x{data[error.start]:02x}{likely}). Changing it here would damage it, so it was left "
        "alone; convert it with iconv first, or change it with a shell command."
    )
