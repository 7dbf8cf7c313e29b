"""What a project brings counts only where a person trusted its content at its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from todo_agent.config import restrict
from todo_agent.config_file import ConfigFile, is_there, write
from todo_agent.errors import ConfigError
from todo_agent.instructions import ProjectInstructions, read_instructions
from todo_agent.settings import Config


def with_project(
    config: Config, project_file: Path, *, trust_file: Path, ask: Callable[[ConfigFile], bool]
) -> Config:
    """Return the configuration as a project's file, if there is one, restricts it.

    Nothing of the file counts before a person agreed to its content; `ask` is called for a
    content that was never agreed to at this place. What is trusted is kept in `trust_file`.

    Raises:
        ConfigError: a trusted file has a wrong value, or the trust cannot be stored.
    """
    try:
        if not is_there(project_file):
            return config
        project = ConfigFile.read(project_file)
    except ConfigError as error:
        return _told(config, f"{error} This project's configuration was left out.")
    if not _agreed(project_file, project.digest, trust_file, lambda: ask(project)):
        return _told(config, f"{project_file} is not trusted and was left out.")
    return restrict(config, project)


def with_instructions(
    config: Config, project: Path, *, trust_file: Path, ask: Callable[[ProjectInstructions], bool]
) -> Config:
    """Return the configuration with the instructions of a project, if it has any.

    They are left out, with a notice, before a person agreed to their content.

    Raises:
        ConfigError: the trust cannot be stored.
    """
    found = read_instructions(project)
    if found is None:
        return config
    if not _agreed(found.path, found.digest, trust_file, lambda: ask(found)):
        return _told(config, f"{found.path} is not trusted and was left out.")
    return replace(config, instructions=found.text)


def _agreed(place: Path, digest: str, trust_file: Path, ask: Callable[[], bool]) -> bool:
    """Return whether the person agreed to this content at this place, now or before."""
    name = str(place.resolve())
    trusted = _stored(trust_file)
    if trusted.get(name) == digest:
        return True
    if not ask():
        return False
    trusted[name] = digest
    write(trust_file, json.dumps(trusted, indent=1, sort_keys=True))
    return True


def _told(config: Config, notice: str) -> Config:
    return replace(config, notices=(*config.notices, notice))


def _stored(trust_file: Path) -> dict[str, object]:
    try:
        data = json.loads(trust_file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
