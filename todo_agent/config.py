"""Loads the configuration: the person's file, the project's, the environment, the command line."""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

from todo_agent.agent.modes import Mode
from todo_agent.errors import ConfigError
from todo_agent.settings import SETTINGS, Config, Restrictions, Setting, Value

ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "api_key",
    "ANTHROPIC_AUTH_TOKEN": "auth_token",
    "ANTHROPIC_BASE_URL": "base_url",
    "TODO_AGENT_MODEL": "model",
}
SEVERITY = (Mode.PLAN, Mode.ASK, Mode.ACCEPT_EDITS, Mode.AUTO)
"""Modes from the narrowest to the widest."""
MAX_BYTES = 1_000_000
"""The largest configuration file."""


def load(
    user_file: Path,
    *,
    required: bool,
    environ: Mapping[str, str],
    options: Mapping[str, object],
    assignments: Sequence[str] = (),
) -> Config:
    """Return the configuration without the project's file.

    What comes later wins: the file, the environment, `--set`, the options.

    Args:
        user_file: the person's file; it may be missing unless it is `required`.
        required: the person named the file.
        environ: the environment.
        options: values of command-line options, by setting name; None is no value.
        assignments: `key=value` texts, the value in TOML or plain text.

    Raises:
        ConfigError: something is wrong; it says what, where, and how it should be.
    """
    values: dict[str, Value] = {}
    if required or user_file.exists():
        values |= _checked(_flat(read(user_file), str(user_file)), str(user_file))
    values |= _from_environment(environ)
    for assignment in assignments:
        key, value = _assignment(assignment)
        values |= _checked({key: value}, "--set")
    given = {key: value for key, value in options.items() if value is not None}
    values |= _checked(given, "the command line")
    named: dict[str, Any] = {SETTINGS[key].attribute: value for key, value in values.items()}
    return Config(**named)


def restrict(config: Config, project_file: Path) -> Config:
    """Return the configuration narrowed by a project's file, which may do nothing else.

    What would widen it is left out, with a notice.

    Raises:
        ConfigError: the file cannot be read or is no TOML.
    """
    where = str(project_file)
    flat = _flat(read(project_file), where)
    wider = sorted(key for key in flat if key in SETTINGS and not SETTINGS[key].restricts)
    notices = [f"{where}: {key} is ignored; a project can only restrict." for key in wider]
    values = _checked({k: v for k, v in flat.items() if k not in wider}, where)
    wanted = values.get("permissions.mode")
    mode = config.mode
    if isinstance(wanted, Mode):
        mode = min(mode, wanted, key=SEVERITY.index)
        if mode is not wanted:
            notices.append(f"{where}: mode {wanted} is ignored; a project can only restrict.")
    return replace(
        config,
        mode=mode,
        max_turns=_smaller(config.max_turns, values.get("limits.max_turns")),
        max_cost=_smaller(config.max_cost, values.get("limits.max_cost")),
        restrictions=Restrictions(
            ask=_texts(values.get("permissions.ask")), deny=_texts(values.get("permissions.deny"))
        ),
        notices=(*config.notices, *notices),
    )


def read(file: Path) -> Mapping[str, Any]:
    """Return a TOML file's content.

    Raises:
        ConfigError: it cannot be read, is too large, or is no TOML.
    """
    try:
        if not file.is_file():
            raise ConfigError(f"{file}: {_no_file(file)}")
        if file.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{file}: larger than {MAX_BYTES} bytes; this is no configuration.")
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}.") from error
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise ConfigError(
            f"{file}:{line}:{column}: not UTF-8 text. Save the file as UTF-8."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f'{_place(file, error)}. Text needs quotes: model = "name".') from error


def get(config: Config, key: str) -> Value:
    """Return a setting's value by its name.

    Raises:
        ConfigError: there is no such setting.
    """
    value: Value = getattr(config, _setting(key, "config get").attribute)
    return value


def save(file: Path, assignment: str) -> None:
    """Store `key=value` in a file, atomically, for its owner's eyes only.

    Raises:
        ConfigError: the setting or the value is wrong, or the file cannot be written.
    """
    key, value = _assignment(assignment)
    _checked({key: value}, "config set")
    data: dict[str, Any] = dict(read(file)) if file.exists() else {}
    section, _, name = key.rpartition(".")
    table = data.setdefault(section, {}) if section else data
    table[name] = value
    write(file, tomli_w.dumps(data))


def write(file: Path, text: str) -> None:
    """Replace a file's text atomically, for its owner's eyes only.

    Raises:
        ConfigError: it cannot be written.
    """
    temporary = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink(missing_ok=True)
        raise ConfigError(f"{file}: cannot be written: {error.strerror or error}.") from error


def shown(key: str, value: Value) -> str:
    """Return a value as TOML, a secret as the fact that it is set."""
    if key in ("api_key", "auth_token"):
        return '"(set)"' if value else '""'
    if value is None:
        return "(not set)"
    plain = list(value) if isinstance(value, tuple) else value
    return tomli_w.dumps({"x": str(value) if isinstance(value, Mode) else plain})[4:].strip()


def _from_environment(environ: Mapping[str, str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for variable, key in ENVIRONMENT.items():
        value = environ.get(variable, "").strip()
        if value:
            values |= _checked({key: value}, f"the environment variable {variable}")
    return values


def _checked(flat: Mapping[str, object], where: str) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, value in flat.items():
        setting = _setting(key, where)
        try:
            values[key] = setting.parse(value)
        except (ValueError, TypeError) as error:
            came = "" if key in ("api_key", "auth_token") else f", not {value!r}"
            raise ConfigError(f"{where}: {key} must be {error}{came}.") from None
    return values


def _setting(key: str, where: str) -> Setting:
    if key in SETTINGS:
        return SETTINGS[key]
    same_name = [known for known in SETTINGS if known.rpartition(".")[2] == key.rpartition(".")[2]]
    close = same_name or difflib.get_close_matches(key, SETTINGS, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    if same_name and "." in key and "." not in same_name[0]:
        hint += " Settings without a section stand above the first [section]."
    raise ConfigError(f"{where}: there is no setting {key}.{hint}")


def _flat(data: Mapping[str, Any], where: str) -> dict[str, object]:
    flat: dict[str, object] = {}
    sections = {key.rpartition(".")[0] for key in SETTINGS}
    for name, value in data.items():
        if not isinstance(value, Mapping):
            flat[name] = value
        elif name in sections:
            flat |= {f"{name}.{key}": item for key, item in value.items()}
        else:
            known = ", ".join(f"[{section}]" for section in sorted(sections - {""}))
            raise ConfigError(f"{where}: there is no section [{name}]. Sections: {known}.")
    return flat


def _assignment(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r} is no assignment; write key=value, such as ui.mouse=false.")
    try:
        return key.strip(), tomllib.loads(f"x = {value.strip()}")["x"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def _place(file: Path, error: tomllib.TOMLDecodeError) -> str:
    message, _, place = str(error).rpartition(" (at ")
    numbers = [word for word in place.rstrip(")").replace(",", "").split() if word.isdigit()]
    if len(numbers) == 2:
        return f"{file}:{numbers[0]}:{numbers[1]}: {message}"
    return f"{file}: {error}"


def _no_file(file: Path) -> str:
    if file.is_dir():
        return "this is a directory, not a file."
    return "this is no regular file." if file.exists() else "there is no such file."


def _smaller(own: Any, project: Any) -> Any:  # noqa: ANN401 -- an int or a float, like its arguments
    both: Iterable[Any] = [value for value in (own, project) if value is not None]
    return min(both, default=None)


def _texts(value: Value | None) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()
