"""Checks a call's arguments against the tool's JSON schema, with a message a model can use."""

from __future__ import annotations

import json
from collections.abc import Mapping

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match

from todo_agent.agent.json import Json, JsonObject

MAX_SHOWN = 80
"""The longest piece of a wrong value in a message, in characters."""


def check(schema: JsonObject, args: JsonObject) -> str | None:
    """Return what is wrong with the arguments, or None.

    The message names the place, what came and what is expected.
    """
    error = best_match(Draft202012Validator(schema).iter_errors(args))
    return None if error is None else _sentence(error)


def _sentence(error: ValidationError) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.path)
    where = place.lstrip(".") or "The arguments"
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return (
                f"{where}: {_names(missing)} missing; send {'it' if len(missing) == 1 else 'them'}."
            )
        case "additionalProperties":
            known = error.schema.get("properties", {})
            extra = [name for name in error.instance if name not in known]
            return f"{where}: {_names(extra)} not known here; known: {', '.join(known) or 'none'}."
        case "type":
            return f"{where} must be {error.validator_value}; got {_shown(error.instance)}."
        case "enum":
            allowed = ", ".join(json.dumps(value) for value in error.validator_value)
            return f"{where} must be one of {allowed}; got {_shown(error.instance)}."
        case validator:
            limit = _shown(error.validator_value)
            return f"{where} breaks {validator} {limit}; got {_shown(error.instance)}."


def _names(names: list[str]) -> str:
    return f"{', '.join(repr(name) for name in names)} {'is' if len(names) == 1 else 'are'}"


def _shown(value: Json) -> str:
    kind = {dict: "an object", list: "a list", str: "text", bool: "a boolean"}.get(type(value))
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
    return f"{kind} {text}" if kind and not isinstance(value, Mapping) else text
