"""What is known of models."""

from __future__ import annotations

import pytest

from todo_agent.agent.provider import Usage
from todo_agent.providers.models import (
    DEFAULT_MODEL,
    MODELS,
    context_window,
    cost,
    facts,
    known_models,
)

MILLION = 1_000_000


def test_the_default_comes_first_and_everything_is_known_of_it():
    assert known_models()[0] == DEFAULT_MODEL
    assert None not in (facts(DEFAULT_MODEL).output, facts(DEFAULT_MODEL).price)


def test_every_price_of_a_call_counts():
    usage = Usage(MILLION, MILLION, cache_read_tokens=MILLION, cache_write_tokens=MILLION)
    assert cost(usage, "claude-opus-5") == pytest.approx(5 + 25 + 0.5 + 6.25)


def test_a_long_prompt_may_cost_more_and_the_cached_part_counts_as_prompt():
    short = Usage(100_000, MILLION)
    long = Usage(1, MILLION, cache_read_tokens=100_000)
    assert cost(short, "claude-haiku-5-5") == pytest.approx(0.01 + 0.5)
    assert cost(long, "claude-haiku-5-5") == pytest.approx(2.5 + 0.005, abs=1e-5)


def test_the_price_of_a_model_nobody_knows_is_not_known():
    assert cost(Usage(MILLION, MILLION), "a-model-of-tomorrow") is None
    assert context_window("a-model-of-tomorrow") == 200_000


def test_a_dated_name_is_its_undated_model():
    assert facts("claude-haiku-4-5-20251001") == MODELS["claude-haiku-4-5"]
    assert facts("claude-haiku-4-5-2025").price is None


@pytest.mark.parametrize("name", MODELS)
def test_a_cache_read_costs_less_and_a_cache_write_more_than_fresh_input(name):
    for price in filter(None, (MODELS[name].price, MODELS[name].long)):
        assert price.cache_read < price.input < price.cache_write < price.output
