"""Functions that become tools."""

from __future__ import annotations

import threading
from typing import Annotated, Literal

import pytest

from todo_agent.agent.decorator import tool
from todo_agent.agent.state import State
from todo_agent.agent.tools import Error, Locks, Outcome, Resource, Success, ToolCall, ToolContext
from todo_agent.agent.validation import check

CONTEXT = ToolContext("thread", State())


@tool
async def weather(
    city: Annotated[str, "Where."],
    days: int = 3,
    unit: Literal["C", "F"] = "C",
    tags: list[str] | None = None,
) -> str:
    """Tell the weather.

    For a few days.
    """
    return f"{city} {days} {unit} {tags}"


def test_name_docstring_and_annotations_make_the_tool():
    spec = weather.spec()
    assert (spec.name, spec.description) == ("weather", "Tell the weather.\n\nFor a few days.")
    assert spec.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "default": 3},
            "unit": {"enum": ["C", "F"], "default": "C"},
            "tags": {
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
                "default": None,
            },
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert check(spec.schema, {"city": "Rome", "tags": ["sun"]}) is None
    assert check(spec.schema, {"city": "Rome", "unit": "K"}) is not None


async def test_text_becomes_a_success():
    outcome = await weather.run(ToolCall("1", "weather", {"city": "Rome"}), CONTEXT)
    assert outcome == Success("Rome 3 C None")


async def test_a_plain_function_runs_in_a_thread_and_values_become_json():
    @tool
    def where(numbers: dict[str, float]) -> dict[str, object]:
        """Say which thread it is."""
        return {"main": threading.current_thread() is threading.main_thread(), **numbers}

    outcome = await where.run(ToolCall("1", "where", {"numbers": {"ä": 1.5}}), CONTEXT)
    assert outcome == Success('{"main": false, "ä": 1.5}')


async def test_an_outcome_passes_through_and_the_context_is_handed_in():
    @tool(
        name="check_disk",
        description="Check it.",
        locks=Locks(frozenset({"disk"})),
        resources=lambda args: (Resource("read", str(args["path"])),),
    )
    async def anything(path: str, ctx: ToolContext) -> Outcome:
        return Error(f"{path} in {ctx.conversation_id}")

    outcome = await anything.run(ToolCall("1", "check_disk", {"path": "/"}), CONTEXT)
    assert outcome == Error("/ in thread")
    assert anything.schema["required"] == ["path"]
    assert anything.locks == Locks(frozenset({"disk"}))
    assert anything.touches({"path": "/"}) == (Resource("read", "/"),)


async def test_nothing_is_an_empty_success_and_its_resource_is_its_name():
    @tool
    def ping() -> None:
        """Do nothing."""

    assert await ping.run(ToolCall("1", "ping", {}), CONTEXT) == Success("")
    assert ping.touches({}) == (Resource("invoke", "ping"),)


def test_what_has_no_form_in_json_is_refused_when_decorated():
    def odd(when: complex) -> str:
        """Odd."""
        return ""

    def bare(when):
        """Bare."""

    def many(*when: str) -> str:
        """Many."""
        return ""

    def silent(when: str) -> str:
        return when

    for function, message in (
        (odd, r"parameter 'when' of odd\(\) is annotated as <class 'complex'>, which has no form"),
        (bare, r"parameter 'when' of bare\(\) has no annotation"),
        (many, r"parameter 'when' of many\(\) cannot be sent by name"),
        (silent, r"silent\(\) has no docstring, so no model can know it"),
    ):
        with pytest.raises(TypeError, match=message):
            tool(function)
