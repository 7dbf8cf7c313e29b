"""What is decided about one resource, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from todo_agent.middleware.rules import Decision, Rule


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision, its reason in words, and the rule that "always allow" would store."""

    decision: Decision
    reason: str = ""
    offer: str = ""
    rule: Rule | None = None
    """The rule that decided, where one did."""


ALLOWED = Verdict(Decision.ALLOW)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the most severe verdict; of several that ask, one that says it all.

    A rule is offered only where it would answer the whole question.
    """
    severe = [verdict for verdict in verdicts if verdict.decision > Decision.ALLOW]
    if not severe:
        return ALLOWED
    top = max(severe, key=lambda verdict: verdict.decision).decision
    told = list(dict.fromkeys(verdict for verdict in severe if verdict.decision is top))
    if len(told) == 1:
        return told[0]
    reasons = dict.fromkeys(verdict.reason for verdict in told)
    return Verdict(top, "; ".join(reasons), rule=told[0].rule)
