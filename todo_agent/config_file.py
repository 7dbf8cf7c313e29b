"""A configuration file: read with the place of every setting, edited without losing a comment."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from todo_agent.errors import ConfigError
from todo_agent.toml_text import positions, with_value, without_value

MAX_BYTES = 1_000_000
"""The largest file that is read."""


@dataclass(frozen=True)
class ConfigFile:
    """What stands in a TOML file."""

    path: Path
    text: str
    data: Mapping[str, Any]
    digest: str
    """Of the bytes it was read from."""

    @classmethod
    def read(cls, path: Path) -> ConfigFile:
        """Read a file.

        Raises:
            ConfigError: it cannot be read, is too large, or is no TOML; the message has the
                line and the column.
        """
        content = _content(path)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            column = error.start - content.rfind(b"\n", 0, error.start)
            raise ConfigError(
                f"{path}:{line}:{column}: not UTF-8 text. Save the file as UTF-8."
            ) from error
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(_no_toml(path, text, error)) from error
        return cls(path, text, data, hashlib.sha256(content).hexdigest())

    def places(self) -> Mapping[str, str]:
        """Return where each setting and section stands, as file:line:column."""
        return {
            name: f"{self.path}:{line + 1}:{column + 1}"
            for name, (line, column) in positions(self.text).items()
        }

    def with_value(self, key: str, value: object) -> str:
        """Return the text with one setting changed or added, the rest as it was written."""
        wanted = _with(self.data, key.split("."), value)
        return _first_that_says(wanted, with_value(self.text, key, value))

    def without(self, key: str) -> str:
        """Return the text without one setting, the rest as it was written."""
        wanted = _without(self.data, key.split("."))
        return _first_that_says(wanted, (without_value(self.text, key),))


def is_there(path: Path) -> bool:
    """Return whether there is anything at a path.

    Raises:
        ConfigError: nobody may know.
    """
    try:
        return path.exists()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}.") from error


def write(path: Path, text: str) -> None:
    """Replace a file's text atomically, for its owner's eyes only. A link stays a link.

    Raises:
        ConfigError: it cannot be written.
    """
    target, temporary = Path(os.path.realpath(path)), ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(target)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}.") from error


def _content(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ConfigError(f"{path}: this is a directory, not a file.")
        if not path.exists():
            raise ConfigError(f"{path}: there is no such file.")
        if not path.is_file():
            raise ConfigError(f"{path}: this is no regular file.")
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}.") from error
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes; this is no configuration.")
    return content


def _no_toml(path: Path, text: str, error: tomllib.TOMLDecodeError) -> str:
    message, _, place = str(error).rpartition(" (at ")
    numbers = [int(word) for word in re.findall(r"\d+", place)]
    if len(numbers) == 2:
        line, column = numbers
    else:
        message = message or str(error)
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    hint = ' Text needs quotes: model = "name".'
    if "overwrite" in message or "declare" in message or "twice" in message:
        hint = " It is there already, further up."
    return f"{path}:{line}:{column}: {message.rstrip('.')}.{hint}"


def _with(table: Mapping[str, Any], path: Sequence[str], value: object) -> dict[str, Any]:
    name, *rest = path
    return {**table, name: _with(table.get(name, {}), rest, value) if rest else value}


def _without(table: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    name, *rest = path
    if rest and name in table:
        return {**table, name: _without(table[name], rest)}
    return {key: item for key, item in table.items() if key != name}


def _first_that_says(wanted: dict[str, Any], texts: Iterable[str]) -> str:
    """Return the first text that says what is wanted, or else a new one without comments."""
    for text in texts:
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if _full(tomllib.loads(text)) == _full(wanted):
                return text
    return tomli_w.dumps(wanted)


def _full(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table without its empty sections, which say nothing."""
    inner = {k: _full(v) if isinstance(v, Mapping) else v for k, v in table.items()}
    return {key: value for key, value in inner.items() if value != {}}
