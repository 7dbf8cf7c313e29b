"""Every setting there is: its name, its default, and what it may be. One table for all uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, cast

from todo_agent.agent.modes import Mode
from todo_agent.key_names import KEY_ACTIONS
from todo_agent.kinds import (
    Address,
    KeyNames,
    Kind,
    Money,
    OneOf,
    Program,
    Rules,
    Secret,
    Switch,
    Value,
    Whole,
    Words,
)
from todo_agent.middleware.rules import Decision, Rule

NO_KEY = (
    "There is no API key. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or write "
    'api_key = "..." into the configuration file, and start again.'
)
DISCIPLINES = ("free", "guarded", "sequential")
KEYS = "ui.keys."
"""What the settings of keys begin with."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
SECRETS = frozenset({"api_key", "auth_token"})
"""Settings whose value is never shown."""


text, secret, url, money, yes_or_no = Words(), Secret(), Address(), Money(), Switch()
rules, program, key_names = Rules(), Program(), KeyNames()
mode = OneOf(tuple(mode.value for mode in Mode), Mode)


def one_of(*words: str) -> OneOf:
    """Take one of some words."""
    return OneOf(words)


def whole(minimum: int, maximum: int = 10_000_000) -> Whole:
    """Take a whole number within bounds."""
    return Whole(minimum, maximum)


def setting(key: str, parse: Kind, *, default: Value, restricts: bool = False) -> Any:  # noqa: ANN401 -- it stands for any field's default
    """Declare a setting. `restricts`: a project's file may have it, since it only narrows."""
    return field(default=default, metadata={"key": key, "parse": parse, "restricts": restricts})


@dataclass(frozen=True, slots=True)
class Restrictions:
    """A project's own rules; they make decisions more severe, never less."""

    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The same as values. Raises RuleError for what is no rule."""
        return _rules(ask=self.ask, deny=self.deny)


def _rules(**texts: tuple[str, ...]) -> tuple[Rule, ...]:
    """Return the rules of each decision, named as in the file."""
    return tuple(
        Rule.parse(Decision[name.upper()], text) for name, group in texts.items() for text in group
    )


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings, checked."""

    model: str = setting("model", text, default="")
    max_tokens: int = setting("max_tokens", whole(1, 1_000_000), default=32_000)
    effort: str | None = setting("effort", one_of(*EFFORTS), default=None)
    base_url: str = setting("base_url", url, default="")
    api_key: str = setting("api_key", secret, default="")
    auth_token: str = setting("auth_token", secret, default="")
    api_key_file: str = setting("api_key_file", text, default="")
    discipline: str = setting("plan.discipline", one_of(*DISCIPLINES), default="guarded")
    max_todos: int = setting("plan.max_todos", whole(1, 1000), default=50)
    max_todo_chars: int = setting("plan.max_todo_chars", whole(1, 10_000), default=400)
    stale_threshold: int = setting("plan.stale_threshold", whole(1, 1000), default=5)
    stale_interval: int = setting("plan.stale_interval", whole(1, 1000), default=5)
    mode: Mode = setting("permissions.mode", mode, default=Mode.ASK, restricts=True)
    allow: tuple[str, ...] = setting("permissions.allow", rules, default=())
    ask: tuple[str, ...] = setting("permissions.ask", rules, default=(), restricts=True)
    deny: tuple[str, ...] = setting("permissions.deny", rules, default=(), restricts=True)
    sandbox: Literal["auto", "require", "off"] = setting(
        "sandbox.mode", one_of("auto", "require", "off"), default="auto"
    )
    sandbox_network: bool = setting("sandbox.network", yes_or_no, default=False)
    max_turns: int | None = setting("limits.max_turns", whole(1), default=None, restricts=True)
    max_cost: float | None = setting("limits.max_cost", money, default=None, restricts=True)
    max_prompt_section_tokens: int = setting(
        "limits.max_prompt_section_tokens", whole(100, 1_000_000), default=8000
    )
    context_window: int | None = setting("context.window", whole(1000, 100_000_000), default=None)
    compact_at: int = setting("context.compact_at", whole(0, 95), default=80)
    theme: str = setting("ui.theme", text, default="todo-agent-dark")
    mouse: bool = setting("ui.mouse", yes_or_no, default=True)
    ascii: bool | None = setting("ui.ascii", yes_or_no, default=None)
    animate: bool = setting("ui.animate", yes_or_no, default=True)
    plan_visible: bool = setting("ui.plan", yes_or_no, default=True)
    plan_side: Literal["right", "left"] = setting(
        "ui.plan_side", one_of("right", "left"), default="right"
    )
    plan_width: int = setting("ui.plan_width", whole(20, 120), default=38)
    density: Literal["comfortable", "compact"] = setting(
        "ui.density", one_of("comfortable", "compact"), default="comfortable"
    )
    notify: Literal["off", "bell", "desktop", "command"] = setting(
        "ui.notify", one_of("off", "bell", "desktop", "command"), default="off"
    )
    notify_command: tuple[str, ...] = setting("ui.notify_command", program, default=())
    keys: Mapping[str, str] = field(default_factory=dict)
    """The keys that a person chose, by action; the others keep theirs."""
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where each setting that is not a default comes from, as a person finds it."""
    restrictions: Restrictions = field(default_factory=Restrictions)
    """What a project's file adds."""
    instructions: str = ""
    """What the project asks of agents."""
    notices: tuple[str, ...] = ()
    """What to tell the person about the files."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The person's own rules as values. Raises RuleError for what is no rule."""
        return _rules(allow=self.allow, ask=self.ask, deny=self.deny)

    @property
    def has_key(self) -> bool:
        """Whether a model can be asked."""
        return bool(self.secrets)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys that are set, which nothing may show or store."""
        return tuple(filter(None, (self.api_key, self.auth_token)))


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    key: str
    """Its name in the file, with the section: `plan.max_todos`."""
    attribute: str
    parse: Kind
    default: Value
    restricts: bool

    def of(self, config: Config) -> Value:
        """Return its value."""
        if self.attribute != "keys":
            return cast("Value", getattr(config, self.attribute))
        return config.keys.get(self.key.removeprefix(KEYS), self.default)


SETTINGS: Mapping[str, Setting] = {
    row.metadata["key"]: Setting(
        row.metadata["key"],
        row.name,
        row.metadata["parse"],
        cast("Value", row.default),
        row.metadata["restricts"],
    )
    for row in fields(Config)
    if "key" in row.metadata
} | {
    KEYS + action.name: Setting(KEYS + action.name, "keys", key_names, action.keys, restricts=False)
    for action in KEY_ACTIONS
}


def with_values(config: Config, values: Mapping[str, Value]) -> Config:
    """Return the configuration with some settings, by key, set to checked values."""
    chosen = {k.removeprefix(KEYS): v for k, v in values.items() if k.startswith(KEYS)}
    named: dict[str, Any] = {
        SETTINGS[key].attribute: value for key, value in values.items() if not key.startswith(KEYS)
    }
    return replace(config, **named, keys={**config.keys, **cast("dict[str, str]", chosen)})
