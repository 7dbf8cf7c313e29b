"""The middlewares that carry a plan: the tool, what the model sees, and what steers the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from todo_agent.agent.conversation import Conversation
from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message, ToolResult, user
from todo_agent.agent.middleware import (
    Block,
    CallModel,
    Directive,
    Middleware,
    Proceed,
    RunContext,
)
from todo_agent.agent.outcomes import RunEnd
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.state import Key
from todo_agent.agent.tools import Error, Tool
from todo_agent.plan.conduct import Guarded, Round, stopped
from todo_agent.plan.discipline import Discipline
from todo_agent.plan.disciplines import FREE, GUARDED, MAX_TODO_CHARS, MAX_TODOS
from todo_agent.plan.extra import ExtraRef, read_ledger, write_ledger
from todo_agent.plan.history import Author
from todo_agent.plan.homes import Home, InExtra, InState
from todo_agent.plan.keeper import Keeper
from todo_agent.plan.keys import PLAN, PLAN_KEYS
from todo_agent.plan.plan import Plan

MAX_FORCED_ROUNDS = 20


class PlanNotes(Middleware):
    """Tells the model what became of its plan outside its own calls.

    What a person changed, and what an interrupt left in progress, is a section of the next
    request. A plan of another discipline is taken over when a run begins.

    Args:
        keeper: returns the keeper of an agent's plans, by the agent's name.
    """

    writes = PLAN_KEYS

    def __init__(self, keeper: Callable[[str], Keeper]) -> None:
        self._keeper = keeper

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        """Take up the plan of the thread."""
        return Proceed(message, self._keeper(ctx.agent_name).begin(ctx))

    async def on_resume(self, ctx: RunContext) -> None:
        """Take up the plan of a suspended run."""
        self._keeper(ctx.agent_name).open(ctx.conversation_id)

    async def prompt_sections(self, ctx: RunContext) -> Sequence[PromptSection]:
        """Show the plan as the discipline does, with what happened to it meanwhile."""
        return self._keeper(ctx.agent_name).sections(ctx)

    async def wrap_model_call(
        self, request: ModelRequest, call_next: CallModel, ctx: RunContext
    ) -> ModelResponse:
        """See to it that the model can see the list that is in force."""
        return await call_next(self._keeper(ctx.agent_name).with_list(ctx, request))

    async def after_agent(self, ctx: RunContext, answer: Message) -> Proceed | Block:
        """Close the run: nothing is interrupted, and the notes were read."""
        return Proceed(answer, self._keeper(ctx.agent_name).answered(ctx))

    async def on_message(self, ctx: RunContext, message: Message) -> None:
        """Learn which writes are committed."""
        self._keeper(ctx.agent_name).committed(ctx, message)

    async def on_end(self, ctx: RunContext, end: RunEnd) -> None:
        """Forget the run."""
        self._keeper(ctx.agent_name).release(ctx)


class PlanMiddleware(PlanNotes):
    """Carries a plan under a discipline.

    One instance may serve many conversations and agents at once. What a conduct
    remembers is kept in the conversation's `extra`.

    Args:
        discipline: how the plan may be written, shown, and steer the run.
        home: where the list lives; in the state by default.
        max_forced_rounds: the most rounds that the conduct forces in one run (S1-32).
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        discipline: Discipline,
        *,
        home: Home | None = None,
        max_forced_rounds: int = MAX_FORCED_ROUNDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.discipline = discipline
        self._plans = Keeper(discipline, home or InState(), clock)
        self._tool = self._plans.tool()
        self._max_forced_rounds = max_forced_rounds
        self._forced: dict[str, int] = {}
        super().__init__(lambda _: self._plans)

    @property
    def tools(self) -> Sequence[Tool]:
        """The tool that writes the plan."""
        return (self._tool,)

    def memory(self, ctx: RunContext) -> dict[str, Json]:
        """Return the dict in which the conduct's memory is kept."""
        return ctx.extra

    async def user_edit(
        self, conversation: Conversation, plan: Plan, *, by: Author = "user"
    ) -> str | None:
        """Commit a plan that a person made, or brought back; return None, or why it cannot be.

        The model is told of it at its next step.

        Raises:
            OSError: it could not be recorded; nothing changed.
        """
        return await self._plans.user_edit(conversation, plan, by=by)

    async def take_over(self, conversation: Conversation) -> tuple[str, ...]:
        """Make a stored plan one of this discipline, and say what had to change.

        Every run does so when it begins; a program calls it to show the plan before.

        Raises:
            OSError: it could not be recorded; nothing changed.
        """
        return await self._plans.take_over(conversation)

    async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
        """Judge the round before its calls run."""
        calls = response.message.calls
        writes = [call for call in calls if call.name == self._tool.name]
        others = len(calls) - len(writes)
        round_ = Round(response.message.text, len(writes), others, steered=ctx.steering_waits)
        plan, conduct, memory = self._plans.plan(ctx), self.discipline.conduct, self.memory(ctx)
        ruling, ledger = conduct.after_model(round_, plan, read_ledger(memory))
        refused: dict[str, Error] = {}
        verdict = self.discipline.admission.verdict(len(writes))
        if verdict is not None:
            refused = {call.id: Error(str(verdict)) for call in writes}
        if ruling.refuse_all is not None:
            refused = {call.id: Error(str(ruling.refuse_all)) for call in calls}
        if ruling.forced and self._too_often(ctx.run_id):
            write_ledger(memory, conduct.give_up(ledger))
            return Directive("stop", refuse=refused, reason=stopped(plan))
        write_ledger(memory, ledger)
        inject = (user(ruling.inject, synthetic=True),) if ruling.inject else ()
        return Directive(ruling.decision, inject, refused, reason=ruling.reason)

    async def after_turn(self, ctx: RunContext, results: tuple[ToolResult, ...]) -> None:
        """Learn what became of the round's only write."""
        accepted = {result.tool_use_id: not result.is_error for result in results}
        calls = next((m.calls for m in reversed(ctx.messages) if m.role == "assistant"), ())
        writes = [call.id for call in calls if call.name == self._tool.name]
        if len(writes) != 1:
            return
        memory, conduct = self.memory(ctx), self.discipline.conduct
        after = conduct.after_write(read_ledger(memory), accepted=accepted.get(writes[0], False))
        write_ledger(memory, after)

    async def on_end(self, ctx: RunContext, end: RunEnd) -> None:
        """Forget the run."""
        self._forced.pop(ctx.run_id, None)
        await super().on_end(ctx, end)

    def _too_often(self, run_id: str) -> bool:
        self._forced[run_id] = self._forced.get(run_id, 0) + 1
        return self._forced[run_id] > self._max_forced_rounds


class TodoMiddleware(PlanMiddleware):
    """Plan with ids and limits; it guides and never steers (spec S0).

    Args:
        max_todos: the most todos of a list, at least 1.
        max_todo_chars: the longest content in code points, at least 1.
        clock: seconds since the epoch.

    Raises:
        ValueError: a limit is below 1 (S0-31).
    """

    key: Key[Plan] = PLAN
    """Where the list stands in the state (S0-04)."""

    def __init__(
        self,
        max_todos: int = MAX_TODOS,
        max_todo_chars: int = MAX_TODO_CHARS,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        _at_least_one(max_todos=max_todos, max_todo_chars=max_todo_chars)
        shape = replace(FREE.shape, max_todos=max_todos, max_chars=max_todo_chars)
        super().__init__(replace(FREE, shape=shape), clock=clock)


class TodoListMiddleware(PlanMiddleware):
    """Plan with one todo in progress, a completion guard and a stale reminder (spec S1).

    Its state is six keys of the conversation's `extra` dict, saved with it.

    Args:
        extra_ref: returns the live `extra` of the conversation that runs; it is called at
            every use, so it may name what does not exist yet (S1-48, S1-49).
        tool_description: what the model reads of the tool, in place of the default.
        system_prompt: what ends the system prompt, in place of the default.
        stale_threshold: rounds without a write until the first reminder, at least 1.
        stale_interval: rounds between two reminders, at least 1.
        max_forced_rounds: the most rounds the guard forces in one run, at least 1 (S1-32).
        questions_end_turns: let an answer that asks the person something end the run once
            it was corrected.
        clock: seconds since the epoch.

    Raises:
        ValueError: a number is below 1.
    """

    def __init__(
        self,
        *,
        extra_ref: ExtraRef,
        tool_description: str | None = None,
        system_prompt: str | None = None,
        stale_threshold: int = 5,
        stale_interval: int = 5,
        max_forced_rounds: int = MAX_FORCED_ROUNDS,
        questions_end_turns: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        _at_least_one(
            stale_threshold=stale_threshold,
            stale_interval=stale_interval,
            max_forced_rounds=max_forced_rounds,
        )
        tool = replace(
            GUARDED.tool,
            description=GUARDED.tool.description if tool_description is None else tool_description,
            guide=GUARDED.tool.guide if system_prompt is None else system_prompt,
        )
        conduct = Guarded(stale_threshold, stale_interval, questions_end_turns)
        self._extra_ref = extra_ref
        super().__init__(
            replace(GUARDED, tool=tool, conduct=conduct),
            home=InExtra(extra_ref, GUARDED.shape.words),
            max_forced_rounds=max_forced_rounds,
            clock=clock,
        )

    def memory(self, ctx: RunContext) -> dict[str, Json]:
        """Return the dict that holds the six keys (S1-51…57)."""
        return self._extra_ref()

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        """Check that what `extra_ref` returns is saved with this conversation (S1-50)."""
        if self._extra_ref() is not ctx.extra:
            raise ValueError(
                "extra_ref() does not return the extra dict of the conversation that runs, so "
                "the todo list would be lost; pass extra_ref=lambda: conversation.extra"
            )
        return await super().before_agent(ctx, message)


def _at_least_one(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, not {number}")
