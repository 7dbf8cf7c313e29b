"""Reads a tool call's arguments into a draft, or says what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from todo_agent.plan.plan import Draft, Plan, Status, Todo
from todo_agent.plan.refusal import Refusal

Arguments: TypeAlias = Mapping[str, object]
MAX_SHOWN = 60
"""The longest piece of a wrong value in a refusal, in characters."""
LARGE = 1e15
STATUSES = tuple(Status)


@dataclass(frozen=True, slots=True)
class Words:
    """The words a discipline has for the three statuses."""

    pending: str = "pending"
    active: str = "in_progress"
    done: str = "completed"

    def status(self, word: str) -> Status | None:
        """Return the status a word stands for, or None.

        The words are exact, but hyphens and spaces count as underscores: `in-progress`.
        """
        plain = word.replace("-", "_").replace(" ", "_")
        return STATUSES[self.all.index(plain)] if plain in self.all else None

    def word(self, status: Status) -> str:
        """Return the word for a status."""
        return self.all[STATUSES.index(status)]

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
            return Refusal("extra_field", f"{shown(extra[0])} is no argument of this tool.")
        rows = _decoded(args["todos"])
        if not isinstance(rows, list | tuple):
            return Refusal(
                "bad_type",
                f"todos must be a list, but is {described(args['todos'])}. {self._sample()}",
            )
        draft: list[Todo] = []
        for index, row in enumerate(rows):
            todo = self._todo(f"todos[{index}]", row)
            if isinstance(todo, Refusal):
                return todo
            draft.append(todo)
        if len(draft) < self.min_todos:
            return Refusal("empty_list", "The list is empty; it needs at least one todo.")
        return self.over_limit(tuple(draft)) or tuple(draft)

    def over_limit(self, draft: Draft, previous: Plan | None = None) -> Refusal | None:
        """Return which limit the draft breaks, or None.

        With a previous plan, what was over a limit before may stay so.
        """
        known = {todo.content for todo in previous or ()}
        if self.max_todos is not None and len(draft) > max(self.max_todos, len(previous or ())):
            return Refusal(
                "too_many", f"{len(draft)} todos are too many; the most is {self.max_todos}."
            )
        for index, todo in enumerate(draft):
            size = len(todo.content)
            if self.max_chars is not None and size > self.max_chars and todo.content not in known:
                return Refusal(
                    "too_long",
                    f"todos[{index}].content has {size} characters; the most is {self.max_chars}.",
                )
        return None

    def clean(self, content: str) -> str:
        """Return a content as it is kept; a lone surrogate, which no file can hold, becomes �."""
        whole = content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.strip() if self.trim else whole

    def row(self, todo: Todo) -> dict[str, str]:
        """Return the todo as the model sends it."""
        row = {"content": todo.content, "status": self.words.word(todo.status)}
        return {"id": todo.id, **row} if self.with_ids and todo.id is not None else row

    def _todo(self, where: str, row: object) -> Todo | Refusal:
        if not isinstance(row, Mapping):
            return Refusal("bad_type", f"{where} must be an object, but is {described(row)}.")
        known = {"content", "status", "id"} if self.with_ids else {"content", "status"}
        extra = sorted(str(name) for name in row.keys() - known)
        if self.strict and extra:
            return Refusal(
                "extra_field",
                f"{where} has a field {shown(extra[0])}; known: {', '.join(sorted(known))}.",
            )
        for name in ("content", "status"):
            if name not in row:
                return Refusal("missing_field", f"{where}.{name} is missing.")
        content, word, id_ = row["content"], row["status"], row.get("id")
        if not isinstance(content, str):
            return Refusal(
                "bad_type", f"{where}.content must be text, but is {described(content)}."
            )
        status = self.words.status(word) if isinstance(word, str) else None
        if status is None:
            allowed = ", ".join(self.words.all)
            return Refusal(
                "bad_status", f"{where}.status must be one of {allowed}, but is {described(word)}."
            )
        if self.with_ids and id_ is not None and not isinstance(id_, str):
            return Refusal("bad_type", f"{where}.id must be text, but is {described(id_)}.")
        todo = Todo(self.clean(content), status)
        return replace(todo, id=id_) if self.with_ids and isinstance(id_, str) else todo

    def _sample(self) -> str:
        row = {"content": "Run the tests", "status": self.words.pending}
        return f"Send for example {json.dumps({'todos': [row]})}."


def described(value: object) -> str:
    """Say what a value is in few words, however large or deep it is."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}" if abs(value) < LARGE else "a number"
        case str():
            return f"the text {shown(value)}"
        case Mapping():
            return "an object"
        case _:
            return "a list"


def shown(text: str) -> str:
    """Return a text in quotes, on one line, cut where it is long."""
    cut = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
    return json.dumps(cut.encode("utf-8", "replace").decode(), ensure_ascii=False)


def _decoded(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
