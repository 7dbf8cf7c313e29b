"""Whether and how the plan steers the run: a ledger in, a ruling and a ledger out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from todo_agent.plan.plan import Plan
from todo_agent.plan.refusal import Refusal
from todo_agent.plan.shapes import shown

GUARD = "finalization"
STRIKES = 3
"""The firing that blocks the run (S1-26)."""
CLOSING = " \t\r\n*_`\"')]}»”’"
"""What may stand behind the mark of a question."""


@dataclass(frozen=True, slots=True)
class Round:
    """One answer of the model."""

    text: str = ""
    writes: int = 0
    """Calls of the plan's tool."""
    others: int = 0
    """Calls of other tools."""
    steered: bool = False
    """A person has typed something meanwhile, so the run goes on in any case."""

    @property
    def is_answer(self) -> bool:
        """Whether it says something and calls nothing."""
        return bool(self.text.strip()) and not self.writes and not self.others

    @property
    def asks(self) -> bool:
        """Whether it ends with a question, perhaps in markup or quotes."""
        return self.text.rstrip(CLOSING).endswith(("?", "？", "؟"))


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

    @property
    def strikes(self) -> int:
        """How often in a row the guard has fired (S1-23)."""
        return self.retries.get(GUARD, 0)


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
    reason: str = ""
    """Why the run ends, for the person."""


class Conduct(Protocol):
    """Judges every round before its calls run, and hears what became of its write."""

    def after_model(self, round_: Round, plan: Plan, ledger: Ledger) -> tuple[Ruling, Ledger]:
        """Return what follows from a round, judged by the plan before its calls."""
        ...

    def after_write(self, ledger: Ledger, *, accepted: bool) -> Ledger:
        """Return the ledger after a round's only write was accepted or refused."""
        ...

    def give_up(self, ledger: Ledger) -> Ledger:
        """Return the ledger after the run was stopped for too many forced rounds (S1-32)."""
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

    def give_up(self, ledger: Ledger) -> Ledger:
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
            return self._while_blocked(round_, plan, ledger.blocked, calm)
        if ledger.suppressed and not round_.writes:
            return Ruling(), calm
        if round_.writes:
            return Ruling(), replace(calm, stale=0)
        calm = replace(calm, retries={})
        if not plan.open:
            return Ruling(), calm
        if round_.others:
            return self._without_a_write(replace(calm, stale=ledger.stale + 1), plan)
        if round_.is_answer and not round_.steered:
            return self._over_open_todos(round_, calm, plan, strikes=ledger.strikes + 1)
        return Ruling(), calm

    def after_write(self, ledger: Ledger, *, accepted: bool) -> Ledger:
        """Start afresh after an accepted write (S1-24, S1-30); keep all after a refused one."""
        return Ledger() if accepted else ledger

    def give_up(self, ledger: Ledger) -> Ledger:
        """Start afresh with the next run; a blocked episode is over, as after S1-28."""
        return Ledger(suppressed=ledger.suppressed or ledger.blocked is not None)

    def _while_blocked(
        self, round_: Round, plan: Plan, blocked: Blocked, ledger: Ledger
    ) -> tuple[Ruling, Ledger]:
        if round_.is_answer:
            return Ruling("stop", reason=stopped(plan)), Ledger(suppressed=True)
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

    def _over_open_todos(
        self, round_: Round, ledger: Ledger, plan: Plan, *, strikes: int
    ) -> tuple[Ruling, Ledger]:
        if self.questions_end_turns and strikes > 1 and round_.asks:
            return Ruling(), ledger
        retries = {GUARD: strikes}
        if strikes < STRIKES:
            text = (
                f"You answered, but {_open(plan)}. Finish the work, or update the list with the "
                "tool if something is done or no longer needed."
            )
            after = replace(ledger, retries=retries, correction=True)
            return Ruling("again", text, forced=True), after
        text = (
            f"Still {_open(plan)}. Call no more tools. Explain in plain text to the person what "
            "is done, what is open, and why."
        )
        after = replace(ledger, retries=retries, blocked=Blocked(GUARD, text))
        return Ruling("again", text, forced=True), after


def stopped(plan: Plan) -> str:
    """Say that a run ended over open todos."""
    return f"Stopped with {len(plan.open)} of {len(plan)} todos open."


def _open(plan: Plan) -> str:
    names = "; ".join(shown(todo.content) for todo in plan.open[:5])
    more = f" and {len(plan.open) - 5} more" if len(plan.open) > 5 else ""
    return f"{len(plan.open)} of {len(plan)} todos are open: {names}{more}"
