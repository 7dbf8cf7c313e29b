"""Checks what the program needs, and says what is missing and what to do."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from todo_agent.config import load
from todo_agent.errors import ConfigError
from todo_agent.paths import Paths


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    text: str
    good: bool = True
    needed: bool = True
    """Nothing works without it."""


def examine(paths: Paths, environ: Mapping[str, str]) -> tuple[str, bool]:
    """Return a report, one line a check, and whether everything needed is there."""
    findings = list(_findings(paths, environ))
    lines = []
    for finding in findings:
        mark = "ok" if finding.good else "MISSING" if finding.needed else "absent"
        lines.append(f"{mark:8}{finding.name:12}{finding.text}\n")
    return "".join(lines), all(finding.good or not finding.needed for finding in findings)


def _findings(paths: Paths, environ: Mapping[str, str]) -> Iterator[Finding]:
    yield Finding("python", f"{platform.python_version()} at {sys.executable}")
    yield from _configuration(paths, environ)
    for name, directory in (("threads", paths.threads_dir), ("state", paths.state_dir)):
        problem = _not_writable(directory)
        yield Finding(name, problem or str(directory), good=not problem)
    encoding = (sys.stdout.encoding or "none").lower()
    utf8 = encoding.replace("-", "") == "utf8"
    hint = "" if utf8 else "; marks are drawn in ASCII, set LANG to a UTF-8 locale for more"
    yield Finding("encoding", encoding + hint, good=utf8, needed=False)
    term = environ.get("TERM", "")
    able = term not in ("", "dumb")
    hint = "" if able else "; the screen needs a real terminal, use -p here"
    yield Finding("terminal", f"TERM={term or '(not set)'}{hint}", good=able, needed=False)
    for program, use in (
        ("git", "to see what a project's files are"),
        ("rg", "for faster search"),
        ("bwrap", "to keep commands inside the workspace"),
    ):
        found = shutil.which(program, path=environ.get("PATH"))
        yield Finding(program, found or f"not installed; {use}", good=bool(found), needed=False)


def _configuration(paths: Paths, environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        config = load(paths.config_file, required=False, environ=environ, options={})
    except ConfigError as error:
        yield Finding("config", str(error), good=False)
        return
    there = "" if paths.config_file.exists() else " (not there; the defaults hold)"
    yield Finding("config", f"{paths.config_file}{there}")
    has_key = bool(config.api_key or config.auth_token)
    text = "set" if has_key else "set ANTHROPIC_API_KEY to use a model; the demo works without"
    yield Finding("key", text, good=has_key, needed=False)


def _not_writable(directory: Path) -> str:
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return ""
    except OSError as error:
        return f"{directory} cannot be written: {error.strerror or error}"
