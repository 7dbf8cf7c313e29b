"""What is known of models, read from one data file. Loads without the SDK."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from todo_agent.agent.provider import Usage

Thinking: TypeAlias = Literal["adaptive", "budget"]
UNKNOWN_CONTEXT = 200_000
"""What a model nobody knows is taken to hold, in tokens."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    above: int = 0
    """It holds for requests whose prompt has more tokens than this."""

    def of(self, usage: Usage) -> float:
        """Return what one call costs."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
        ) / MILLION


@dataclass(frozen=True, slots=True)
class Model:
    """One model's facts."""

    context: int = UNKNOWN_CONTEXT
    """Tokens its context holds."""
    output: int | None = None
    """Tokens of its longest answer; None where that is not known."""
    thinking: Thinking | None = None
    """How it is asked to think; None where that is not known."""
    off: str | None = None
    """How it is asked not to think; None where it cannot be."""
    price: Price | None = None
    """None where it is not known, which is not the same as free."""
    long: Price | None = None
    """The price of long prompts, where it differs."""


def _model(facts: Mapping[str, Any]) -> Model:
    prices = {name: Price(**facts[name]) for name in ("price", "long") if name in facts}
    return Model(**{**facts, **prices})


_DATA = tomllib.loads(files("todo_agent.providers").joinpath("models.toml").read_text("utf-8"))
MODELS: Mapping[str, Model] = {name: _model(facts) for name, facts in _DATA["models"].items()}
DEFAULT_MODEL: str = _DATA["default"]


def known_models() -> tuple[str, ...]:
    """Return the names to choose from, the default first."""
    return tuple(MODELS)


def facts(name: str) -> Model:
    """Return what is known of a model; a dated name is its undated model."""
    if name in MODELS:
        return MODELS[name]
    undated, _, date = name.rpartition("-")
    return MODELS.get(undated, Model()) if len(date) == 8 and date.isdigit() else Model()


def context_window(name: str) -> int:
    """Return how many tokens a model's context holds."""
    return facts(name).context


def cost(usage: Usage, name: str) -> float | None:
    """Return the price of one call in US dollars, or None where it is not known."""
    model = facts(name)
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    price = model.long if model.long is not None and prompt > model.long.above else model.price
    return None if price is None else price.of(usage)
