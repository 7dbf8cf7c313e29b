"""The JSON schema of a plan's tool, as the model sees it."""

from __future__ import annotations

from todo_agent.agent.json import Json, JsonObject
from todo_agent.plan.shapes import Shape


def tool_schema(shape: Shape) -> JsonObject:
    """Return the schema of a shape's arguments."""
    properties: dict[str, Json] = {
        "content": {"type": "string", "description": "What to do, in a few words."},
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
        "properties": {
            "todos": {"type": "array", "items": item, "description": "The whole list, in order."}
        },
        "required": ["todos"],
        "additionalProperties": False,
    }
