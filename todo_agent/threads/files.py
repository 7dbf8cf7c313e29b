"""Files that only their owner may read, written so that no crash leaves half of one."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700


def make_private_directory(directory: Path) -> None:
    """Create a directory, and those above it, for the owner alone, whatever the umask."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(PRIVATE_DIRECTORY, exist_ok=True)
        path.chmod(PRIVATE_DIRECTORY)


def open_private(path: Path, flags: int) -> int:
    """Open a file for the owner alone and return its descriptor; a symlink is refused."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
    os.fchmod(descriptor, PRIVATE_FILE)
    return descriptor


def replace_private(path: Path, data: bytes) -> None:
    """Replace a file's content in one step: all of it, or what was there before."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = open_private(temporary, os.O_WRONLY | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def keep_aside(path: Path, data: bytes | None = None) -> Path:
    """Copy a damaged file, or a piece of it, beside it under a name of its own."""
    aside = path.with_name(f"{path.name}.damaged-{secrets.token_hex(4)}")
    descriptor = open_private(aside, os.O_WRONLY | os.O_EXCL)
    with os.fdopen(descriptor, "wb") as stream:
        if data is not None:
            stream.write(data)
        else:
            with path.open("rb") as source:
                shutil.copyfileobj(source, stream)
    return aside
