"""A discipline: how a plan may be written, said as a value. The core has no cases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from todo_agent.plan.admission import Admission, InTurn
from todo_agent.plan.conduct import Conduct, Silent
from todo_agent.plan.identity import Identity, NoIds
from todo_agent.plan.plan import Plan
from todo_agent.plan.refusal import Refusal
from todo_agent.plan.rules import Rule, contents_say_something
from todo_agent.plan.shapes import Arguments, Shape
from todo_agent.plan.tidy import Tidy, as_it_is
from todo_agent.plan.views import Reply, View, nothing, reply_with_rows

Written: TypeAlias = "Plan | Refusal"


@dataclass(frozen=True, slots=True)
class ToolText:
    """What the model reads of the tool."""

    name: str
    description: str
    guide: str = ""
    """What the system prompt says about it; empty for nothing."""


@dataclass(frozen=True, slots=True)
class Discipline:
    """Everything in which one todo system differs from another (spec 5.1)."""

    name: str
    tool: ToolText
    shape: Shape = Shape()
    rules: tuple[Rule, ...] = (contents_say_something,)
    """The first that refuses decides."""
    identity: Identity = NoIds()
    admission: Admission = InTurn()
    view: View = nothing
    """What each model step shows of the plan."""
    reply: Reply = reply_with_rows
    """What an accepted call answers."""
    conduct: Conduct = Silent()
    tidy: Tidy = as_it_is
    """What becomes of a list that a person made, or that came from another discipline."""

    def write(self, previous: Plan | None, args: Arguments) -> Written:
        """Return the plan a call makes of the previous one, or why it is refused.

        `previous` is None before the first write. A refusal changes nothing.
        """
        draft = self.shape.parse(args)
        if isinstance(draft, Refusal):
            return draft
        for rule in self.rules:
            refusal = rule(previous, draft)
            if refusal is not None:
                return refusal
        return self.identity.assign(previous, draft)

    def edit(self, previous: Plan, wanted: Plan) -> Written:
        """Return the plan a person makes by hand, or why it cannot be.

        A person is held to the limits, not to the rules for the model: they may empty the
        list, reopen and reword. The list is then tidied, so that the model can go on from
        it. A todo keeps its id, also one that is brought back.
        """
        draft = tuple(
            replace(todo, content=self.shape.clean(todo.content)) for todo in wanted.todos
        )
        refusal = contents_say_something(None, draft) or self.shape.over_limit(draft, previous)
        return refusal or self.identity.assign(previous, self.tidy(previous, draft))
