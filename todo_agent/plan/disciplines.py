"""The three disciplines, as values."""

from __future__ import annotations

from todo_agent.plan import rules, texts
from todo_agent.plan.admission import OnlyOne
from todo_agent.plan.conduct import Guarded
from todo_agent.plan.discipline import Discipline, ToolText
from todo_agent.plan.identity import ByClaim
from todo_agent.plan.shapes import Shape, Words
from todo_agent.plan.tidy import in_order, one_active
from todo_agent.plan.views import (
    guide_and_list,
    reply_with_ids,
    reply_with_position,
    suffix_and_list,
)

MAX_TODOS = 50
MAX_TODO_CHARS = 400

FREE = Discipline(
    name="free",
    tool=ToolText("write_todos", texts.FREE_DESCRIPTION, texts.FREE_GUIDE),
    shape=Shape(Words(done="done"), max_todos=MAX_TODOS, max_chars=MAX_TODO_CHARS, with_ids=True),
    rules=(rules.contents_say_something, rules.ids_once, rules.ids_known),
    identity=ByClaim(),
    view=guide_and_list,
    reply=reply_with_ids,
)
"""Ids and limits, no rule between statuses (spec 1)."""

GUARDED = Discipline(
    name="guarded",
    tool=ToolText("write_todos", texts.GUARDED_DESCRIPTION, texts.GUARDED_GUIDE),
    shape=Shape(strict=False),
    rules=(
        rules.empty_only_over_done,
        rules.contents_say_something,
        rules.one_active_unless_done,
    ),
    admission=OnlyOne(),
    view=suffix_and_list,
    conduct=Guarded(),
    tidy=one_active,
)
"""One in progress, and a guard that asks for the rest (spec 2)."""

SEQUENTIAL = Discipline(
    name="sequential",
    tool=ToolText("todo_write", texts.SEQUENTIAL_DESCRIPTION),
    shape=Shape(min_todos=1, max_todos=100, max_chars=4000, trim=True),
    rules=(
        rules.contents_say_something,
        rules.done_then_active_then_pending,
        rules.fresh_at_first,
        rules.texts_stay,
        rules.done_stays_done,
        rules.one_step,
    ),
    reply=reply_with_position,
    tidy=in_order,
)
"""A fixed list, one step at a time (spec 3)."""

DISCIPLINES = {discipline.name: discipline for discipline in (FREE, GUARDED, SEQUENTIAL)}
