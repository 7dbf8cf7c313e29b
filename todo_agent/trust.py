"""A project's configuration: it counts only where a person trusted its content at its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from todo_agent.config import restrict
from todo_agent.config_file import ConfigFile, is_there, write
from todo_agent.errors import ConfigError
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
    place = str(project_file.resolve())
    trusted = _stored(trust_file)
    if trusted.get(place) != project.digest:
        if not ask(project):
            return _told(config, f"{project_file} is not trusted and was left out.")
        trusted[place] = project.digest
        write(trust_file, json.dumps(trusted, indent=1, sort_keys=True))
    return restrict(config, project)


def _told(config: Config, notice: str) -> Config:
    return replace(config, notices=(*config.notices, notice))


def _stored(trust_file: Path) -> dict[str, object]:
    try:
        data = json.loads(trust_file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
