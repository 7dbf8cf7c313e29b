"""Puts text on the clipboard: through the terminal, and through the system's own program."""

from __future__ import annotations

import asyncio
import base64
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SECONDS = 2.0
"""A program that takes longer is left alone."""


@dataclass(frozen=True, slots=True)
class Clipboard:
    """How this terminal takes a text.

    The sequence OSC 52 reaches the person's own machine, also over SSH. Inside tmux and
    screen it is sent once more, wrapped so that they pass it on. Where the program runs on the
    person's machine, the system's own program is run as well: not every terminal knows the
    sequence.
    """

    wrap: str = ""
    """`tmux`, `screen` or nothing."""
    program: Sequence[str] = ()
    """A command that reads the text from its input."""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Clipboard:
        """Return what suits an environment."""
        remote = "SSH_TTY" in environ or "SSH_CONNECTION" in environ
        if "TMUX" in environ:
            return cls("tmux", _installed(("tmux", "load-buffer", "-w", "-")))
        wrap = "screen" if environ.get("TERM", "").startswith("screen") else ""
        return cls(wrap, () if remote else _local(environ))

    def sequences(self, text: str) -> str:
        """Return what the terminal is sent."""
        data = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
        plain = f"\x1b]52;c;{data}\x07"
        match self.wrap:
            case "tmux":
                return f"{plain}\x1bPtmux;\x1b{plain}\x1b\\"
            case "screen":
                return f"\x1bP{plain}\x1b\\"
            case _:
                return plain

    async def run(self, text: str) -> None:
        """Hand the text to the program, if there is one. That it fails is no harm."""
        if not self.program:
            return
        try:
            process = await asyncio.create_subprocess_exec(
                *self.program, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
            )
        except OSError:
            return
        try:
            async with asyncio.timeout(SECONDS):
                await process.communicate(text.encode("utf-8", "replace"))
        except (TimeoutError, OSError):
            process.kill()


TERMINAL_ONLY = Clipboard()


def _local(environ: Mapping[str, str]) -> Sequence[str]:
    if sys.platform == "darwin":
        return _installed(("pbcopy",))
    if "WSL_DISTRO_NAME" in environ:
        return _installed(("clip.exe",))
    if "WAYLAND_DISPLAY" in environ:
        return _installed(("wl-copy",))
    if "DISPLAY" in environ:
        return _installed(("xclip", "-selection", "clipboard")) or _installed(("xsel", "-ib"))
    return ()


def _installed(command: Sequence[str]) -> Sequence[str]:
    return command if shutil.which(command[0]) else ()
