"""Counts what a thread costs, and ends a run that would cost too much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from todo_agent.agent.json import Json
from todo_agent.agent.middleware import CallModel, Middleware, RunContext
from todo_agent.agent.outcomes import LimitReached
from todo_agent.agent.provider import ModelRequest, ModelResponse, Usage
from todo_agent.agent.state import Key

PriceOf = Callable[[Usage, str], float | None]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the thread has cost so far, in US dollars."""

    usd: float = 0.0
    unpriced_calls: int = 0
    """Calls to models whose price is not known; their cost is missing in `usd`."""


def _to_json(cost: Cost) -> Json:
    return {"usd": cost.usd, "unpriced_calls": cost.unpriced_calls}


def _from_json(data: Json) -> Cost:
    match data:
        case {"usd": int() | float() as usd, "unpriced_calls": int(unpriced_calls)}:
            return Cost(float(usd), unpriced_calls)
        case _:
            raise ValueError("a cost is {usd, unpriced_calls}")


COST: Key[Cost] = Key("cost", Cost(), to_json=_to_json, from_json=_from_json)


class Budget(Middleware):
    """Keeps `COST` up to date. It stands innermost, so that it sees every model call.

    Args:
        price_of: the price of one call in US dollars, or None where it is not known.
        max_usd: the most one run may cost; None for no limit.
    """

    name = "budget"
    writes = frozenset({COST})

    def __init__(self, price_of: PriceOf, *, max_usd: float | None = None) -> None:
        self._price_of = price_of
        self._max_usd = max_usd
        self._at_start: dict[str, float] = {}

    async def before_turn(self, ctx: RunContext) -> None:
        """End the run where the next step would start above the limit."""
        cost = ctx.state[COST]
        spent = cost.usd - self._at_start.setdefault(ctx.run_id, cost.usd)
        if self._max_usd is not None and spent >= self._max_usd:
            raise LimitReached(f"Stopped at ${spent:.2f}: the limit is ${self._max_usd:.2f} a run.")

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """Add the price of the call."""
        response = await call_next(request)
        before = ctx.state[COST]
        price = self._price_of(response.usage, request.model)
        if price is None:
            return response.add_update(COST.set(Cost(before.usd, before.unpriced_calls + 1)))
        return response.add_update(COST.set(Cost(before.usd + price, before.unpriced_calls)))

    async def on_end(self, ctx: RunContext, end: object) -> None:
        """Forget the run."""
        self._at_start.pop(ctx.run_id, None)
