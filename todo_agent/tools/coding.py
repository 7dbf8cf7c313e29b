"""The set of tools a coding agent works with."""

from __future__ import annotations

from collections.abc import Mapping

from todo_agent.agent.tools import Tool
from todo_agent.tools.ask_user import ask_user_tool
from todo_agent.tools.change import Keep, keep_nothing
from todo_agent.tools.edit import edit_tool, multi_edit_tool
from todo_agent.tools.glob import glob_tool
from todo_agent.tools.grep import MayRead, everything, grep_tool
from todo_agent.tools.job_tools import shell_output_tool, shell_stop_tool
from todo_agent.tools.jobs import Jobs
from todo_agent.tools.list import list_tool
from todo_agent.tools.read import read_tool
from todo_agent.tools.sandbox import Sandbox
from todo_agent.tools.shell import shell_tool
from todo_agent.tools.web_fetch import web_fetch_tool
from todo_agent.tools.workspace import Workspace
from todo_agent.tools.write import write_tool


def coding_tools(
    workspace: Workspace,
    *,
    environ: Mapping[str, str],
    keep: Keep = keep_nothing,
    jobs: Jobs | None = None,
    sandbox: Sandbox | None = None,
    may_read: MayRead = everything,
) -> tuple[Tool, ...]:
    """Return all tools for one session in a workspace.

    Args:
        workspace: where they work; it remembers what was read and where the shell stands.
        environ: what commands inherit, usually `os.environ`.
        keep: keeps what a file held before a tool changes it.
        jobs: where commands in the background go, to be closed with the session; without
            it there are none.
        sandbox: what commands run in.
        may_read: which files a search may show lines of.
    """
    background = () if jobs is None else (shell_output_tool(jobs), shell_stop_tool(jobs))
    return (
        read_tool(workspace),
        write_tool(workspace, keep=keep),
        edit_tool(workspace, keep=keep),
        multi_edit_tool(workspace, keep=keep),
        shell_tool(workspace, environ=environ, jobs=jobs, sandbox=sandbox),
        *background,
        grep_tool(workspace, environ=environ, may_read=may_read),
        glob_tool(workspace, environ=environ),
        list_tool(workspace),
        web_fetch_tool(),
        ask_user_tool(),
    )
