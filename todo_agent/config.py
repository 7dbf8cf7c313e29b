"""Loads the configuration: the person's file, the project's, the environment, the command line."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomli_w

from todo_agent.agent.modes import Mode
from todo_agent.config_file import ConfigFile, is_there, write
from todo_agent.errors import ConfigError
from todo_agent.key_names import key_conflict
from todo_agent.kinds import Value
from todo_agent.providers.endpoint import masked
from todo_agent.settings import (
    KEYS,
    SECRETS,
    SETTINGS,
    Config,
    Restrictions,
    Setting,
    with_values,
)

ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "api_key",
    "ANTHROPIC_AUTH_TOKEN": "auth_token",
    "ANTHROPIC_BASE_URL": "base_url",
    "TODO_AGENT_MODEL": "model",
}
PROJECT = "project"
"""The name of a project's file among the sources."""
CREDENTIALS = ("api_key", "auth_token", "api_key_file")
NARROWER = (Mode.PLAN, Mode.ASK, Mode.ACCEPT_EDITS, Mode.AUTO)
"""The modes, the narrowest first."""


@dataclass(frozen=True)
class Source:
    """Settings from one place, as they were written there."""

    name: str
    values: Mapping[str, object]
    places: Mapping[str, str] = field(default_factory=dict)
    """Where exactly a setting stands, for messages."""

    def where(self, key: str) -> str:
        """Return the place of a setting, as exactly as it is known."""
        return self.places.get(key, self.name)


def environment() -> Mapping[str, str]:
    """Return the environment of the process."""
    return os.environ


def load(
    user_file: Path,
    *,
    required: bool,
    environ: Mapping[str, str],
    options: Mapping[str, tuple[str, object]] | None = None,
    assignments: Sequence[str] = (),
) -> Config:
    """Return the configuration without the project's file.

    What comes later wins: the file, the environment, `--set`, the options. A credential of
    one of them takes the place of all credentials before it, so that a key never goes to
    an address it was not meant for.

    Args:
        user_file: the person's file; it may be missing unless it is `required`.
        required: the person named the file.
        environ: the environment.
        options: the setting and the value of each command-line option; None is no value.
        assignments: `key=value` texts, the value in TOML or plain text.

    Raises:
        ConfigError: something is wrong; it says what, where, and how it should be.
    """
    values: dict[str, Value] = {}
    places: dict[str, str] = {}
    for source in _sources(user_file, required, environ, options or {}, assignments):
        found = _checked(source)
        if any(found.get(key) for key in CREDENTIALS):
            values = {key: value for key, value in values.items() if key not in CREDENTIALS}
        values |= found
        places |= {key: source.where(key) for key in found}
    config = with_values(Config(sources={key: places[key] for key in values}), values)
    refuse_key_conflict(config)
    return _with_key_of_file(config, user_file.parent)


def refuse_key_conflict(config: Config) -> None:
    """Refuse a configuration in which a key would do two things.

    Raises:
        ConfigError: it says which key, and where one of the two was set.
    """
    if problem := key_conflict(config.keys):
        where = next((place for key, place in config.sources.items() if key.startswith(KEYS)), "")
        raise ConfigError(f"{where or 'ui.keys'}: {problem}.")


def restrict(config: Config, project: ConfigFile) -> Config:
    """Return the configuration narrowed by a project's file, which can do nothing else.

    What would widen it, and what is not known, is left out with a notice.

    Raises:
        ConfigError: a setting that would restrict has no valid value.
    """
    source = _file_source(project, known_only=False)
    may = {key for key, setting in SETTINGS.items() if setting.restricts}
    ignored = sorted(source.values.keys() - may)
    notices = [f"{source.where(k)}: {k} is ignored; a project can only restrict." for k in ignored]
    wanted = {key: value for key, value in source.values.items() if key in may}
    values = _checked(replace(source, values=wanted))
    asked = values.get("permissions.mode")
    mode = asked if isinstance(asked, Mode) else config.mode
    if NARROWER.index(config.mode) < NARROWER.index(mode):
        notices.append(
            f"{source.where('permissions.mode')}: mode {mode} is ignored; "
            f"{config.mode} is narrower, and a project can only restrict."
        )
    return replace(
        config,
        mode=min(config.mode, mode, key=NARROWER.index),
        max_turns=_smaller(config.max_turns, values.get("limits.max_turns")),
        max_cost=_smaller(config.max_cost, values.get("limits.max_cost")),
        restrictions=Restrictions(
            ask=_texts(values.get("permissions.ask")), deny=_texts(values.get("permissions.deny"))
        ),
        notices=(*config.notices, *notices),
        sources={**config.sources, **_narrowed(config, values, source), PROJECT: source.name},
    )


def _narrowed(config: Config, values: Mapping[str, Value], source: Source) -> dict[str, str]:
    """Return where those settings come from that a project's file made narrower."""
    found = {}
    for key in ("permissions.mode", "limits.max_turns", "limits.max_cost"):
        own, asked = SETTINGS[key].of(config), values.get(key)
        narrower = asked is not None and (
            NARROWER.index(asked) < NARROWER.index(config.mode)
            if isinstance(asked, Mode)
            else _smaller(own, asked) != own
        )
        if narrower:
            found[key] = source.where(key)
    return found


def get(config: Config, key: str) -> Value:
    """Return a setting's value by its name.

    Raises:
        ConfigError: there is no such setting.
    """
    return _setting(key, "config get").of(config)


def save(file: Path, assignment: str) -> None:
    """Store `key=value` in a file, atomically, for its owner's eyes only.

    Raises:
        ConfigError: the setting or the value is wrong, or the file cannot be written.
    """
    key, value = _assignment(assignment)
    store(file, key, value, name="config set")


def store(file: Path, key: str, value: object, *, name: str) -> None:
    """Store one setting in a file; None takes it out. The rest stays as it was written.

    Args:
        file: the person's file; it may be missing.
        key: the setting.
        value: what would stand in the file.
        name: who asks, for messages.

    Raises:
        ConfigError: the setting or the value is wrong, or the file cannot be read or written.
    """
    source = Source(name, {key: value})
    known = ConfigFile.read(file) if is_there(file) else ConfigFile(file, "", {}, "")
    if value is None:
        _setting(key, name)
        write(file, known.without(key))
        return
    checked = _checked(source)
    others = _checked(_file_source(known, known_only=True)) if key.startswith(KEYS) else {}
    refuse_key_conflict(with_values(Config(sources={key: name}), {**others, **checked}))
    write(file, known.with_value(key, value))


def shown(key: str, value: Value) -> str:
    """Return a value as TOML, a secret as the fact that it is set."""
    if key in SECRETS:
        return '"(set)"' if value else '""'
    if key == "base_url":
        value = masked(str(value))
    if value is None:
        return "(not set)"
    plain = list(value) if isinstance(value, tuple) else value
    return tomli_w.dumps({"x": str(value) if isinstance(value, Mode) else plain})[4:].strip()


def _sources(
    user_file: Path,
    required: bool,  # noqa: FBT001 -- handed on as it came
    environ: Mapping[str, str],
    options: Mapping[str, tuple[str, object]],
    assignments: Sequence[str],
) -> Iterator[Source]:
    if required or is_there(user_file):
        yield _file_source(ConfigFile.read(user_file), known_only=True)
    yield _environment_source(environ)
    for assignment in assignments:
        key, value = _assignment(assignment)
        yield Source("--set", {key: value})
    for option, (key, value) in options.items():
        if value is not None:
            yield Source(option, {key: value})


def _file_source(file: ConfigFile, *, known_only: bool) -> Source:
    places = file.places()
    sections = {key.rpartition(".")[0] for key in SETTINGS} - {""}
    for name, value in file.data.items():
        if isinstance(value, Mapping) and known_only and name not in sections:
            known = ", ".join(f"[{section}]" for section in sorted(sections))
            raise ConfigError(
                f"{places.get(name, file.path)}: there is no section [{name}]. Sections: {known}."
            )
    return Source(str(file.path), dict(_flat(file.data, sections, "")), places)


def _flat(
    table: Mapping[str, object], sections: Collection[str], prefix: str
) -> Iterator[tuple[str, object]]:
    """Yield the settings of a table by their whole names: sections may hold sections."""
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, Mapping) and (not prefix or key in sections):
            yield from _flat(value, sections, f"{key}.")
        else:
            yield key, value


def _environment_source(environ: Mapping[str, str]) -> Source:
    """Return what is set in the environment. Empty is not set, but a blank URL is wrong."""
    found = {
        (variable, key): value
        for variable, key in ENVIRONMENT.items()
        if (value := environ.get(variable, "")).strip() or (value and key == "base_url")
    }
    return Source(
        "the environment",
        {key: value for (_, key), value in found.items()},
        {key: variable for variable, key in found},
    )


def _checked(source: Source) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for key, value in source.values.items():
        where = source.where(key)
        setting = _setting(key, where)
        try:
            values[key] = setting.parse(value)
        except (ValueError, TypeError) as error:
            hide = key in SECRETS or key == "base_url" or isinstance(value, list | Mapping)
            came = "" if hide else f", not {value!r}"
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


def _assignment(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError("A setting is given as key=value, such as ui.mouse=false.")
    try:
        parsed = tomllib.loads(f"x = {value.strip()}")
    except tomllib.TOMLDecodeError:
        parsed = {}
    return key.strip(), parsed["x"] if parsed.keys() == {"x"} else value.strip()


def _with_key_of_file(config: Config, base: Path) -> Config:
    """Return the configuration with the key that stands in `api_key_file`."""
    if not config.api_key_file or config.api_key or config.auth_token:
        return config
    file = base / Path(config.api_key_file).expanduser()
    try:
        text = file.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(f"api_key_file: {file} cannot be read: {reason}.") from error
    key = _checked(Source(str(file), {"api_key": text}))["api_key"]
    if not key:
        raise ConfigError(f"api_key_file: {file} is empty.")
    return replace(config, api_key=str(key), sources={**config.sources, "api_key": str(file)})


def _smaller(own: Any, project: Any) -> Any:  # noqa: ANN401 -- an int or a float, like its arguments
    return min((value for value in (own, project) if value is not None), default=None)


def _texts(value: Value | None) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()
