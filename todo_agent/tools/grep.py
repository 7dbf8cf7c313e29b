"""The grep tool: lines that match a regular expression."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

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


MayRead: TypeAlias = Callable[[Path], bool]


def everything(path: Path) -> bool:
    """Allow every file to be read."""
    return True


def grep_tool(
    workspace: Workspace, *, environ: Mapping[str, str], may_read: MayRead = everything
) -> Tool:
    """Return the tool that searches file contents.

    Args:
        workspace: where it searches.
        environ: says where ripgrep may be.
        may_read: says of a file below the searched directory whether its lines may be shown.
    """

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        try:
            searcher = partial(Searcher, environ=environ)
            return await _grep(workspace, searcher, may_read, call.args, approved=ctx.approved)
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
    workspace: Workspace,
    searcher: Callable[[Path], Searcher],
    may_read: MayRead,
    args: JsonObject,
    *,
    approved: bool,
) -> Outcome:
    pattern = str(args["pattern"])
    if "\n" in pattern or "\0" in pattern:
        return Error("A pattern matches within one line; it cannot contain a line break.")
    path = workspace.resolve(paths.path_of(args))
    check_inside(workspace, path, approved=approved)
    directory, name = searched(workspace, path)
    glob = Glob(str(args["glob"])) if "glob" in args else None
    found = await searcher(directory).lines(pattern, name=name, glob=glob)
    shown = {match.path for match in found.matches}
    hidden = {path for path in shown if not may_read(directory / path)}
    matches = [match for match in found.matches if match.path not in hidden]
    notes = [f"{len(hidden)} more files match that may not be read"] if hidden else []
    if not matches:
        text = "\n".join(f"[{note}]" for note in ["no matches", *notes])
        return Success(text, display=Display("no matches"))
    base = workspace.shown(directory)
    first = heapq.nsmallest(MAX_SHOWN, matches)
    lines = [f"{shown_path(base, match.path)}:{match.number}:{match.line}" for match in first]
    total, files = len(matches), len(shown - hidden)
    counted = f"more than {MAX_MATCHES:,}" if found.stopped else f"{total:,}"
    summary = f"{counted} match{'es' * (total != 1)} in {files:,} file{'s' * (files != 1)}"
    if total > MAX_SHOWN:
        shown_are = f"the first {MAX_SHOWN} are shown, narrow it with path or glob"
        notes = [f"{summary}; {shown_are}", *notes]
    text = "\n".join([*lines, *(f"[{note}]" for note in notes)])
    return Success(text, display=Display(summary, "\n".join(lines)))


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
