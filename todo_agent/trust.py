"""Which project files a person trusts: by place and by content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from todo_agent import config


def is_trusted(trust_file: Path, project_file: Path) -> bool:
    """Return whether the person agreed to this very content at this place."""
    return _stored(trust_file).get(_name(project_file)) == _digest(project_file)


def trust(trust_file: Path, project_file: Path) -> None:
    """Remember that the person agreed to the file as it is now.

    Raises:
        ConfigError: it cannot be stored.
    """
    known = {**_stored(trust_file), _name(project_file): _digest(project_file)}
    config.write(trust_file, json.dumps(known, indent=1, sort_keys=True))


def _stored(trust_file: Path) -> dict[str, str]:
    try:
        data = json.loads(trust_file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _name(file: Path) -> str:
    return str(file.resolve())


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
