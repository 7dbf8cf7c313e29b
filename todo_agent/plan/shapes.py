"""Reads a tool call's arguments into a draft, or says what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from todo_agent.plan.plan import Draft, Status, Todo
from todo_agent.plan.refusal import Refusal

Arguments: TypeAlias = Mapping[str, object]
MAX_SHOWN = 60
"""The longest piece of a wrong value in a refusal, in characters."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words a discipline has for the three statuses."""

    pending: str = "pending"
    active: str = "in_progress"
    done: str = "completed"

    def status(self, word: str) -> Status | None:
        """Return the status a word stands for, or None."""
        return dict(zip(self.all, Status, strict=True)).get(word)

    def word(self, status: Status) -> str:
        """Return the word for a status."""
        return dict(zip(Status, self.all, strict=True))[status]

    @property
    def all(self) -> tuple[str, str, str]:
        """The words in the order of `Status`."""
        return (self.pending, self.active, self.done)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a list must look like before any rule judges it."""

    words: Words = Words()
    max_todos: int | None = None
    min_todos: int = 0
    max_chars: int | None = None
    """Longest content of one todo, in code points (S0-22, S2-03)."""
    trim: bool = False
    """Drop white space around contents (S2-03)."""
    strict: bool = True
    """Refuse fields and arguments that are not known; otherwise ignore them (S1-12)."""
    with_ids: bool = False

    def parse(self, args: Arguments) -> Draft | Refusal:
        """Return the draft that the arguments hold.

        A list that arrives as JSON text is decoded. Nothing else is guessed.
        """
        if "todos" not in args:
            return Refusal("missing_field", f"todos is missing. {self._sample()}")
        extra = sorted(args.keys() - {"todos"})
        if self.strict and extra:
            return Refusal("extra_field", f"{extra[0]!r} is no argument of this tool.")
        rows = args["todos"]
        if isinstance(rows, str):
            rows = _decoded(rows)
        if not isinstance(rows, Sequence) or isinstance(rows, str):
            return Refusal(
                "bad_type",
                f"todos must be a list, but is {_shown(args['todos'])}. {self._sample()}",
            )
        draft: list[Todo] = []
        for index, row in enumerate(rows):
            todo = self._todo(f"todos[{index}]", row)
            if isinstance(todo, Refusal):
                return todo
            draft.append(todo)
        return self.check(tuple(draft)) or tuple(draft)

    def check(self, draft: Draft) -> Refusal | None:
        """Return what is wrong with the draft's size, or None."""
        if len(draft) < self.min_todos:
            return Refusal("empty_list", "The list is empty; it needs at least one todo.")
        if self.max_todos is not None and len(draft) > self.max_todos:
            return Refusal(
                "too_many", f"{len(draft)} todos are too many; the most is {self.max_todos}."
            )
        for index, todo in enumerate(draft):
            if self.max_chars is not None and len(todo.content) > self.max_chars:
                return Refusal(
                    "too_long",
                    f"todos[{index}].content has {len(todo.content)} characters; "
                    f"the most is {self.max_chars}.",
                )
        return None

    def _todo(self, where: str, row: object) -> Todo | Refusal:
        if not isinstance(row, Mapping):
            return Refusal("bad_type", f"{where} must be an object, but is {_shown(row)}.")
        known = {"content", "status", "id"} if self.with_ids else {"content", "status"}
        extra = sorted(str(name) for name in row.keys() - known)
        if self.strict and extra:
            return Refusal(
                "extra_field",
                f"{where}.{extra[0]} is not known; known: {', '.join(sorted(known))}.",
            )
        for name in ("content", "status"):
            if name not in row:
                return Refusal("missing_field", f"{where}.{name} is missing.")
        content, word, id_ = row["content"], row["status"], row.get("id")
        if not isinstance(content, str):
            return Refusal("bad_type", f"{where}.content must be text, but is {_shown(content)}.")
        status = self.words.status(word) if isinstance(word, str) else None
        if status is None:
            allowed = ", ".join(self.words.all)
            return Refusal(
                "bad_status", f"{where}.status must be one of {allowed}, but is {_shown(word)}."
            )
        if self.with_ids and id_ is not None and not isinstance(id_, str):
            return Refusal("bad_type", f"{where}.id must be text, but is {_shown(id_)}.")
        content = _valid(content.strip() if self.trim else content)
        return Todo(content, status, id_ if self.with_ids and isinstance(id_, str) else None)

    def _sample(self) -> str:
        row = {"content": "Run the tests", "status": self.words.pending}
        return f"Send for example {json.dumps({'todos': [row]})}."


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def _valid(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
