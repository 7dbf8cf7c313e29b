"""What a setting may be: the check of a value, and how a person's typing becomes one.

Each kind is called with a value of a file, and returns it checked or raises ValueError or
TypeError; the message is what was expected, to stand behind "must be".
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from todo_agent.agent.modes import Mode
from todo_agent.key_names import key_problem
from todo_agent.middleware.rules import Decision, Rule, RuleError
from todo_agent.providers import endpoint

Value: TypeAlias = "str | int | float | bool | tuple[str, ...] | Mode | None"


@runtime_checkable
class Kind(Protocol):
    """What a setting may be."""

    @property
    def expected(self) -> str:
        """What it has to be, to stand behind "must be"."""
        ...

    def __call__(self, value: object) -> Value:
        """Return a value of a file, checked."""
        ...

    def typed(self, text: str) -> object:
        """Return what a person's typing says, still unchecked."""
        ...


@dataclass(frozen=True, slots=True)
class Words:
    """Text that is not blank."""

    expected: str = "text"

    def __call__(self, value: object) -> str:
        """Take it without the white space around it."""
        if not isinstance(value, str) or not value.strip():
            raise ValueError(self.expected)
        return value.strip()

    def typed(self, text: str) -> object:
        """Return the text."""
        return text


@dataclass(frozen=True, slots=True)
class Secret:
    """A key. The message never repeats it."""

    expected: str = "a key of visible ASCII characters on one line"

    def __call__(self, value: object) -> str:
        """Take it without the white space around it."""
        if not isinstance(value, str):
            raise TypeError("text")
        try:
            return endpoint.clean_key(value, variable="the key") or ""
        except ValueError:
            raise ValueError(self.expected) from None

    def typed(self, text: str) -> object:
        """Return the text."""
        return text


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server. The message never repeats it: it may hold a password."""

    expected: str = "an address such as https://api.anthropic.com, without a query"

    def __call__(self, value: object) -> str:
        """Take it in the form that requests need."""
        if not isinstance(value, str):
            raise TypeError(self.expected)
        value = value.strip()
        if not value.isprintable() or " " in value:
            raise ValueError(self.expected)
        try:
            return endpoint.base_url(value)
        except ValueError as error:
            raise ValueError(self.expected) from error

    def typed(self, text: str) -> object:
        """Return the text."""
        return text


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some words."""

    words: tuple[str, ...]
    make: Callable[[str], Value] = str
    """Makes the value of the word."""

    @property
    def expected(self) -> str:
        """The words."""
        return f"one of {', '.join(self.words)}"

    def __call__(self, value: object) -> Value:
        """Take one of the words."""
        if value not in self.words:
            raise ValueError(self.expected)
        return self.make(str(value))

    def typed(self, text: str) -> object:
        """Return the word."""
        return text.strip()


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds."""

    minimum: int
    maximum: int = 10_000_000

    @property
    def expected(self) -> str:
        """The bounds."""
        return f"a whole number from {self.minimum} to {self.maximum}"

    def __call__(self, value: object) -> int:
        """Take a number within the bounds."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(self.expected)
        if not self.minimum <= value <= self.maximum:
            raise ValueError(self.expected)
        return value

    def typed(self, text: str) -> object:
        """Return the number, or the text where it is none."""
        digits = re.fullmatch(r"[+-]?\d{1,18}", text.strip().replace("_", ""))
        return int(digits[0]) if digits else text


@dataclass(frozen=True, slots=True)
class Money:
    """An amount of US dollars."""

    expected: str = "an amount of US dollars above 0"

    def __call__(self, value: object) -> float:
        """Take a number above 0."""
        number = float(value) if isinstance(value, int | float) else math.nan
        if isinstance(value, bool) or not math.isfinite(number) or number <= 0:
            raise ValueError(self.expected)
        return number

    def typed(self, text: str) -> object:
        """Return the number, or the text where it is none."""
        try:
            return float(text.strip().removeprefix("$"))
        except ValueError:
            return text


@dataclass(frozen=True, slots=True)
class Switch:
    """On or off."""

    expected: str = "true or false"

    def __call__(self, value: object) -> bool:
        """Take true or false."""
        if not isinstance(value, bool):
            raise TypeError(self.expected)
        return value

    def typed(self, text: str) -> object:
        """Return what the word means, or the text where it is neither."""
        return {"true": True, "false": False}.get(text.strip().lower(), text)


@dataclass(frozen=True, slots=True)
class Rules:
    """A list of permission rules."""

    expected: str = 'a list of rules, such as ["run git push *"]'

    def __call__(self, value: object) -> tuple[str, ...]:
        """Take rules that can be understood."""
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError(self.expected)
        for item in value:
            try:
                Rule.parse(Decision.ASK, item)
            except RuleError as error:
                raise ValueError(f"a list of rules, but {str(error).rstrip('.')}") from error
        return tuple(value)

    def typed(self, text: str) -> object:
        """Return one rule for each line."""
        return [line.strip() for line in text.splitlines() if line.strip()]


@dataclass(frozen=True, slots=True)
class Program:
    """A program with its arguments, run without a shell."""

    expected: str = 'a program and its arguments, such as ["notify-send", "todo-agent"]'

    def __call__(self, value: object) -> tuple[str, ...]:
        """Take a list of words that begins with a program."""
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError(self.expected)
        if (value and not value[0].strip()) or any("\0" in item for item in value):
            raise ValueError(self.expected)
        return tuple(value)

    def typed(self, text: str) -> object:
        """Return the words as a shell splits them, or the text where it cannot."""
        try:
            return shlex.split(text)
        except ValueError:
            return text


@dataclass(frozen=True, slots=True)
class KeyNames:
    """The keys of one action."""

    expected: str = "keys separated by commas, such as ctrl+t,f2"

    def __call__(self, value: object) -> str:
        """Take names of keys, each once."""
        if not isinstance(value, str):
            raise TypeError(self.expected)
        names = [name.strip() for name in value.split(",")]
        for name in names:
            if problem := key_problem(name):
                raise ValueError(f"{self.expected}, but {problem}")
        return ",".join(dict.fromkeys(names))

    def typed(self, text: str) -> object:
        """Return the text."""
        return text
