"""One thread's directory: its files, and the claim to be the only one who writes them."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from todo_agent.threads.errors import ThreadBusy
from todo_agent.threads.files import FILE_MODE, make_dir, refuse_special


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a thread is stored. `id` is the one that counts, whatever its files say."""

    root: Path
    id: str

    @property
    def path(self) -> Path:
        """The directory."""
        return self.root / self.id

    @property
    def journal(self) -> Path:
        """The truth."""
        return self.path / "messages.jsonl"

    @property
    def summary(self) -> Path:
        """What lists show."""
        return self.path / "thread.json"

    @property
    def lock(self) -> Path:
        """Held by the one process that writes."""
        return self.path / "lock"

    def exists(self) -> bool:
        """Return whether a thread is stored here, or something that cannot be looked into."""
        try:
            if not self.path.is_dir():
                return False
            return self.summary.exists() or self.journal.stat().st_size > 0
        except FileNotFoundError:
            return False
        except OSError:
            return True

    def refuse_special(self) -> None:
        """Make sure that everything here is inside the root, and can be read to its end.

        Raises:
            ThreadError: the directory or a file of it is a symbolic link, a pipe or a device.
        """
        for path in (self.path, self.journal, self.summary, self.lock):
            refuse_special(path)


class Claim:
    """The right to write to a folder. It ends with `release`, or with the process."""

    def __init__(self, folder: Folder) -> None:
        """Create the folder if it is not there, and claim it.

        Raises:
            ThreadBusy: another one has it.
            OSError: the folder or its lock cannot be made.
        """
        folder.refuse_special()
        make_dir(folder.path)
        self._folder = folder
        # Commits come from worker threads, so the lock must not belong to the one that took it.
        self._lock: BaseFileLock = FileLock(
            folder.lock, timeout=0, mode=FILE_MODE, thread_local=False
        )
        try:
            self._lock.acquire()
        except Timeout as error:
            raise ThreadBusy(
                f"Thread {folder.id} is open in another todo-agent. "
                "Open it for reading only, or go on in a fork."
            ) from error
        with suppress(PermissionError):
            folder.lock.chmod(FILE_MODE)

    def release(self) -> None:
        """Give the folder free; one in which nothing was ever stored vanishes."""
        with suppress(OSError):
            if all(self._is_vacant(path) for path in self._folder.path.iterdir()):
                self.remove()
        self._lock.release()

    def remove(self) -> None:
        """Remove the folder with everything in it, and give up the claim.

        Raises:
            OSError: something of it is still there.
        """
        folder = self._folder
        try:
            for path in folder.path.iterdir():
                if path != folder.lock:
                    _remove(path)
        finally:
            self._lock.release()
        # Who tries to open it now finds it empty, and takes it away as well.
        with suppress(FileNotFoundError):
            shutil.rmtree(folder.path)

    def _is_vacant(self, path: Path) -> bool:
        if path == self._folder.lock:
            return True
        return path == self._folder.journal and path.stat().st_size == 0


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
