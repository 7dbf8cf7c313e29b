"""The write tool: a whole new content for a file."""

from __future__ import annotations

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
from todo_agent.tools.editing import Refused, with_endings
from todo_agent.tools.seen import Sight
from todo_agent.tools.texts import description
from todo_agent.tools.workspace import Workspace

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "content": {"type": "string", "description": "The whole content of the file."},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}


def write_tool(workspace: Workspace, *, keep: Keep = keep_nothing) -> Tool:
    """Return the tool that creates or replaces a file.

    An existing file is replaced only when its present content was read, or written by the
    agent itself, in this session.
    """

    def write(args: JsonObject, *, approved: bool) -> Outcome:
        path = paths.path_of(args)
        change = plan_change(
            workspace, path, partial(_new_text, args), approved=approved, whole=True
        )
        make_change(workspace, path, change, keep=keep)
        done = "Created" if change.before is None else "Replaced"
        return changed(change, f"{done} {change.shown}")

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        return await paths.in_thread(lambda: write(call.args, approved=ctx.approved))

    def preview(args: JsonObject) -> Display:
        return preview_change(workspace, paths.path_of(args), partial(_new_text, args))

    return Tool(
        "write",
        description("write"),
        SCHEMA,
        run,
        locks=paths.CHANGES,
        resources=paths.resources(workspace, "write"),
        title=paths.title(workspace),
        preview=preview,
    )


def _new_text(args: JsonObject, present: Present) -> str | Refused:
    content = str(args["content"])
    if present.text is None:
        return content
    if present.text and present.sight is Sight.NEVER:
        return Refused("it exists and was not read yet. Read it first, or change a part with edit.")
    if present.text and present.sight is Sight.CHANGED:
        return Refused("it changed since it was read. Read it again, then decide anew.")
    return content if "\r\n" in content else with_endings(present.text, present.text, content)
