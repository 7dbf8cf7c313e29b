"""The middlewares that carry a plan: the tool, what the model sees, and what steers the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Display, Message, ToolResult, user
from todo_agent.agent.middleware import Block, Directive, Middleware, Proceed, RunContext
from todo_agent.agent.outcomes import RunEnd
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.provider import ModelResponse
from todo_agent.agent.state import Key, State, Update
from todo_agent.agent.tools import Error, Locks, Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.plan.conduct import Guarded, Ledger, Round, Ruling
from todo_agent.plan.conversion import convert
from todo_agent.plan.discipline import Discipline
from todo_agent.plan.disciplines import FREE, GUARDED, MAX_TODO_CHARS, MAX_TODOS
from todo_agent.plan.extra import ExtraRef, read_ledger, read_plan, write_ledger, write_plan
from todo_agent.plan.history import difference
from todo_agent.plan.keys import PLAN, PLAN_NOTE
from todo_agent.plan.plan import Plan
from todo_agent.plan.refusal import Refusal
from todo_agent.plan.schema import tool_schema
from todo_agent.plan.views import Section, Shown

LOCK = "todos"
MAX_FORCED_ROUNDS = 20


class PlanMiddleware(Middleware):
    """Carries a plan under a discipline; where the plan is kept is for the subclass.

    One instance may serve many conversations and agents at once.
    """

    writes = frozenset({PLAN, PLAN_NOTE})

    def __init__(
        self, discipline: Discipline, *, max_forced_rounds: int = MAX_FORCED_ROUNDS
    ) -> None:
        self.discipline = discipline
        self._max_forced_rounds = max_forced_rounds
        self._forced: dict[str, int] = {}
        self._left_over: set[str] = set()
        self._tool = Tool(
            discipline.tool.name,
            discipline.tool.description,
            tool_schema(discipline.shape),
            self._write,
            check=self._check,
            locks=Locks(exclusive=frozenset({LOCK})),
        )

    @property
    def tools(self) -> Sequence[Tool]:
        """The tool that writes the plan."""
        return (self._tool,)

    def stored(self, state: State) -> Plan | None:
        """Return the plan as it is kept; None before the first write."""
        return state[PLAN]

    def keep(self, plan: Plan) -> None:
        """Keep an accepted plan wherever the state's update does not."""

    def ledger(self) -> Ledger:
        """Return what the conduct remembers."""
        return Ledger()

    def keep_ledger(self, ledger: Ledger) -> None:
        """Remember for the conduct."""

    async def user_edit(self, conversation: Conversation, plan: Plan) -> str | None:
        """Commit a plan that a person made; return why it cannot be, or None.

        The model learns of it with the next step.
        """
        before = self.stored(conversation.state) or Plan()
        written = self.discipline.edit(before, plan)
        if isinstance(written, Refusal):
            return written.message
        changes = difference(before, written).sentences() or ("reordered the todos",)
        note = "; ".join(filter(None, (conversation.state[PLAN_NOTE], *changes)))
        self.keep(written)
        await conversation.commit(Commit(update=PLAN.set(written) | PLAN_NOTE.set(note), by="user"))
        return None

    async def take_over(self, conversation: Conversation) -> tuple[str, ...]:
        """Make a plan of whatever discipline one of this, and say what changed."""
        stored = conversation.state[PLAN]
        if self.stored(conversation.state) == stored or not stored.todos:
            return ()
        plan, notes = convert(stored, self.discipline)
        self.keep(plan)
        await conversation.commit(Commit(update=PLAN.set(plan), by="restore"))
        return notes

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        """Notice a todo that is in progress since the last turn."""
        plan = self.stored(ctx.state)
        if plan is not None and plan.active is not None:
            self._left_over.add(ctx.run_id)
        return Proceed(message)

    async def prompt_sections(self, ctx: RunContext) -> Sequence[PromptSection]:
        """Show the plan as the discipline does, with what happened to it meanwhile."""
        shape, plan = self.discipline.shape, self.stored(ctx.state) or Plan()
        shown = Shown(
            plan, shape.words, self.discipline.tool.guide, shape.max_todos, shape.max_chars
        )
        sections = list(self.discipline.view(shown))
        note = self._note(ctx)
        if note and sections and not sections[-1].cacheable:
            last = sections.pop()
            note = f"{last.text}\n\n{note}"
        if note:
            sections.append(Section("todos", note, cacheable=False))
        return [PromptSection(*section) for section in sections]

    async def after_model(self, ctx: RunContext, response: ModelResponse) -> Directive:
        """Judge the round before its calls run."""
        calls = response.message.calls
        writes = [call for call in calls if call.name == self._tool.name]
        round_ = Round(response.message.text, len(writes), len(calls) - len(writes))
        plan = self.stored(ctx.state) or Plan()
        ruling, ledger = self.discipline.conduct.after_model(round_, plan, self.ledger())
        self.keep_ledger(ledger)
        refused = {}
        verdict = self.discipline.admission.verdict(len(writes))
        if verdict is not None:
            refused = {call.id: Error(str(verdict)) for call in writes}
        if ruling.refuse_all is not None:
            refused = {call.id: Error(str(ruling.refuse_all)) for call in calls}
        if ruling.forced and self._too_often(ctx.run_id):
            reason = f"Stopped: {len(plan.open)} of {len(plan)} todos are still open."
            return Directive("stop", refuse=refused, reason=reason)
        return Directive(ruling.decision, _messages(ruling), refused)

    async def after_turn(self, ctx: RunContext, results: tuple[ToolResult, ...]) -> None:
        """Learn what became of the round's only write."""
        answered = {result.tool_use_id: not result.is_error for result in results}
        asked = next((m.calls for m in reversed(ctx.messages) if m.role == "assistant"), ())
        writes = [call.id for call in asked if call.name == self._tool.name and call.id in answered]
        if len(writes) != 1:
            return
        accepted = answered[writes[0]]
        self.keep_ledger(self.discipline.conduct.after_write(self.ledger(), accepted=accepted))
        if accepted:
            self._left_over.discard(ctx.run_id)

    async def on_end(self, ctx: RunContext, end: RunEnd) -> None:
        """Forget the run."""
        self._forced.pop(ctx.run_id, None)
        self._left_over.discard(ctx.run_id)

    def _check(self, args: JsonObject) -> JsonObject | Error:
        draft = self.discipline.shape.parse(args)
        return _refused(draft) if isinstance(draft, Refusal) else args

    async def _write(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        before = self.stored(ctx.state)
        written = self.discipline.write(before, call.args)
        if isinstance(written, Refusal):
            return _refused(written)
        self.keep(written)
        return Success(
            self.discipline.reply(written, self.discipline.shape.words),
            update=accepted(written),
            display=Display(summary(before or Plan(), written)),
        )

    def _note(self, ctx: RunContext) -> str:
        notes = []
        if ctx.run_id in self._left_over:
            notes.append(
                "What is in progress was so when the last turn ended or was interrupted: it may "
                "be half done. Check before you go on with it."
            )
        if edited := ctx.state[PLAN_NOTE]:
            notes.append(f"The person changed the plan: {edited}. Their version counts.")
        return "\n".join(notes)

    def _too_often(self, run_id: str) -> bool:
        self._forced[run_id] = self._forced.get(run_id, 0) + 1
        return self._forced[run_id] > self._max_forced_rounds


class TodoMiddleware(PlanMiddleware):
    """Plan with ids and limits; it guides and never steers (spec S0).

    Args:
        max_todos: the most todos of a list, at least 1.
        max_todo_chars: the longest content in code points, at least 1.

    Raises:
        ValueError: a limit is below 1 (S0-31).
    """

    key: Key[Plan] = PLAN
    """Where the list stands in the state (S0-04)."""

    def __init__(self, max_todos: int = MAX_TODOS, max_todo_chars: int = MAX_TODO_CHARS) -> None:
        _at_least_one(max_todos=max_todos, max_todo_chars=max_todo_chars)
        shape = replace(FREE.shape, max_todos=max_todos, max_chars=max_todo_chars)
        super().__init__(replace(FREE, shape=shape))


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
        max_forced_rounds: the most rounds the guard forces in one run (S1-32).
        questions_end_turns: let an answer that asks the person something end the run once
            it was corrected.

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
            replace(GUARDED, tool=tool, conduct=conduct), max_forced_rounds=max_forced_rounds
        )

    def stored(self, state: State) -> Plan | None:
        """Return the list of the extra dict; None before the first write (S1-51)."""
        return read_plan(self._extra(), self.discipline.shape.words)

    def keep(self, plan: Plan) -> None:
        """Keep the list in the extra dict."""
        write_plan(self._extra(), plan, self.discipline.shape.words)

    def ledger(self) -> Ledger:
        """Return the guard's state from the extra dict (S1-52…56)."""
        return read_ledger(self._extra())

    def keep_ledger(self, ledger: Ledger) -> None:
        """Keep the guard's state in the extra dict."""
        write_ledger(self._extra(), ledger)

    async def before_agent(self, ctx: RunContext, message: Message) -> Proceed | Block:
        """Check that what `extra_ref` returns is saved with this conversation (S1-50)."""
        if self._extra_ref() is not ctx.extra:
            raise ValueError(
                "extra_ref() does not return the extra dict of the conversation that runs, so "
                "the todo list would be lost; pass extra_ref=lambda: conversation.extra"
            )
        return await super().before_agent(ctx, message)

    def _extra(self) -> dict[str, Json]:
        return self._extra_ref()


class PlanOwner(Protocol):
    """Whatever holds the plan of a session."""

    discipline: Discipline

    async def user_edit(self, conversation: Conversation, plan: Plan) -> str | None:
        """Commit a plan that a person made; return why it cannot be, or None."""
        ...

    async def take_over(self, conversation: Conversation) -> tuple[str, ...]:
        """Make a stored plan one of this discipline, and say what changed."""
        ...


def accepted(plan: Plan) -> Update:
    """Return the state's update for a plan the model wrote."""
    return PLAN.set(plan) | PLAN_NOTE.set("")


def summary(before: Plan, after: Plan) -> str:
    """Return what a write changed, in a few words for the screen."""
    changes = difference(before, after)
    done = after.done - before.done
    parts = [
        f"+{len(changes.added)}" if changes.added else "",
        f"-{len(changes.dropped)}" if changes.dropped else "",
        f"{done} done" if done > 0 else "",
        f"{after.done}/{len(after)}",
    ]
    return ", ".join(filter(None, parts))


def _refused(refusal: Refusal) -> Error:
    return Error(str(refusal), display=Display(f"refused: {refusal.code}"))


def _messages(ruling: Ruling) -> tuple[Message, ...]:
    return (user(ruling.inject, synthetic=True),) if ruling.inject else ()


def _at_least_one(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, not {number}")
