"""The sequential list as an extension: the working state of one request."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from todo_agent.agent.conversation import Conversation
from todo_agent.agent.messages import Message
from todo_agent.agent.middleware import Middleware
from todo_agent.agent.state import State
from todo_agent.extensions.base import Extension, MessageAppended, Notice, Request
from todo_agent.plan.disciplines import SEQUENTIAL
from todo_agent.plan.history import Author
from todo_agent.plan.keeper import Keeper
from todo_agent.plan.keys import PLAN_KEYS
from todo_agent.plan.middleware import PlanNotes
from todo_agent.plan.plan import Plan

AGENT = "agent"
"""Whose plan a person edits while no agent works in the session."""


class TodoWriteExtension(Extension):
    """A fixed list of steps, one at a time, that lives for one request (spec S2).

    It offers `todo_write` to every request of an `ExtensionHost`. The list is in memory, by
    agent and session, and is gone when the request ends, however it ends. A copy of it stays
    in the state under `PLAN`, to be looked at until the next request's first write.

    Args:
        clock: seconds since the epoch.
    """

    discipline = SEQUENTIAL
    writes = PLAN_KEYS

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._lists: dict[tuple[str, str], Plan] = {}
        """The lists by agent and session, the latest written last."""
        self._keepers: dict[str, Keeper] = {}
        self._clock = clock

    def todos(self, session_id: str) -> Plan | None:
        """Return the latest accepted list of a session, or None (S2-22, S2-23).

        Raises:
            ValueError: the id is blank or no text (S2-26).
        """
        _check(session_id)
        return next((self._lists[key] for key in self._of(session_id)), None)

    def clear(self, session_id: str) -> None:
        """Forget the list of a session; its next write is a first write (S2-24, S2-25).

        Raises:
            ValueError: the id is blank or no text (S2-26).
        """
        _check(session_id)
        for key in self._of(session_id):
            del self._lists[key]

    @property
    def notes(self) -> Middleware:
        """A middleware for the same stack, behind the host, that makes the list a person's too.

        It tells the model what a person changed by `user_edit`, and what an earlier request
        left in progress. Without it nothing but the tool's results speaks to the model.
        """
        return PlanNotes(self._keeper)

    async def user_edit(
        self, conversation: Conversation, plan: Plan, *, by: Author = "user"
    ) -> str | None:
        """Commit a plan that a person made, or brought back; return None, or why it cannot be.

        Raises:
            OSError: it could not be recorded; nothing changed.
        """
        return await self._editor(conversation).user_edit(conversation, plan, by=by)

    async def take_over(self, conversation: Conversation) -> tuple[str, ...]:
        """Make a stored plan one of this discipline, and say what had to change.

        Raises:
            OSError: it could not be recorded; nothing changed.
        """
        return await self._editor(conversation).take_over(conversation)

    async def on_tool(self, request: Request) -> None:
        """Register the tool, bound to the request's agent and session (S2-01)."""
        keeper = self._keeper(request.agent_name)
        keeper.open(request.session_id)
        request.add_tool(keeper.tool())

    async def on_event(self, request: Request, notice: Notice) -> None:
        """Learn which writes are committed."""
        match notice:
            case MessageAppended(message=Message() as message):
                self._keeper(request.agent_name).committed(request.ctx, message)
            case _:
                pass

    async def after_run(self, request: Request, answer: Message) -> None:
        """Forget the list before anybody hears of the success (S2-17, S2-21)."""
        self._lists.pop((request.agent_name, request.session_id), None)

    def release(self, request: Request) -> None:
        """Forget the list (S2-17…20)."""
        self._keeper(request.agent_name).release(request.ctx)
        self._lists.pop((request.agent_name, request.session_id), None)

    def _of(self, session_id: str) -> list[tuple[str, str]]:
        return [key for key in reversed(self._lists) if key[1] == session_id]

    def _keeper(self, agent: str) -> Keeper:
        if agent not in self._keepers:
            home = _InMemory(self._lists, agent)
            self._keepers[agent] = Keeper(self.discipline, home, self._clock)
        return self._keepers[agent]

    def _editor(self, conversation: Conversation) -> Keeper:
        """Return the keeper of the agent that works in the session, if one does."""
        writing = [agent for agent, _ in self._of(conversation.id)]
        working = [agent for agent, k in self._keepers.items() if k.is_open(conversation.id)]
        return self._keeper([*writing, *working, AGENT][0])


@dataclass(frozen=True)
class _InMemory:
    """One agent's part of the lists (`Home`)."""

    lists: dict[tuple[str, str], Plan]
    agent: str

    def read(self, conversation_id: str, state: State) -> Plan | None:
        """Return the list of the running request; None before its first write."""
        return self.lists.get((self.agent, conversation_id))

    def write(self, conversation_id: str, plan: Plan | None) -> None:
        """Put a list in its place, as the latest."""
        self.lists.pop((self.agent, conversation_id), None)
        if plan is not None:
            self.lists[self.agent, conversation_id] = plan

    def edit(self, conversation_id: str, plan: Plan) -> None:
        """Let the request go on from a person's list; from an emptied one it starts afresh."""
        if (self.agent, conversation_id) in self.lists:
            self.write(conversation_id, plan if plan.todos else None)


def _check(session_id: object) -> None:
    if not isinstance(session_id, str) or not session_id.strip():
        raise ValueError("a session id is a text that is not blank")
