"""Every directory and file the program has."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import PlatformDirs

from todo_agent.errors import ConfigError

PROJECT_FOLDER = ".todo-agent"
NO_HOME = "There is no home directory. Set HOME, or TODO_AGENT_HOME to a directory of yours."


@dataclass(frozen=True, slots=True)
class Paths:
    """Where things live. Nothing is created here."""

    config_dir: Path
    data_dir: Path
    state_dir: Path

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> Paths:
        """Return the directories: below TODO_AGENT_HOME, or where the platform wants them.

        Relative values of the XDG variables are ignored, as their specification says.

        Raises:
            ConfigError: TODO_AGENT_HOME is not absolute, or there is no home directory.
        """
        try:
            return cls._below(environ) or cls._of_the_platform(environ)
        except RuntimeError as error:
            raise ConfigError(NO_HOME) from error

    @classmethod
    def _below(cls, environ: Mapping[str, str]) -> Paths | None:
        given = environ.get("TODO_AGENT_HOME", "").strip()
        if not given:
            return None
        home = Path(given).expanduser()
        if not home.is_absolute():
            raise ConfigError(f"TODO_AGENT_HOME must be an absolute path, not {given!r}.")
        return cls(home / "config", home / "data", home / "state")

    @classmethod
    def _of_the_platform(cls, environ: Mapping[str, str]) -> Paths:
        if sys.platform != "win32" and not Path(environ.get("HOME", "/")).is_absolute():
            raise ConfigError(NO_HOME)
        dirs = PlatformDirs("todo-agent", appauthor=False)
        return cls(
            _absolute(dirs.user_config_path, environ, "XDG_CONFIG_HOME", ".config"),
            _absolute(dirs.user_data_path, environ, "XDG_DATA_HOME", ".local/share"),
            _absolute(dirs.user_state_path, environ, "XDG_STATE_HOME", ".local/state"),
        )

    @property
    def config_file(self) -> Path:
        """The person's configuration."""
        return self.config_dir / "config.toml"

    @property
    def threads_dir(self) -> Path:
        """One directory a thread."""
        return self.data_dir / "threads"

    @property
    def trust_file(self) -> Path:
        """Which project files the person trusts, by content."""
        return self.state_dir / "trust.json"

    @property
    def history_file(self) -> Path:
        """What was typed at the prompt."""
        return self.state_dir / "history.jsonl"

    @property
    def told_no_sandbox(self) -> Path:
        """Exists once the person was told that there is no sandbox."""
        return self.state_dir / "told-no-sandbox"

    @property
    def log_file(self) -> Path:
        """What went wrong, with tracebacks; with `--debug` what was done."""
        return self.state_dir / "todo-agent.log"

    @property
    def own_dirs(self) -> tuple[Path, ...]:
        """Directories whose change changes what the agent may do."""
        return (self.config_dir, self.data_dir, self.state_dir)


def project_config(cwd: Path) -> Path:
    """Return where a project's configuration stands."""
    return cwd / PROJECT_FOLDER / "config.toml"


def _absolute(found: Path, environ: Mapping[str, str], variable: str, default: str) -> Path:
    """Return the directory, without regard to an XDG variable that is relative."""
    value = environ.get(variable, "")
    if value and not Path(value).is_absolute():
        return Path.home() / default / "todo-agent"
    return found
