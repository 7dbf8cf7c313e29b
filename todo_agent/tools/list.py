"""The list tool: what is in a directory."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.tools import paths
from todo_agent.tools.files import check_inside
from todo_agent.tools.texts import description
from todo_agent.tools.workspace import Workspace, printable

MAX_SHOWN = 500
MAX_SEEN = 100_000

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"path": {"type": "string", "minLength": 1}},
    "additionalProperties": False,
}


def list_tool(workspace: Workspace) -> Tool:
    """Return the tool that lists a directory, directories first."""

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        return await paths.in_thread(lambda: _list(workspace, call.args, approved=ctx.approved))

    return Tool(
        "list",
        description("list"),
        SCHEMA,
        run,
        locks=paths.READS,
        resources=paths.resources(workspace, "read"),
        title=paths.title(workspace),
    )


def _list(workspace: Workspace, args: JsonObject, *, approved: bool) -> Outcome:
    path = workspace.resolve(paths.path_of(args))
    check_inside(workspace, path, approved=approved)
    shown = workspace.shown(path)
    try:
        with os.scandir(path) as entries:
            found = [(not entry.is_dir(), _line(entry)) for entry in islice(entries, MAX_SEEN)]
    except NotADirectoryError:
        return Error(f"{shown} is not a directory; read it instead.")
    except OSError as error:
        return Error(f"{shown} cannot be listed: {error.strerror}.")
    lines = [line for _, line in sorted(found)]
    if not lines:
        return Success(f"[{shown} is empty]", display=Display("empty"))
    summary = f"{len(lines):,} entr{'y' if len(lines) == 1 else 'ies'}"
    body = "\n".join(lines[:MAX_SHOWN])
    more = f"\n[{summary}; the first {MAX_SHOWN} are shown]" if len(lines) > MAX_SHOWN else ""
    return Success(body + more, display=Display(summary, body))


def _line(entry: os.DirEntry[str]) -> str:
    name = printable(entry.name)
    if entry.is_symlink():
        return f"{name} -> {printable(str(Path(entry.path).readlink()))}"
    if entry.is_dir():
        return f"{name}/"
    return f"{name} ({entry.stat(follow_symlinks=False).st_size:,} bytes)"
