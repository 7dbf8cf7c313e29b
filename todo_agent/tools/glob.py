"""The glob tool: files by name, the newest first."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.tools import paths
from todo_agent.tools.files import FileError, check_inside
from todo_agent.tools.globs import Glob, GlobError
from todo_agent.tools.search import Searcher, SearchError, shown_path
from todo_agent.tools.texts import description
from todo_agent.tools.workspace import PathError, Workspace

MAX_SHOWN = 200

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "minLength": 1},
        "path": {"type": "string", "minLength": 1, "description": "The directory to search."},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def glob_tool(workspace: Workspace, *, environ: Mapping[str, str]) -> Tool:
    """Return the tool that finds files by name; `environ` says where ripgrep may be."""

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        try:
            return await _glob(workspace, environ, call.args, approved=ctx.approved)
        except (FileError, PathError, GlobError, SearchError) as error:
            return Error(str(error))

    return Tool(
        "glob",
        description("glob"),
        SCHEMA,
        run,
        locks=paths.READS,
        resources=paths.resources(workspace, "read"),
        title=lambda args: _title(workspace, args),
    )


async def _glob(
    workspace: Workspace, environ: Mapping[str, str], args: JsonObject, *, approved: bool
) -> Outcome:
    path = workspace.resolve(paths.path_of(args))
    check_inside(workspace, path, approved=approved)
    if not path.is_dir():
        return Error(f"{workspace.shown(path)} is not a directory.")
    glob = Glob(str(args["pattern"]).removeprefix(f"{path}/"))
    names = await Searcher(path, environ).files()
    found = await asyncio.to_thread(_newest_first, path, names, glob)
    if not found:
        return Success("[no files]", display=Display("no files"))
    base = workspace.shown(path)
    lines = [shown_path(base, name) for name in found[:MAX_SHOWN]]
    body = "\n".join(lines)
    summary = f"{len(found):,} file{'s' * (len(found) != 1)}"
    if len(found) > MAX_SHOWN:
        lines.append(f"[{summary}; the {MAX_SHOWN} newest are shown]")
    return Success("\n".join(lines), display=Display(summary, body))


def _newest_first(directory: Path, names: Sequence[str], glob: Glob) -> Sequence[str]:
    def newest(name: str) -> tuple[float, str]:
        try:
            return -(directory / name).lstat().st_mtime, name
        except OSError:
            return 0.0, name

    return sorted((name for name in names if glob.matches(name)), key=newest)


def _title(workspace: Workspace, args: JsonObject) -> str:
    where = f" in {paths.title(workspace)(args)}" if "path" in args else ""
    return f"{args['pattern']}{where}"
