"""What shell commands get from the machine: their environment, their shell, their cage."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

WITHHELD = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CDPATH")
"""Never handed to a command: our keys, and what makes `cd` go elsewhere than it says."""
QUIET: Mapping[str, str] = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
}
"""Nothing pages, opens an editor, asks for a password, or paints."""


def command_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that commands get."""
    inherited = {name: value for name, value in environ.items() if name not in WITHHELD}
    return {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes", **inherited, **QUIET}


def shell_program(environ: Mapping[str, str]) -> str | None:
    """Return the shell that runs commands: bash, or else sh; None where there is neither."""
    path = environ.get("PATH")
    return shutil.which("bash", path=path) or shutil.which("sh", path=path)
