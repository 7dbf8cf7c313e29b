"""The edit tools: replace pieces of a text file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Outcome, Tool, ToolCall, ToolContext
from todo_agent.tools import paths
from todo_agent.tools.change import (
    Keep,
    Present,
    changed,
    keep_nothing,
    make_change,
    plan_change,
    preview_change,
)
from todo_agent.tools.editing import Edit, Refused, replace_text
from todo_agent.tools.seen import Sight
from todo_agent.tools.texts import description
from todo_agent.tools.workspace import Workspace

_STRINGS: JsonObject = {
    "old_string": {"type": "string", "description": "The text to replace, exactly as it stands."},
    "new_string": {"type": "string", "description": "What takes its place."},
    "replace_all": {"type": "boolean", "description": "Replace every occurrence."},
}
_EDIT: JsonObject = {
    "type": "object",
    "properties": _STRINGS,
    "required": ["old_string", "new_string"],
    "additionalProperties": False,
}
EDIT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"path": {"type": "string", "minLength": 1}, **_STRINGS},
    "required": ["path", "old_string", "new_string"],
    "additionalProperties": False,
}
MULTI_EDIT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "edits": {"type": "array", "items": _EDIT, "minItems": 1, "maxItems": 200},
    },
    "required": ["path", "edits"],
    "additionalProperties": False,
}


def edit_tool(workspace: Workspace, *, keep: Keep = keep_nothing) -> Tool:
    """Return the tool that replaces one piece of text, or every occurrence of it.

    A file that changed since it was read is edited only where `old_string` still occurs
    exactly once: then the lines it names are as the agent knows them.
    """
    return _tool("edit", EDIT_SCHEMA, _one, workspace=workspace, keep=keep)


def multi_edit_tool(workspace: Workspace, *, keep: Keep = keep_nothing) -> Tool:
    """Return the tool that makes several replacements in one file, all or none."""
    return _tool("multi_edit", MULTI_EDIT_SCHEMA, _several, workspace=workspace, keep=keep)


def _tool(
    name: str,
    schema: JsonObject,
    edits_of: Callable[[JsonObject], Sequence[Edit]],
    *,
    workspace: Workspace,
    keep: Keep,
) -> Tool:
    def change(args: JsonObject, *, approved: bool) -> Outcome:
        path = paths.path_of(args)
        planned = plan_change(workspace, path, partial(_edited, edits_of(args)), approved=approved)
        make_change(workspace, path, planned, keep=keep)
        return changed(planned, f"Edited {planned.shown}")

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        return await paths.in_thread(lambda: change(call.args, approved=ctx.approved))

    def preview(args: JsonObject) -> Display:
        return preview_change(workspace, paths.path_of(args), partial(_edited, edits_of(args)))

    return Tool(
        name,
        description(name),
        schema,
        run,
        locks=paths.CHANGES,
        resources=paths.resources(workspace, "write"),
        title=paths.title(workspace),
        preview=preview,
    )


def _one(args: JsonObject) -> Sequence[Edit]:
    every = args.get("replace_all") is True
    return (Edit(str(args["old_string"]), str(args["new_string"]), every=every),)


def _several(args: JsonObject) -> Sequence[Edit]:
    edits = args["edits"]
    if not isinstance(edits, Sequence):
        raise TypeError("the schema lets only a list through")
    return tuple(edit for item in edits if isinstance(item, dict) for edit in _one(item))


def _edited(edits: Sequence[Edit], present: Present) -> str | Refused:
    if present.text is None:
        return Refused("the file does not exist. Create it with write.")
    text = present.text
    for index, edit in enumerate(edits):
        place = f"edits[{index}]: " if len(edits) > 1 else ""
        if edit.every and present.sight is Sight.CHANGED:
            again = "Read it again before you replace every occurrence."
            return Refused(f"{place}the file changed since it was read. {again}")
        result = replace_text(text, edit)
        if isinstance(result, Refused):
            stale = " (The file changed since it was read.)" if _stale(present) else ""
            return Refused(f"{place}{result.reason}{stale}")
        text = result.text
    return text


def _stale(present: Present) -> bool:
    return present.sight is Sight.CHANGED
