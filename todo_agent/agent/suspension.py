"""A run that waits for a person, as it is kept in the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from todo_agent.agent.json import Json
from todo_agent.agent.messages import Display, Message, message_from_json, message_to_json
from todo_agent.agent.middleware import Decision
from todo_agent.agent.outcomes import Question
from todo_agent.agent.state import Key, State


@dataclass(frozen=True)
class Suspension:
    """Everything needed to go on where the run stopped."""

    question: Question
    asked_by: str
    """The id of the call, or the name of the middleware, that asks."""
    fingerprint: str
    """The structure of the stack it was suspended under (S0-61)."""
    step: int
    turn_start: int
    """How many messages the conversation had when the turn began."""
    turn_state: State
    """The state when the turn began, for an output Block."""
    settled: Mapping[str, str] = field(default_factory=dict)
    """Calls of the message that were refused, with the reason."""
    inject: tuple[Message, ...] = ()
    decision: Decision = "natural"


def _to_json(suspension: Suspension | None) -> Json:
    if suspension is None:
        return None
    question = {f.name: getattr(suspension.question, f.name) for f in fields(Question)}
    preview = suspension.question.preview
    if preview is not None:
        question["preview"] = {f.name: getattr(preview, f.name) for f in fields(Display)}
    return {
        "question": question,
        "asked_by": suspension.asked_by,
        "fingerprint": suspension.fingerprint,
        "step": suspension.step,
        "turn_start": suspension.turn_start,
        "turn_state": suspension.turn_state.to_json(),
        "settled": dict(suspension.settled),
        "inject": [message_to_json(message) for message in suspension.inject],
        "decision": suspension.decision,
    }


def _from_json(data: Json) -> Suspension | None:
    match data:
        case {
            "question": {"id": str(id_), "text": str(text), **rest},
            "asked_by": str(asked_by),
            "fingerprint": str(fingerprint),
            "step": int(step),
            "turn_start": int(turn_start),
            "turn_state": dict(turn_state),
            "settled": dict(settled),
            "inject": list(inject),
            "decision": "natural" | "again" | "stop" as decision,
        }:
            question = Question(
                id_,
                text,
                kind="question" if rest.get("kind") == "question" else "approval",
                tool=str(rest.get("tool", "")),
                title=str(rest.get("title", "")),
                rule=str(rest.get("rule", "")),
            )
            return Suspension(
                question,
                asked_by,
                fingerprint,
                step,
                turn_start,
                State(turn_state),
                settled={str(name): str(reason) for name, reason in settled.items()},
                inject=tuple(message_from_json(item) for item in inject if isinstance(item, dict)),
                decision=decision,
            )
        case _:
            raise ValueError("this is no suspended run")


SUSPENDED: Key[Suspension | None] = Key("suspended", None, to_json=_to_json, from_json=_from_json)
