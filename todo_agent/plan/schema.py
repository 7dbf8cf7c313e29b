"""The JSON schema of a plan's tool, as the model sees it."""

from __future__ import annotations

from todo_agent.agent.json import Json, JsonObject
from todo_agent.plan.shapes import Shape


def tool_schema(shape: Shape) -> JsonObject:
    """Return the schema of a shape's arguments."""
    content = "What to do, in a few words" + _at_most(shape.max_chars, "characters")
    todos = "The whole list, in order" + _at_most(shape.max_todos, "todos")
    properties: dict[str, Json] = {
        "content": {"type": "string", "description": content},
        "status": {"type": "string", "enum": list(shape.words.all)},
    }
    if shape.with_ids:
        properties["id"] = {
            "type": "string",
            "description": "The id of a stored todo; leave it out for a new one.",
        }
    item: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": ["content", "status"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"todos": {"type": "array", "items": item, "description": todos}},
        "required": ["todos"],
        "additionalProperties": False,
    }


def _at_most(limit: int | None, what: str) -> str:
    return "." if limit is None else f"; at most {limit} {what}."
