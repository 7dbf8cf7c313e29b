"""The log file: what went wrong, and with `--debug` what was done, without its contents."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterable
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

from todo_agent.errors import TodoAgentError
from todo_agent.masking import Masking
from todo_agent.text import plain

NAME = "todo_agent"
"""The logger whose records get into the file."""
MAX_BYTES = 1_000_000
OLD_FILES = 2


class Crash(Exception):  # noqa: N818 -- the program's end, which nothing but its front handles
    """An error of the program itself. Its text is what a person reads; the cause is the error."""


class Log:
    """The log of one run of the program, as a context.

    Lines are written in a thread of their own, masked, into a file that only its owner can
    read. An error of the program that leaves the context is logged and becomes a `Crash`.

    Args:
        file: where it is; its directory need not exist.
        debug: log what is done too, not only what went wrong.
    """

    def __init__(self, file: Path, *, debug: bool) -> None:
        self._mask = Masking()
        self._file = file
        self._debug = debug
        self._logger = logging.getLogger(NAME)
        self._problem = ""
        self._close = contextlib.ExitStack()

    def __enter__(self) -> Log:
        try:
            self._open()
        except OSError as error:
            self._problem = f"{error.filename or self._file}: {error.strerror or error}"
        return self

    def hide(self, secrets: Iterable[str]) -> None:
        """Mask these from now on, besides keys of well-known shapes."""
        self._mask = Masking(secrets)

    def _masked(self, text: str) -> str:
        return self._mask(text)

    def _open(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler = _PrivateFile(
            self._file,
            maxBytes=MAX_BYTES,
            backupCount=OLD_FILES,
            encoding="utf-8",
            errors="backslashreplace",
            delay=True,
        )
        handler.setFormatter(_Masked(self._masked))
        lines: SimpleQueue[logging.LogRecord] = SimpleQueue()
        door, listener = QueueHandler(lines), QueueListener(lines, handler)
        self._logger.addHandler(door)
        self._logger.setLevel(logging.DEBUG if self._debug else logging.WARNING)
        self._logger.propagate = False
        listener.start()
        self._close.callback(handler.close)
        self._close.callback(listener.stop)
        self._close.callback(self._logger.removeHandler, door)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ours = isinstance(error, Exception) and not isinstance(
            error, TodoAgentError | BrokenPipeError
        )
        if ours:
            self._logger.critical("stopped because of an error", exc_info=error)
        self._close.close()
        if ours and not isinstance(error, OSError):
            raise Crash(self._masked(self._told(error))) from error

    def _told(self, error: BaseException | None) -> str:
        what = f"Stopped because of an error of its own: {type(error).__name__}: {error}"
        if self._problem:
            return f"{what} (the log cannot be written: {self._problem})"
        return f"{what} (details: {self._file})"


class _PrivateFile(RotatingFileHandler):
    """A rotating file that nobody else can read, whatever the umask."""

    def _open(self) -> TextIOWrapper:
        file = open(  # noqa: SIM115 -- with an opener; the handler closes it
            self.baseFilename,
            self.mode,
            encoding=self.encoding,
            errors=self.errors,
            opener=_private,
        )
        assert isinstance(file, TextIOWrapper)  # noqa: S101 -- its mode is of text
        if os.chmod in os.supports_fd:
            os.chmod(file.fileno(), 0o600)  # noqa: PTH101 -- the open file, whatever its name
        return file

    def close(self) -> None:
        """Close the file; what the disk does not take of it is lost, as it was before."""
        with contextlib.suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- logging's name
        """Leave a line out that the disk does not take: the screen is no place for it."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


class _Masked(logging.Formatter):
    """A line a record; what belongs to it stands below, indented."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s [%(process)d] %(message)s")
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """Return the masked line, without anything that a terminal would act on."""
        return self._mask(plain(super().format(record))).replace("\n", "\n    ")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
