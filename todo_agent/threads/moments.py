"""Where a thread can go back to: each message of a person, and what was before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from todo_agent.agent.json import Json
from todo_agent.agent.messages import Message
from todo_agent.threads.journal import Replay
from todo_agent.threads.records import CommitRecord, Record
from todo_agent.threads.summary import PLAN


@dataclass(frozen=True, slots=True)
class Moment:
    """A message of a person."""

    seq: int
    """The number of the record that brought it."""
    index: int
    """Its position in the conversation."""
    text: str
    at: float
    """Seconds since 1970."""
    plan: Json
    """The plan before it, as it is stored."""


def moments(records: Iterable[Record]) -> tuple[Moment, ...]:
    """Return the messages of persons that are still in the thread, in order.

    Messages that came in one commit are one moment: there is nothing between them.
    """
    replay = Replay()
    found: list[Moment] = []
    for record in records:
        plan = replay.values.get(PLAN)
        index = len(replay.messages)
        if isinstance(record, CommitRecord) and record.keep is not None:
            index = min(index, record.keep)
            found = [moment for moment in found if moment.index < index]
        replay.apply(record)
        text = "\n\n".join(m.text for m in replay.messages[index:] if _is_a_persons(m))
        if text:
            found.append(Moment(record.seq, index, text, record.at, plan))
    return tuple(found)


def _is_a_persons(message: Message) -> bool:
    return message.role == "user" and not message.synthetic and bool(message.text.strip())
