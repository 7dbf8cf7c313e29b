"""The configuration as a person sees and changes it while the program runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from todo_agent.config import shown, store
from todo_agent.kinds import Kind, Value
from todo_agent.manual import descriptions
from todo_agent.providers.endpoint import masked
from todo_agent.settings import SECRETS, SETTINGS, Config


@dataclass(frozen=True, slots=True)
class Row:
    """One setting as it stands."""

    key: str
    kind: Kind
    value: Value
    """What holds; a secret is empty or the word `set`, an address with a password is empty."""
    shown: str
    """The value as it is written in a file, a secret never."""
    default: bool
    source: str
    """Where the value comes from: `default`, a file with the line, a variable, an option."""
    overrules: bool
    """The value comes from a place that the person's file cannot change."""
    what: str
    """What the setting is for."""


class Preferences:
    """Reads the settings in force and changes the person's file.

    Args:
        config: what holds at the start.
        file: the person's configuration file; it may be missing.
        reload: loads everything anew, from all its places, without a question.
    """

    def __init__(self, config: Config, file: Path, reload: Callable[[], Config]) -> None:
        self.config = config
        """What holds now."""
        self.file = file
        self._reload = reload

    def refresh(self) -> Config:
        """Read everything anew, as it stands now; return what holds.

        Raises:
            ConfigError: something is wrong by now; what held goes on to hold.
        """
        self.config = self._reload()
        return self.config

    def rows(self) -> tuple[Row, ...]:
        """Return every setting there is, in the order of the example file."""
        return tuple(self._row(key, what) for key, what in descriptions().items())

    def row(self, key: str) -> Row:
        """Return one setting."""
        return self._row(key, descriptions()[key])

    def store(self, key: str, value: object) -> Config:
        """Write a setting into the person's file; None takes it out. Return what holds then.

        Raises:
            ConfigError: the value is wrong, or the file cannot be read or written.
        """
        store(self.file, key, value, name="This")
        return self.refresh()

    def _row(self, key: str, what: str) -> Row:
        setting, source = SETTINGS[key], self.config.sources.get(key, "")
        value = setting.of(self.config)
        if key in SECRETS:
            value = "set" if value else ""
        elif key == "base_url" and masked(str(value)) != value:
            value = ""
        return Row(
            key,
            setting.parse,
            value,
            shown(key, setting.of(self.config)),
            default=not source,
            source=source or "default",
            overrules=bool(source) and not source.startswith(f"{self.file}:"),
            what=what,
        )
