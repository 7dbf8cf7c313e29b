"""Files on disk: what a path is, bounded reads, and atomic replacement."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from todo_agent.tools.workspace import PathError, Workspace

MAX_EDIT_BYTES = 64_000_000
"""Larger files are neither read nor edited nor replaced."""
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0)


class FileError(Exception):
    """A file that cannot be read or written; the message is for the model."""


def regular_file(path: Path, shown: str) -> os.stat_result | None:
    """Return a file's status, or None where there is no file.

    Raises:
        FileError: it is something else (a directory, a pipe, a device) or out of reach.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"{shown} cannot be opened: {error.strerror}.") from error
    _check_regular(status, shown)
    return status


def read_bytes(path: Path, shown: str) -> bytes | None:
    """Return a file's whole content, or None where there is no file.

    It never waits for a writer, and never reads more than the limit.

    Raises:
        FileError: it is not a regular file, larger than `MAX_EDIT_BYTES`, or out of reach.
    """
    if regular_file(path, shown) is None:
        return None
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _WITHOUT_WAITING), "rb") as file:
            # What is open counts: the name may have been given to something else meanwhile.
            status = os.fstat(file.fileno())
            _check_regular(status, shown)
            _check_size(status.st_size, shown)
            data = file.read(MAX_EDIT_BYTES + 1) or b""
    except OSError as error:
        raise FileError(f"{shown} cannot be read: {error.strerror}.") from error
    _check_size(len(data), shown)
    return data


def _check_regular(status: os.stat_result, shown: str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{shown} is a directory; use list or glob to see what is in it.")
    raise FileError(f"{shown} is {_kind(status.st_mode)}, not a file with a content.")


def _check_size(size: int, shown: str) -> None:
    if size > MAX_EDIT_BYTES:
        raise FileError(
            f"{shown} has {size:,} bytes; files above {MAX_EDIT_BYTES:,} are not read or edited "
            "here. Use a shell command."
        )


def check_inside(workspace: Workspace, path: Path, *, approved: bool) -> None:
    """Refuse a path outside a confined workspace that no person approved.

    Raises:
        FileError: it is outside.
    """
    if approved or not workspace.confined or workspace.contains(path):
        return
    raise FileError(
        f"{workspace.shown(path)} is outside the workspace ({workspace.root}). "
        "Work inside it, or ask the person to allow this path."
    )


def replace_file(target: Path, data: bytes, *, based_on: bytes | None, still: Still) -> None:
    """Put a content in a file's place, whole or not at all.

    The content goes to a temporary file beside the target, to disk, and then takes the
    target's place with its mode and, where the system lets it, its owner. Missing
    directories are made. Other hard links keep the old content.

    Args:
        target: the resolved path.
        data: the new content.
        based_on: the content the new one was made from; None for a new file.
        still: says, right before the replacement, whether the path still leads there.

    Raises:
        FileError: the file is read-only, changed meanwhile, or cannot be written.
    """
    status = regular_file(target, target.name)
    if status is not None and not status.st_mode & 0o222:
        mode = stat.S_IMODE(status.st_mode)
        raise FileError(f"{target.name} is read-only (mode {mode:04o}); it was left alone.")
    temporary = target.with_name(f".{target.name[:100]}.{uuid4().hex[:8]}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(temporary, data, status)
            if not still() or read_bytes(target, target.name) != based_on:
                raise FileError(f"{target.name} changed while it was being written; read it again.")
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync(target.parent)
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error.strerror}.") from error


Still = Callable[[], bool]


def still_leads_to(workspace: Workspace, path: str, target: Path) -> Still:
    """Return the check that a path still resolves to what it did."""

    def still() -> bool:
        try:
            return workspace.resolve(path) == target
        except PathError:
            return False

    return still


def _write(path: Path, data: bytes, like: os.stat_result | None) -> None:
    descriptor = os.open(
        path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if like is None else 0o600
    )
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if like is not None:
            with suppress(OSError):
                os.chown(path, like.st_uid, like.st_gid)
            path.chmod(stat.S_IMODE(like.st_mode))
        os.fsync(descriptor)


def _sync(directory: Path) -> None:
    """Put the new name on disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "something special")
