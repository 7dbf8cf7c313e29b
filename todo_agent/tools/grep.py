"""The grep tool: lines that match a regular expression."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from pathlib import Path

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.tools import paths
from todo_agent.tools.files import FileError, check_inside
from todo_agent.tools.globs import Glob, GlobError
from todo_agent.tools.search import MAX_MATCHES, Searcher, SearchError, shown_path
from todo_agent.tools.texts import description
from todo_agent.tools.workspace import PathError, Workspace

MAX_SHOWN = 200

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "minLength": 1, "description": "A regular expression."},
        "path": {"type": "string", "minLength": 1, "description": "A file or directory."},
        "glob": {"type": "string", "minLength": 1, "description": "Which files, such as *.py."},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def grep_tool(workspace: Workspace, *, environ: Mapping[str, str]) -> Tool:
    """Return the tool that searches file contents; `environ` says where ripgrep may be."""

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        try:
            return await _grep(workspace, environ, call.args, approved=ctx.approved)
        except (FileError, PathError, GlobError, SearchError) as error:
            return Error(str(error))

    return Tool(
        "grep",
        description("grep"),
        SCHEMA,
        run,
        locks=paths.READS,
        resources=paths.resources(workspace, "read"),
        title=lambda args: _title(workspace, args),
    )


async def _grep(
    workspace: Workspace, environ: Mapping[str, str], args: JsonObject, *, approved: bool
) -> Outcome:
    pattern = str(args["pattern"])
    if "\n" in pattern or "\0" in pattern:
        return Error("A pattern matches within one line; it cannot contain a line break.")
    path = workspace.resolve(paths.path_of(args))
    check_inside(workspace, path, approved=approved)
    directory, name = searched(workspace, path)
    glob = Glob(str(args["glob"])) if "glob" in args else None
    found = await Searcher(directory, environ).lines(pattern, name=name, glob=glob)
    total = len(found.matches)
    if not total:
        return Success("[no matches]", display=Display("no matches"))
    base = workspace.shown(directory)
    first = heapq.nsmallest(MAX_SHOWN, found.matches)
    lines = [f"{shown_path(base, match.path)}:{match.number}:{match.line}" for match in first]
    files = len({match.path for match in found.matches})
    counted = f"more than {MAX_MATCHES:,}" if found.stopped else f"{total:,}"
    summary = f"{counted} match{'es' * (total != 1)} in {files:,} file{'s' * (files != 1)}"
    body = "\n".join(lines)
    if total > MAX_SHOWN:
        lines.append(f"[{summary}; the first {MAX_SHOWN} are shown, narrow it with path or glob]")
    return Success("\n".join(lines), display=Display(summary, body))


def searched(workspace: Workspace, path: Path) -> tuple[Path, str]:
    """Return the directory to search in, and the one file where the path is a file.

    Raises:
        FileError: there is nothing to search at the path.
    """
    if path.is_dir():
        return path, ""
    if path.is_file():
        return path.parent, path.name
    what = "neither a file nor a directory" if path.exists() else "not there"
    raise FileError(f"{workspace.shown(path)} is {what}.")


def _title(workspace: Workspace, args: JsonObject) -> str:
    where = f" in {paths.title(workspace)(args)}" if "path" in args else ""
    only = f" ({args['glob']})" if "glob" in args else ""
    return f"{args['pattern']}{where}{only}"
