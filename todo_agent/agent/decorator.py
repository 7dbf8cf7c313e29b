"""Turns a plain Python function into a tool."""

from __future__ import annotations

import asyncio
import inspect
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, overload

from todo_agent.agent.json import Json, JsonObject
from todo_agent.agent.tools import (
    NO_LOCKS,
    Error,
    Fatal,
    Locks,
    NeedsApproval,
    Outcome,
    Resource,
    Success,
    Tool,
    ToolCall,
    ToolContext,
)

Function = Callable[..., Any]

_SCALARS: Mapping[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
}


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *,
    name: str = ...,
    description: str = ...,
    locks: Locks = ...,
    resources: Callable[[JsonObject], tuple[Resource, ...]] | None = ...,
) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    locks: Locks = NO_LOCKS,
    resources: Callable[[JsonObject], tuple[Resource, ...]] | None = None,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function, from its name, docstring and annotations.

    Parameters may be `str`, `int`, `float`, `bool`, `list[…]`, `dict`, `dict[str, …]`,
    `Literal[…]`, a union of these, or optional; `Annotated[…, "text"]` describes one to the
    model. One with a default need not be sent. A parameter annotated as `ToolContext` gets
    the call's context. A function that is not async runs in a thread.

    An `Outcome` is returned as it is, text becomes a `Success`, None an empty one, and any
    other JSON value a `Success` with the value as JSON.

    Args:
        function: what the tool runs.
        name: the function's name where it is empty.
        description: what the model reads; the docstring where it is empty.
        locks: what a call needs while it runs.
        resources: what a call touches, for permissions; `invoke <name>` where it is None.

    Raises:
        TypeError: there is no description, or a parameter that no schema can be made of.
    """

    def decorate(function: Function) -> Tool:
        parameters = _parameters(function)
        text = description or inspect.cleandoc(function.__doc__ or "")
        if not text:
            raise TypeError(f"{_called(function)} has no docstring, so no model can know it.")
        return Tool(
            name or function.__name__,
            text,
            _schema(parameters),
            _runner(function, parameters),
            locks=locks,
            resources=resources,
        )

    return decorate if function is None else decorate(function)


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    schema: JsonObject
    required: bool
    context: bool = False
    """It gets the call's `ToolContext` and is not the model's."""


def _parameters(function: Function) -> tuple[_Parameter, ...]:
    hints = get_type_hints(function, include_extras=True)
    return tuple(
        _parameter(function, parameter, hints.get(parameter.name))
        for parameter in inspect.signature(function).parameters.values()
    )


def _parameter(function: Function, parameter: inspect.Parameter, hint: object) -> _Parameter:
    where = f"parameter {parameter.name!r} of {_called(function)}"
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise TypeError(f"{where} cannot be sent by name.")
    required = parameter.default is parameter.empty
    if hint is ToolContext:
        return _Parameter(parameter.name, {}, required=False, context=True)
    if hint is None:
        raise TypeError(f"{where} has no annotation.")
    schema = _schema_of(hint, where)
    if not required and _is_json(parameter.default):
        schema = {**schema, "default": parameter.default}
    return _Parameter(parameter.name, schema, required=required)


def _schema(parameters: tuple[_Parameter, ...]) -> JsonObject:
    sent = [parameter for parameter in parameters if not parameter.context]
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in sent},
        "required": [parameter.name for parameter in sent if parameter.required],
        "additionalProperties": False,
    }


def _schema_of(hint: object, where: str) -> JsonObject:
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if hint is None or hint is type(None):
        return {"type": "null"}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        texts = [text for text in arguments[1:] if isinstance(text, str)]
        described: dict[str, Json] = {"description": texts[0]} if texts else {}
        return {**_schema_of(arguments[0], where), **described}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema_of(argument, where) for argument in arguments]}
    if hint is list or origin is list:
        items = {"items": _schema_of(arguments[0], where)} if arguments else {}
        return {"type": "array", **items}
    if hint is dict or (origin is dict and arguments[0] is str):
        values = {"additionalProperties": _schema_of(arguments[1], where)} if arguments else {}
        return {"type": "object", **values}
    if hint is Any:
        return {}
    raise TypeError(f"{where} is annotated as {hint!r}, which has no form in JSON.")


def _runner(
    function: Function, parameters: tuple[_Parameter, ...]
) -> Callable[[ToolCall, ToolContext], Any]:
    contexts = [parameter.name for parameter in parameters if parameter.context]

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        arguments = {**call.args, **dict.fromkeys(contexts, ctx)}
        if inspect.iscoroutinefunction(function):
            return _outcome(await function(**arguments))
        return _outcome(await asyncio.to_thread(function, **arguments))

    return run


def _outcome(value: object) -> Outcome:
    match value:
        case Success() | Error() | NeedsApproval() | Fatal():
            return value
        case str():
            return Success(value)
        case None:
            return Success("")
        case _:
            return Success(json.dumps(value, ensure_ascii=False))


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _called(function: Function) -> str:
    return f"{function.__name__}()"
