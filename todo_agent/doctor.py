"""Checks what the program needs, and says what is missing and what to do."""

from __future__ import annotations

import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from todo_agent.config_file import ConfigFile, is_there
from todo_agent.errors import ConfigError
from todo_agent.paths import Paths
from todo_agent.settings import SECRETS, Config


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    text: str
    good: bool = True
    needed: bool = True
    """Nothing works without it."""


def examine(
    paths: Paths, config_file: Path, load: Callable[[], Config], environ: Mapping[str, str]
) -> tuple[str, bool]:
    """Return a report, one line a check, and whether everything needed is there.

    Args:
        paths: where things live.
        config_file: the person's configuration.
        load: loads it.
        environ: the environment.
    """
    findings = [
        *_machine(environ),
        *_configuration(config_file, load),
        *_directories(paths),
        *_programs(environ),
    ]
    lines = []
    for finding in findings:
        mark = "ok" if finding.good else "MISSING" if finding.needed else "absent"
        lines.append(f"{mark:8}{finding.name:12}{finding.text}\n")
    return "".join(lines), all(finding.good or not finding.needed for finding in findings)


def _machine(environ: Mapping[str, str]) -> Iterator[Finding]:
    yield Finding("python", f"{platform.python_version()} at {sys.executable}")
    encoding = (sys.stdout.encoding or "none").lower()
    utf8 = encoding.replace("-", "") == "utf8"
    hint = "" if utf8 else "; marks are drawn in ASCII, set LANG to a UTF-8 locale for more"
    yield Finding("encoding", encoding + hint, good=utf8, needed=False)
    term = environ.get("TERM", "")
    able = term not in ("", "dumb")
    hint = "" if able else "; the screen needs a real terminal, use -p here"
    yield Finding("terminal", f"TERM={term or '(not set)'}{hint}", good=able, needed=False)


def _directories(paths: Paths) -> Iterator[Finding]:
    for name, directory in (("threads", paths.threads_dir), ("state", paths.state_dir)):
        problem = _not_writable(directory)
        yield Finding(name, problem or str(directory), good=not problem)
    yield Finding("log", str(paths.log_file))


def _programs(environ: Mapping[str, str]) -> Iterator[Finding]:
    for program, use in (
        ("git", "to see what a project's files are"),
        ("rg", "for faster search"),
        ("bwrap", "to keep commands inside the workspace"),
    ):
        found = shutil.which(program, path=environ.get("PATH"))
        yield Finding(program, found or f"not installed; {use}", good=bool(found), needed=False)


def _configuration(file: Path, load: Callable[[], Config]) -> Iterator[Finding]:
    try:
        config = load()
        there = is_there(file)
    except ConfigError as error:
        yield Finding("config", str(error), good=False)
        return
    yield Finding("config", f"{file}{'' if there else ' (not there; the defaults hold)'}")
    if there and stat.S_IMODE(file.stat().st_mode) & 0o077 and _holds_secret(file):
        text = f"others on this machine can read the key in it: chmod 600 {file}"
        yield Finding("config", text, good=False)
    text = "set" if config.has_key else "not set: set ANTHROPIC_API_KEY; the demo works without"
    yield Finding("key", text, good=config.has_key, needed=False)


def _holds_secret(file: Path) -> bool:
    return any(ConfigFile.read(file).data.get(key) for key in SECRETS)


def _not_writable(directory: Path) -> str:
    try:
        existing = next(path for path in (directory, *directory.parents) if path.exists())
        with tempfile.TemporaryFile(dir=existing):
            return ""
    except OSError as error:
        return f"{directory} cannot be written: {error.strerror or error}"
