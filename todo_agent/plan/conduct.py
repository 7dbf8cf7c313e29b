"""Whether and how the plan steers the run: a ledger in, a ruling and a ledger out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from todo_agent.plan.plan import Plan
from todo_agent.plan.refusal import Refusal

GUARD = "finalization"
STRIKES = 3
"""The firing that blocks the run (S1-26)."""


@dataclass(frozen=True, slots=True)
class Round:
    """One answer of the model."""

    text: str = ""
    writes: int = 0
    """Calls of the plan's tool."""
    others: int = 0
    """Calls of other tools."""

    @property
    def is_answer(self) -> bool:
        """Whether it says something and calls nothing."""
        return bool(self.text.strip()) and not self.writes and not self.others


@dataclass(frozen=True, slots=True)
class Blocked:
    """A guard has had enough (S1-53)."""

    guard: str
    message: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a conduct remembers from round to round; kept with the thread."""

    retries: Mapping[str, int] = field(default_factory=dict)
    blocked: Blocked | None = None
    suppressed: bool = False
    stale: int = 0
    """Rounds with calls since the last write, while something was open."""
    correction: bool = False
    """A correction was injected in this very round."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What follows from a round."""

    decision: Literal["natural", "again", "stop"] = "natural"
    inject: str = ""
    """A message for the model; empty for none."""
    refuse_all: Refusal | None = None
    """No call of the round runs."""
    forced: bool = False
    """The model is called because of the guard."""


class Conduct(Protocol):
    """Judges every round before its calls run, and hears what became of its write."""

    def after_model(self, round_: Round, plan: Plan, ledger: Ledger) -> tuple[Ruling, Ledger]:
        """Return what follows from a round, judged by the plan before its calls."""
        ...

    def after_write(self, ledger: Ledger, *, accepted: bool) -> Ledger:
        """Return the ledger after a round's only write was accepted or refused."""
        ...


@dataclass(frozen=True, slots=True)
class Silent:
    """The plan guides and never steers (S0-49)."""

    def after_model(self, round_: Round, plan: Plan, ledger: Ledger) -> tuple[Ruling, Ledger]:
        """Let everything take its course."""
        return Ruling(), ledger

    def after_write(self, ledger: Ledger, *, accepted: bool) -> Ledger:
        """Remember nothing."""
        return ledger


@dataclass(frozen=True, slots=True)
class Guarded:
    """Completion guard, escalation and stale reminder (S1-20…S1-40)."""

    stale_threshold: int = 5
    """Rounds without a write until the reminder (S1-34)."""
    stale_interval: int = 5
    """Rounds between two reminders (S1-35)."""
    questions_end_turns: bool = False
    """An answer that ends by asking the person something is corrected once at most."""

    def after_model(self, round_: Round, plan: Plan, ledger: Ledger) -> tuple[Ruling, Ledger]:
        """Judge a round in the order of S1-31."""
        calm = replace(ledger, correction=False)
        if ledger.blocked is not None:
            return self._while_blocked(round_, ledger.blocked, calm)
        if ledger.suppressed and not round_.writes:
            return Ruling(), calm
        if round_.writes:
            return Ruling(), replace(calm, stale=0)
        if not plan.open:
            return Ruling(), replace(calm, retries={})
        if round_.others:
            return self._without_a_write(replace(calm, retries={}, stale=ledger.stale + 1), plan)
        if not round_.is_answer:
            return Ruling(), calm
        return self._over_open_todos(round_, calm, plan)

    def after_write(self, ledger: Ledger, *, accepted: bool) -> Ledger:
        """Start afresh after an accepted write (S1-24, S1-30); keep all after a refused one."""
        return Ledger() if accepted else ledger

    def _while_blocked(
        self, round_: Round, blocked: Blocked, ledger: Ledger
    ) -> tuple[Ruling, Ledger]:
        if round_.is_answer:
            return Ruling("stop"), Ledger(suppressed=True)
        refusal = Refusal("guard_blocked", "Tools are closed until you have explained in text.")
        return Ruling("again", blocked.message, refuse_all=refusal, forced=True), ledger

    def _without_a_write(self, ledger: Ledger, plan: Plan) -> tuple[Ruling, Ledger]:
        over = ledger.stale - self.stale_threshold
        if over < 0 or over % self.stale_interval:
            return Ruling(), ledger
        text = (
            f"The todo list was not updated for {ledger.stale} rounds; {_open(plan)}. "
            "Update it if it is no longer true, or go on if it is."
        )
        return Ruling(inject=text), ledger

    def _over_open_todos(self, round_: Round, ledger: Ledger, plan: Plan) -> tuple[Ruling, Ledger]:
        strikes = ledger.retries.get(GUARD, 0) + 1
        if self.questions_end_turns and strikes > 1 and round_.text.rstrip().endswith(("?", "？")):
            return Ruling(), ledger
        retries = {**ledger.retries, GUARD: strikes}
        if strikes < STRIKES:
            text = (
                f"You answered, but {_open(plan)}. Finish the work, or update the list with the "
                "tool if something is done or no longer needed."
            )
            return Ruling("again", text, forced=True), replace(
                ledger, retries=retries, correction=True
            )
        text = (
            f"Still {_open(plan)}. Call no more tools. Explain in plain text to the person what "
            "is done, what is open, and why."
        )
        return Ruling("again", text, forced=True), replace(
            ledger, retries=retries, blocked=Blocked(GUARD, text)
        )


def _open(plan: Plan) -> str:
    names = "; ".join(todo.content[:80] for todo in plan.open[:5])
    more = f" and {len(plan.open) - 5} more" if len(plan.open) > 5 else ""
    return f"{len(plan.open)} of {len(plan)} todos are open: {names}{more}"
