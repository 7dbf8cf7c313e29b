"""Checks a call's arguments against the tool's schema, and words what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from todo_agent.agent.json import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

MAX_DEPTH = 64
"""Arguments nested deeper than this are refused before anything looks into them."""
MAX_PROBLEMS = 3
SHOWN_CHARS = 60


def check(schema: JsonObject, args: JsonObject) -> str | None:
    """Return what is wrong with a call's arguments, or None.

    The text names up to three places, what came there and what is expected. It is short
    however large or deep the arguments are.
    """
    deep = _too_deep(args)
    if deep is not None:
        return deep
    errors = list(islice(_validator(json.dumps(schema)).iter_errors(args), MAX_PROBLEMS))
    if not errors:
        return None
    problems = dict.fromkeys(_problem(error, args) for error in errors)
    return f"The arguments are not valid, so nothing was run: {'; '.join(problems)}."


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    # It costs more to import than the rest of the loop, and no call comes before the first answer.
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    return Draft202012Validator(json.loads(schema))


def _too_deep(args: JsonObject) -> str | None:
    """Refuse what would overflow the stack of a recursive check or of `repr`."""
    level: list[Json] = list(args.values())
    for _ in range(MAX_DEPTH):
        level = [child for value in level for child in _children(value)]
        if not level:
            return None
    return f"The arguments are nested deeper than {MAX_DEPTH} levels, so nothing was run."


def _children(value: Json) -> Sequence[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, list | tuple):
        return value
    return ()


def _problem(error: ValidationError, args: JsonObject) -> str:
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)
    where = path.removeprefix(".")
    came: Json = error.instance
    expected: Any = error.validator_value
    match error.validator:
        case "required" if isinstance(came, Mapping):
            missing = [f"{where}.{name}".removeprefix(".") for name in expected if name not in came]
            return f"{_names(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        case "additionalProperties" if isinstance(came, Mapping):
            known = [str(name) for name in error.schema.get("properties", {})]
            unknown = [f"{where}.{name}".removeprefix(".") for name in came if name not in known]
            return f"{_names(unknown)} is not known here (known: {_names(known)})"
        case "type":
            return f"{where or 'it'} is {_shown(came)}, expected {_types(expected)}"
        case "enum":
            return f"{where} is {_shown(came)}, expected one of {_cut(json.dumps(expected), 200)}"
        case "minimum":
            return f"{where} is {_shown(came)}, expected at least {expected}"
        case "maximum":
            return f"{where} is {_shown(came)}, expected at most {expected}"
        case "exclusiveMinimum":
            return f"{where} is {_shown(came)}, expected more than {expected}"
        case "minLength" | "minItems":
            return f"{where} is {_shown(came)}, expected at least {expected} long"
        case "maxLength" | "maxItems":
            return f"{where} is {_shown(came)}, expected at most {expected} long"
        case rule:
            return f"{where or 'it'} is {_shown(came)}, which breaks {rule}: {_shown(expected)}"


def _types(expected: str | list[str]) -> str:
    names = [expected] if isinstance(expected, str) else expected
    return " or ".join(_WORDS.get(name, name) for name in names)


_WORDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _shown(value: Json) -> str:
    """Say what a value is without ever writing a large one out."""
    match value:
        case None | bool():
            return json.dumps(value)
        case int() | float():
            return f"the number {_cut(json.dumps(value), SHOWN_CHARS)}"
        case str():
            return f"the string {json.dumps(_cut(value, SHOWN_CHARS), ensure_ascii=False)}"
        case Mapping():
            return f"an object of {len(value)}"
        case _:
            return f"a list of {len(value)}"


def _names(names: Sequence[str]) -> str:
    shown = [_cut(name, SHOWN_CHARS) for name in names[:10]]
    return ", ".join(shown + ["…"] * (len(names) > 10))


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
