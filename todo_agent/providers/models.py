"""What is known of models, read from one data file. Loads without the SDK."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, TypeAlias

from todo_agent.agent.provider import Usage

Thinking: TypeAlias = Literal["adaptive", "budget", "none"]
UNKNOWN_CONTEXT = 200_000
"""What a model nobody knows is taken to hold, in tokens."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Model:
    """One model's facts."""

    context: int = UNKNOWN_CONTEXT
    """Tokens its context holds."""
    output: int | None = None
    """Tokens of its longest answer; None where that is not known."""
    thinking: Thinking = "none"
    input_usd: float | None = None
    """Price of a million tokens; None where it is not known."""
    output_usd: float | None = None


_DATA = tomllib.loads(files("todo_agent.providers").joinpath("models.toml").read_text("utf-8"))
MODELS: Mapping[str, Model] = {name: Model(**facts) for name, facts in _DATA["models"].items()}
DEFAULT_MODEL: str = _DATA["default"]
CACHE_WRITE_FACTOR: float = _DATA["cache_write_factor"]
CACHE_READ_FACTOR: float = _DATA["cache_read_factor"]


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
    if model.input_usd is None or model.output_usd is None:
        return None
    input_tokens = (
        usage.input_tokens
        + usage.cache_write_tokens * CACHE_WRITE_FACTOR
        + usage.cache_read_tokens * CACHE_READ_FACTOR
    )
    return (input_tokens * model.input_usd + usage.output_tokens * model.output_usd) / MILLION
