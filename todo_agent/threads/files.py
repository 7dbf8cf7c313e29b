"""Files and directories that only their owner can read, whatever the umask."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from itertools import count
from pathlib import Path

from todo_agent.threads.errors import ThreadError

FILE_MODE = 0o600
DIR_MODE = 0o700
# Windows has no such flags; there the profile's directory is private already.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)


def make_dir(path: Path) -> None:
    """Create a directory and its parents, or make an existing one private."""
    missing: list[Path] = []
    for folder in (path, *path.parents):
        if folder.is_dir():
            break
        missing.append(folder)
    for folder in reversed(missing):
        folder.mkdir(DIR_MODE, exist_ok=True)
        folder.chmod(DIR_MODE)
        sync_dir(folder.parent)
    # A directory of somebody else, or on a file system without modes, is used as it is.
    with suppress(PermissionError):
        path.chmod(DIR_MODE)


def open_private(path: Path, flags: int) -> int:
    """Open a file for writing, creating it if it is not there, and make it private."""
    fd = os.open(path, flags | os.O_CREAT | _NO_LINK | _BINARY, FILE_MODE)
    if hasattr(os, "fchmod"):
        with suppress(PermissionError):
            os.fchmod(fd, FILE_MODE)
    return fd


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes; a full disk may take only a part of them at first."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def replace_file(path: Path, data: bytes) -> None:
    """Give a file new content, whole or not at all; it is on disk when this returns."""
    temporary = path.with_name(f"{path.name}.new")
    fd = open_private(temporary, os.O_WRONLY | os.O_TRUNC)
    try:
        try:
            write_all(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_dir(path.parent)


def set_aside(path: Path, data: bytes) -> Path:
    """Keep bytes of a damaged file beside it, under a new name, and return where."""
    for number in count(1):
        copy = path.with_name(f"{path.name}.damaged-{number}")
        try:
            fd = open_private(copy, os.O_WRONLY | os.O_EXCL)
        except FileExistsError:
            continue
        try:
            try:
                write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
        except OSError:
            copy.unlink()
            raise
        sync_dir(path.parent)
        return copy
    raise AssertionError("count() does not end")


def sync_dir(path: Path) -> None:
    """Make the names in a directory durable, where the platform can."""
    if os.name != "posix":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        # Some network file systems have no such call; the file itself is synced anyway.
        with suppress(OSError):
            os.fsync(fd)
    finally:
        os.close(fd)


def refuse_special(path: Path) -> None:
    """Let a path pass if it is a file or a directory, or nothing yet.

    Raises:
        ThreadError: it is a symbolic link, which could lead anywhere, or a pipe or a device,
            which could keep a reader waiting for ever.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise ThreadError(f"{path} is a symbolic link; threads are not followed through links.")
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ThreadError(f"{path} is neither a file nor a directory.")
