"""Keeps the plans of conversations: the model's writes, a person's edits, and what each is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display, Message
from todo_agent.agent.middleware import RunContext
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.provider import ModelRequest
from todo_agent.agent.state import NO_UPDATE, State, Update
from todo_agent.agent.tools import Error, Locks, Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.plan.conversion import convert
from todo_agent.plan.discipline import Discipline
from todo_agent.plan.history import Author, Version, difference, with_version
from todo_agent.plan.homes import Home
from todo_agent.plan.keys import PLAN, PLAN_HISTORY, PLAN_MARKS
from todo_agent.plan.marks import Marks
from todo_agent.plan.plan import Plan
from todo_agent.plan.refusal import Refusal
from todo_agent.plan.schema import tool_schema
from todo_agent.plan.shapes import shown
from todo_agent.plan.views import LIST, Section, Shown, heading

LOCK = "todos"
MAX_CHANGES = 20
"""The most changes of a person that are told to the model one by one."""
BUSY = "The agent is changing the plan at this moment; try again."


class Keeper:
    """Applies a discipline to the plans of any number of conversations.

    The list lives in its `Home`; every accepted list is also committed under the key
    `PLAN`, which is what everybody else reads. What is held here about a conversation
    is dropped when its run ends.

    Args:
        discipline: how a plan may be written.
        home: where the list lives.
        clock: seconds since the epoch, for the versions.
    """

    def __init__(self, discipline: Discipline, home: Home, clock: Callable[[], float]) -> None:
        self.discipline = discipline
        self.home = home
        self._clock = clock
        self._seen: dict[str, Plan] = {}
        """By conversation, the plan that the running step's request was made from."""
        self._uncommitted: dict[str, dict[str, Plan | None]] = {}
        """By conversation and call, the list before a write whose result is not committed yet."""
        self._editing: set[str] = set()

    def tool(self) -> Tool:
        """Return the tool that writes the plan (S0-01, S0-33)."""
        text, shape = self.discipline.tool, self.discipline.shape
        return Tool(
            text.name,
            text.description,
            tool_schema(shape),
            self._write,
            check=self._check,
            locks=Locks(exclusive=frozenset({LOCK})),
        )

    def plan(self, ctx: RunContext) -> Plan:
        """Return the list that the rules judge by; an empty one where there is none."""
        return self.home.read(ctx.conversation_id, ctx.state) or Plan()

    def open(self, conversation_id: str) -> None:
        """Expect writes of a run; from now on they are settled as their results are committed."""
        self._uncommitted.setdefault(conversation_id, {})

    def is_open(self, conversation_id: str) -> bool:
        """Return whether a run of the conversation is under way."""
        return conversation_id in self._uncommitted

    def begin(self, ctx: RunContext) -> Update:
        """Take up a run: notice what an earlier one left in progress."""
        self.open(ctx.conversation_id)
        update, _ = self._taken_over(ctx.conversation_id, ctx.state)
        state = ctx.state.apply(update)
        marks, active = state[PLAN_MARKS], state[PLAN].active
        left = active.content if marks.run_open and active else marks.interrupted
        begun = Marks(self.discipline.name, run_open=True, interrupted=left, known=marks.known)
        return update | PLAN_MARKS.set(begun)

    def sections(self, ctx: RunContext) -> list[PromptSection]:
        """Return what the coming step shows of the plan, and of what happened to it."""
        plan, text, shape = self.plan(ctx), self.discipline.tool, self.discipline.shape
        self._seen[ctx.conversation_id] = ctx.state[PLAN]
        sections = list(self.discipline.view(Shown(plan, shape, text.guide)))
        if notes := _notes(ctx.state):
            sections.append(Section("plan-note", notes, cacheable=False))
        return [PromptSection(*section) for section in sections]

    def with_list(self, ctx: RunContext, request: ModelRequest) -> ModelRequest:
        """Return the request so that the model can see the list it has to go on from.

        A discipline that shows it in the tool's results alone needs this when those are no
        longer sent, and when a person has changed the list since.
        """
        if any(section.name == LIST for section in request.sections):
            return request
        edited = ctx.state[PLAN] if ctx.state[PLAN_MARKS].known is not None else None
        plan = self.home.read(ctx.conversation_id, ctx.state) or edited
        if not plan:
            return request
        text = self.discipline.reply(plan, self.discipline.shape.words)
        if any(r.text == text for m in reversed(request.messages) for r in m.results):
            return request
        section = PromptSection(LIST, f"{heading(plan)}\n{text}")
        return replace(request, sections=(*request.sections, section))

    def answered(self, ctx: RunContext) -> Update:
        """Close a run that the model answered: it has read the notes that its request had."""
        marks = ctx.state[PLAN_MARKS]
        seen = self._seen.get(ctx.conversation_id)
        known = None if marks.known is None or seen == ctx.state[PLAN] else seen
        return PLAN_MARKS.set(replace(marks, run_open=False, interrupted="", known=known))

    def committed(self, ctx: RunContext, message: Message) -> None:
        """Settle the writes whose results a committed message holds."""
        waiting = self._uncommitted.get(ctx.conversation_id, {})
        for result in message.results:
            if result.tool_use_id not in waiting:
                continue
            before = waiting.pop(result.tool_use_id)
            if result.is_error:
                self.home.write(ctx.conversation_id, before)

    def release(self, ctx: RunContext) -> None:
        """Forget a run that ended; a write that was never committed did not happen."""
        for message in ctx.messages if self._uncommitted.get(ctx.conversation_id) else ():
            self.committed(ctx, message)
        for before in self._uncommitted.pop(ctx.conversation_id, {}).values():
            self.home.write(ctx.conversation_id, before)
        self._seen.pop(ctx.conversation_id, None)

    async def user_edit(
        self, conversation: Conversation, plan: Plan, *, by: Author = "user"
    ) -> str | None:
        """Commit a plan that a person made, and return None, or why it cannot be.

        The model is told of it at its next step.
        """
        if conversation.id in self._editing or self._uncommitted.get(conversation.id):
            return BUSY
        state = conversation.state
        before, list_ = state[PLAN], self.home.read(conversation.id, state)
        written = self.discipline.edit(before, plan)
        if isinstance(written, Refusal):
            return written.message
        marks = state[PLAN_MARKS]
        known = before if marks.known is None else marks.known
        unknown = None if known == written else known
        marks = replace(marks, known=unknown, discipline=self.discipline.name)
        self._editing.add(conversation.id)
        try:
            self.home.edit(conversation.id, written)
            update = self._version(state, written, by) | PLAN_MARKS.set(marks)
            await conversation.commit(Commit(update=update, by=by))
        except OSError:
            self.home.write(conversation.id, list_)
            raise
        finally:
            self._editing.discard(conversation.id)
        return None

    async def take_over(self, conversation: Conversation) -> tuple[str, ...]:
        """Make a plan of another discipline one of this, and say what had to change."""
        update, notes = self._taken_over(conversation.id, conversation.state)
        await conversation.commit(Commit(update=update, by="restore"))
        return notes

    def _check(self, args: JsonObject) -> JsonObject | Error:
        draft = self.discipline.shape.parse(args)
        if isinstance(draft, Refusal):
            return _error(draft)
        return {"todos": [self.discipline.shape.row(todo) for todo in draft]}

    async def _write(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        conversation, state = ctx.conversation_id, ctx.state
        waiting = self._uncommitted.get(conversation, {})
        # A wrapper may run a call again; it is judged by the same list every time.
        before = waiting[call.id] if call.id in waiting else self.home.read(conversation, state)
        written = self._unseen_edit(conversation, state) or self.discipline.write(before, call.args)
        if isinstance(written, Refusal):
            return _error(written)
        waiting[call.id] = before
        self.home.write(conversation, written)
        marks = Marks(self.discipline.name, run_open=state[PLAN_MARKS].run_open)
        return Success(
            self.discipline.reply(written, self.discipline.shape.words),
            update=self._version(state, written, "model") | PLAN_MARKS.set(marks),
            display=Display(summary(state[PLAN], written)),
        )

    def _unseen_edit(self, conversation: str, state: State) -> Refusal | None:
        """Refuse a list that was written without knowing what the person just changed."""
        known, plan = state[PLAN_MARKS].known, state[PLAN]
        seen = self._seen.get(conversation, plan)
        if conversation not in self._editing and (known is None or seen == plan):
            return None
        return Refusal(
            "changed_meanwhile",
            f"The person changed the plan meanwhile: {_changes(seen, plan)}. "
            "Take that over, and send the list again.",
        )

    def _taken_over(self, conversation: str, state: State) -> tuple[Update, tuple[str, ...]]:
        marks, plan, name = state[PLAN_MARKS], state[PLAN], self.discipline.name
        if marks.discipline in ("", name):
            kept = self.home.read(conversation, state)
            return NO_UPDATE if kept is None or kept == plan else PLAN.set(kept), ()
        if not plan.todos:
            return NO_UPDATE, ()
        converted, notes = convert(plan, self.discipline)
        self.home.edit(conversation, converted)
        update = self._version(state, converted, "restore")
        return update | PLAN_MARKS.set(replace(marks, discipline=name)), notes

    def _version(self, state: State, plan: Plan, by: Author) -> Update:
        version = Version(plan, by, self._clock())
        return PLAN.set(plan) | PLAN_HISTORY.set(with_version(state[PLAN_HISTORY], version))


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


def _notes(state: State) -> str:
    """Return what the model should know about the plan's past; empty for nothing."""
    marks, notes = state[PLAN_MARKS], []
    if marks.interrupted:
        notes.append(
            f"The last run was stopped while this was in progress: {shown(marks.interrupted)}. "
            "It may be half done: look before you go on with it."
        )
    if marks.known is not None:
        changes = _changes(marks.known, state[PLAN])
        notes.append(f"The person changed the plan: {changes}. Their version counts.")
    return "\n".join(notes)


def _changes(before: Plan, after: Plan) -> str:
    sentences = difference(before, after).sentences()
    more = len(sentences) - MAX_CHANGES
    return "; ".join(
        [*sentences[:MAX_CHANGES], *([f"and {more} more changes"] if more > 0 else [])]
    )


def _error(refusal: Refusal) -> Error:
    return Error(str(refusal), display=Display(f"refused: {refusal.code}"))
