"""Scripts of model replies: what they may hold, and what is wrong with one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from todo_agent.agent.json import JsonObject
from todo_agent.agent.provider import ModelResponse, Usage


class ScriptError(ValueError):
    """A script that cannot be played; the message names the entry."""


def read_script(text: str) -> tuple[list[JsonObject], JsonObject | None]:
    """Return the replies of a script, and the one that is played when they have run out.

    A script is a JSON list of replies, or an object of `replies` and perhaps `then`. What
    is in them is for `check_reply`.

    Raises:
        ValueError: it is neither.
    """
    match json.loads(text):
        case list(replies):
            return replies, None
        case {"replies": list(replies), **rest} if rest.keys() <= {"then"}:
            then: Any = rest.get("then")
            return replies, then
        case _:
            raise ScriptError("a script is a list, or an object of `replies` and `then`")


def check_reply(reply: object, where: str) -> None:
    """Refuse what is no reply.

    Raises:
        ScriptError: it is none; the message says where, and what belongs there.
    """
    if isinstance(reply, ModelResponse) or callable(reply):
        return
    reply = _object(reply, where, _REPLY)
    _object(reply.get("usage", {}), f"{where}.usage", _USAGE)
    if "error" in reply:
        _object(reply["error"], f"{where}.error", _ERROR, needed=("kind", "message"))
    for index, call in enumerate(reply.get("calls", ())):
        _object(call, f"{where}.calls[{index}]", _CALL, needed=("name", "input"))


def _object(
    value: object, where: str, known: Mapping[str, _Field], needed: Sequence[str] = ()
) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ScriptError(f"{where} must be an object, not {value!r}")
    for name, item in value.items():
        if name not in known:
            raise ScriptError(f"{where}.{name} is not known (known: {', '.join(known)})")
        is_valid, expected = known[name]
        if not is_valid(item):
            raise ScriptError(f"{where}.{name} must be {expected}, not {item!r}")
    for name in needed:
        if name not in value:
            raise ScriptError(f"{where}.{name} is missing")
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_seconds(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value < math.inf


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_yes_or_no(value: object) -> bool:
    return isinstance(value, bool)


_Field: TypeAlias = tuple[Callable[[object], bool], str]
_TEXT: _Field = (_is_text, "text")
_SECONDS: _Field = (_is_seconds, "a number of seconds")
_COUNT: _Field = (_is_count, "a whole number from 0")
_YES_OR_NO: _Field = (_is_yes_or_no, "true or false")
_OBJECT: _Field = (lambda value: isinstance(value, Mapping), "an object")
_LIST: _Field = (lambda value: isinstance(value, list | tuple), "a list")
_CHUNK: _Field = (lambda value: _is_count(value) and value != 0, "a whole number from 1")
_REPLY: Mapping[str, _Field] = {
    "text": _TEXT,
    "thinking": _TEXT,
    "calls": _LIST,
    "stop": _TEXT,
    "usage": _OBJECT,
    "error": _OBJECT,
    "delay": _SECONDS,
    "pace": _SECONDS,
    "chunk": _CHUNK,
    "hang": _YES_OR_NO,
}
_CALL: Mapping[str, _Field] = {"name": _TEXT, "input": _OBJECT, "id": _TEXT}
_ERROR: Mapping[str, _Field] = {
    "kind": _TEXT,
    "message": _TEXT,
    "retriable": _YES_OR_NO,
    "retry_after": _SECONDS,
}
_USAGE: Mapping[str, _Field] = {field.name: _COUNT for field in fields(Usage)}
