"""Every setting there is: its name, its default, and what it may be. One table for all uses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, cast

from todo_agent.agent.modes import Mode
from todo_agent.middleware.rules import Decision, Rule, RuleError
from todo_agent.providers import endpoint

Value: TypeAlias = "str | int | float | bool | tuple[str, ...] | Mode | None"
Parse: TypeAlias = Callable[[object], Value]

NO_KEY = (
    "There is no API key. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or write "
    'api_key = "..." into the configuration file, and start again.'
)
DISCIPLINES = ("free", "guarded", "sequential")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
SECRETS = frozenset({"api_key", "auth_token"})
"""Settings whose value is never shown."""


def text(value: object) -> str:
    """Take text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text")
    return value.strip()


def secret(value: object) -> str:
    """Take a key: visible ASCII. The message never repeats it."""
    if not isinstance(value, str):
        raise TypeError("text")
    value = value.strip()
    if not value.isascii() or not value.isprintable():
        raise ValueError("a key of visible ASCII characters on one line")
    return value


def url(value: object) -> str:
    """Take the address of a server. The message never repeats it: it may hold a password."""
    expected = "an address such as https://api.anthropic.com, without a query"
    if not isinstance(value, str):
        raise TypeError(expected)
    value = value.strip()
    if not value.isprintable() or " " in value:
        raise ValueError(expected)
    try:
        return endpoint.base_url(value)
    except ValueError as error:
        raise ValueError(expected) from error


def one_of(*words: str) -> Parse:
    """Take one of some words."""

    def parse(value: object) -> str:
        if value not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return str(value)

    return parse


def mode(value: object) -> Mode:
    """Take a permission mode."""
    try:
        return Mode(str(value))
    except ValueError:
        raise ValueError(f"one of {', '.join(Mode)}") from None


def whole(minimum: int, maximum: int = 10_000_000) -> Parse:
    """Take a whole number within bounds."""

    def parse(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise ValueError(f"a whole number from {minimum} to {maximum}")
        return value

    return parse


def money(value: object) -> float:
    """Take an amount of US dollars above 0."""
    number = float(value) if isinstance(value, int | float) else math.nan
    if isinstance(value, bool) or not math.isfinite(number) or number <= 0:
        raise ValueError("an amount of US dollars above 0")
    return number


def yes_or_no(value: object) -> bool:
    """Take true or false."""
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def rules(value: object) -> tuple[str, ...]:
    """Take a list of permission rules."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError('a list of rules, such as ["run git push *"]')
    for item in value:
        try:
            Rule.parse(Decision.ASK, item)
        except RuleError as error:
            raise ValueError(f"a list of rules, but {str(error).rstrip('.')}") from error
    return tuple(value)


def setting(key: str, parse: Parse, *, default: Value, restricts: bool = False) -> Any:  # noqa: ANN401 -- it stands for any field's default
    """Declare a setting. `restricts`: a project's file may have it, since it only narrows."""
    return field(default=default, metadata={"key": key, "parse": parse, "restricts": restricts})


@dataclass(frozen=True, slots=True)
class Restrictions:
    """A project's own rules; they make decisions more severe, never less."""

    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


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
    notify: Literal["off", "bell", "desktop"] = setting(
        "ui.notify", one_of("off", "bell", "desktop"), default="off"
    )
    restrictions: Restrictions = field(default_factory=Restrictions)
    """What a project's file adds."""
    instructions: str = ""
    """What the project asks of agents."""
    notices: tuple[str, ...] = ()
    """What to tell the person about the files."""

    @property
    def has_key(self) -> bool:
        """Whether a model can be asked."""
        return bool(self.api_key or self.auth_token)


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    key: str
    """Its name in the file, with the section: `plan.max_todos`."""
    attribute: str
    parse: Parse
    default: Value
    restricts: bool


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
}
