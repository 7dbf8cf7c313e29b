"""One run as its hooks see it: the conversation, the step, and the way to commit and to ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from uuid import uuid4

from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import (
    ApprovalRequested,
    Event,
    MessageAdded,
    QuestionAsked,
    QuestionClosed,
    StateChanged,
    UsageChanged,
)
from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.messages import Message, ToolUse
from todo_agent.agent.outcomes import Answer, Question
from todo_agent.agent.provider import NO_USAGE, ModelResponse, Usage
from todo_agent.agent.stack import OwnedTool, Stack, UndeclaredKeyError, guarded
from todo_agent.agent.state import State, Update
from todo_agent.agent.tools import NO_LOCKS, Error, Locks
from todo_agent.agent.validation import check

Ask: TypeAlias = Callable[[Question], Awaitable[Answer]]
Emit: TypeAlias = Callable[[Event], None]
Aside: TypeAlias = Callable[["Run", tuple[Message, ...]], Awaitable[ModelResponse]]
"""Asks the model beside the conversation."""


@dataclass
class Run:
    """The context every hook of one run gets (`RunContext`)."""

    conversation: Conversation
    stack: Stack
    agent_name: str
    emit: Emit
    control: Control
    ask: Ask | None
    model: str
    aside: Aside
    run_id: str = field(default_factory=lambda: uuid4().hex)
    step: int = 0
    tools: Mapping[str, OwnedTool] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    """Answers given to questions of a suspended run, by call id or middleware name."""

    @property
    def conversation_id(self) -> str:
        """The thread this run belongs to."""
        return self.conversation.id

    @property
    def state(self) -> State:
        """The committed state."""
        return self.conversation.state

    @property
    def messages(self) -> tuple[Message, ...]:
        """The committed conversation."""
        return self.conversation.messages

    @property
    def context_tokens(self) -> int:
        """How full the context was after the last answer."""
        return self.conversation.context_tokens

    @property
    def extra(self) -> dict[str, Json]:
        """The conversation's live dict."""
        return self.conversation.extra

    @property
    def steering_waits(self) -> bool:
        """Whether something typed waits for the next step."""
        return bool(self.control.waiting)

    def fault(self, call: ToolUse) -> str | None:
        """Return why a requested call cannot run, or None."""
        arguments = self.arguments(call)
        return arguments.message if isinstance(arguments, Error) else None

    def locks(self, call: ToolUse) -> Locks:
        """Return what a requested call shares and needs for itself while it runs."""
        owned = self.tools.get(call.name)
        return NO_LOCKS if owned is None else owned.tool.locks

    def arguments(self, call: ToolUse) -> JsonObject | Error:
        """Return the arguments to run a call with, or what is wrong with it (S0-32, S0-89)."""
        owned = self.tools.get(call.name)
        if owned is None:
            known = ", ".join(sorted(self.tools)) or "none"
            return Error(f"There is no tool named {call.name!r}. The tools are: {known}.")
        if owned.tool.check is not None:
            return owned.tool.check(call.input)
        problem = check(owned.tool.schema, call.input)
        return call.input if problem is None else Error(problem)

    async def append(self, message: Message) -> None:
        """Commit a message at the end of the conversation, at once."""
        await self.commit(Commit((message,)))

    async def ask_aside(self, messages: tuple[Message, ...]) -> ModelResponse:
        """Ask the model about these messages, beside the conversation."""
        response = await self.aside(self, messages)
        if response.update:
            await self.commit(Commit(update=response.update))
        return response

    async def change(self, update: Update, *, context_tokens: int) -> None:
        """Commit an update at once, with how full the context is from now on."""
        undeclared = update.names - self.stack.keys
        if undeclared:
            raise UndeclaredKeyError("the stack", undeclared)
        await self.commit(Commit(update=update, context_tokens=context_tokens))

    async def commit(self, commit: Commit, *, with_events: Sequence[Event] = ()) -> None:
        """Commit, show what changed and the events that belong to it, and announce it.

        Results of calls are announced to the middlewares one by one, and shown as a
        message when the last of them is there.
        """

        def show(applied: Commit) -> None:
            self._show(applied)
            for event in with_events:
                self.emit(event)

        applied = await self.conversation.commit(commit, show)
        for message in applied.messages:
            await self.announce(message)

    async def restore(self, *, keep: int, state: State) -> None:
        """Undo everything since an earlier point of the conversation."""
        await self.conversation.restore(keep=keep, state=state, show=self._show)

    async def count(self, usage: Usage, *, aside: bool) -> None:
        """Count one model call; one beside the conversation leaves the context as full as it is."""
        await self.commit(
            Commit(usage=usage, context_tokens=self.context_tokens if aside else None)
        )

    async def announce(self, message: Message) -> None:
        """Tell every middleware that a message was committed."""
        for item in self.stack.middleware:
            await guarded(item, item.on_message, self, message)

    async def put(self, question: Question, ask: Ask) -> Answer:
        """Put a question to the person and wait for the answer."""
        event = ApprovalRequested if question.kind == "approval" else QuestionAsked
        self.emit(event(question))
        try:
            return await ask(question)
        finally:
            self.emit(QuestionClosed(question.id))

    def _show(self, applied: Commit) -> None:
        conversation = self.conversation
        if applied.update:
            self.emit(StateChanged(self.state, applied.update.names, by=applied.by))
        if applied.usage != NO_USAGE or applied.context_tokens is not None:
            self.emit(UsageChanged(conversation.usage, conversation.context_tokens, self.model))
        first = len(self.messages) - len(applied.messages)
        for index, message in enumerate(applied.messages, first):
            if not message.results:
                self.emit(MessageAdded(message, index))
