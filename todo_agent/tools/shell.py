"""The shell tool: one command, to its end."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Resource, Success, Tool, ToolCall, ToolContext
from todo_agent.tools import paths
from todo_agent.tools.environment import command_environment, shell_program
from todo_agent.tools.job_tools import report
from todo_agent.tools.jobs import Jobs
from todo_agent.tools.output import Capture, Pacer
from todo_agent.tools.processes import start
from todo_agent.tools.sandbox import Sandbox
from todo_agent.tools.texts import description
from todo_agent.tools.workspace import PathError, Workspace, printable

DEFAULT_SECONDS = 120
MAX_SECONDS = 600
BACKGROUND_SECONDS = 0.5
"""So long a command in the background is watched for an early end."""

UNSANDBOXED = Resource("invoke", "shell_outside_sandbox")
"""What a call with `outside_sandbox` touches besides."""

_COMMAND: JsonObject = {
    "command": {"type": "string", "minLength": 1},
    "timeout": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": MAX_SECONDS,
        "description": f"Seconds; {DEFAULT_SECONDS} if left out.",
    },
}
_BACKGROUND: JsonObject = {
    "run_in_background": {"type": "boolean", "description": "Go on while it runs."}
}
_OUTSIDE: JsonObject = {
    "outside_sandbox": {"type": "boolean", "description": "Run it without the sandbox."}
}


def shell_tool(
    workspace: Workspace,
    *,
    environ: Mapping[str, str],
    jobs: Jobs | None = None,
    sandbox: Sandbox | None = None,
) -> Tool:
    """Return the tool that runs a command in the workspace's present directory.

    Args:
        workspace: its `cwd` is where commands start; a command that ends in another
            directory inside the workspace moves it.
        environ: what commands inherit, but for `WITHHELD`; `QUIET` is set on top.
        jobs: where commands in the background go; without it there are none.
        sandbox: what commands run in; without it they run as the program itself does.
    """
    shell = _Shell(workspace, environ, jobs, sandbox)
    parts = ["shell", *["shell_background"] * (jobs is not None)]
    parts += ["shell_sandbox"] * (sandbox is not None)
    properties = {
        **_COMMAND,
        **(_BACKGROUND if jobs is not None else {}),
        **(_OUTSIDE if sandbox is not None else {}),
    }
    return Tool(
        "shell",
        "\n".join(description(part) for part in parts),
        {
            "type": "object",
            "properties": properties,
            "required": ["command"],
            "additionalProperties": False,
        },
        shell.run,
        locks=paths.CHANGES,
        resources=_resources,
        title=lambda args: str(args["command"]),
        preview=lambda args: _preview(workspace, args),
    )


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a command ended."""

    code: int | None
    """None: it ran out of time."""
    seconds: float
    output: str
    left_over: bool
    """Something it had started still ran, and was ended."""
    cwd: str = ""
    """The directory it ended in, or nothing where that is not known."""


@dataclass(frozen=True, slots=True)
class _Shell:
    """Runs commands for one session."""

    workspace: Workspace
    environ: Mapping[str, str]
    jobs: Jobs | None
    sandbox: Sandbox | None

    async def run(self, call: ToolCall, ctx: ToolContext) -> Outcome:
        command = str(call.args["command"]).encode(errors="replace").decode()
        if "\0" in command:
            return Error("The command contains a NUL character; no shell can run it.")
        program = shell_program(self.environ)
        if program is None:
            return Error("There is no bash or sh on this machine's PATH, so no command can run.")
        notes = self._come_back()
        caged = self.sandbox is not None and call.args.get("outside_sandbox") is not True
        try:
            if self.jobs is not None and call.args.get("run_in_background") is True:
                return await self._start(self.jobs, [program, "-c", command], command, caged=caged)
            seconds = float(str(call.args.get("timeout", DEFAULT_SECONDS)))
            ended = await self._finish(
                program, command, seconds=seconds, show=ctx.output, caged=caged
            )
        except OSError as error:
            return Error(f"The command could not be started: {error}.")
        if ended.left_over and not caged:
            notes.append("what it had left running in the background was ended")
        if self.sandbox is not None and caged and ended.code != 0:
            notes += filter(None, [self.sandbox.hint(ended.output)])
        notes += _move(self.workspace, ended.cwd)
        return _outcome(ended, notes, seconds)

    async def _start(
        self, jobs: Jobs, line: Sequence[str], command: str, *, caged: bool
    ) -> Outcome:
        job = await jobs.start(
            command,
            self._line(line, caged=caged),
            cwd=self.workspace.cwd,
            env=command_environment(self.environ),
        )
        await job.wait(BACKGROUND_SECONDS)
        return report(job)

    async def _finish(
        self,
        program: str,
        command: str,
        *,
        seconds: float,
        show: Callable[[str], None],
        caged: bool,
    ) -> _Ended:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        line = [program, "-c", _SCRIPT.format(fd=writer), "bash", command]
        try:
            ended = await _to_its_end(
                self._line(line, caged=caged),
                cwd=self.workspace.cwd,
                env=command_environment(self.environ),
                seconds=seconds,
                show=show,
                tells=writer,
            )
            return replace(ended, cwd=_read(reader)) if ended.code is not None else ended
        finally:
            os.close(reader)
            os.close(writer)

    def _line(self, line: Sequence[str], *, caged: bool) -> Sequence[str]:
        if self.sandbox is None or not caged:
            return line
        return self.sandbox.command(line, workspace=self.workspace)

    def _come_back(self) -> list[str]:
        """Go to the root where the present directory is gone."""
        workspace = self.workspace
        if workspace.cwd.is_dir():
            return []
        gone, workspace.cwd = workspace.cwd, workspace.root
        return [f"{workspace.shown(gone)} is gone; this ran in the workspace root"]


# The command is an argument of the script and not a part of it, so nothing in it can
# break out of the `eval`, and its own line numbers are the ones in error messages.
_SCRIPT = "__command=$1; shift; trap 'pwd -P >&{fd}' EXIT; eval \"$__command\""


async def _to_its_end(
    line: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    show: Callable[[str], None],
    tells: int,
) -> _Ended:
    """Run a command line; `tells` is the descriptor on which it says where it ended."""
    pacer = Pacer(show)
    capture = Capture(pacer)
    began = time.monotonic()
    process = await start(line, cwd=cwd, env=env, feed=capture.feed, pass_fds=[tells])
    code: int | None = None
    left_over = False
    try:
        async with asyncio.timeout(seconds):
            code = await process.wait()
    except TimeoutError:
        pass
    finally:
        took = time.monotonic() - began
        left_over = await process.end()
    capture.finish()
    pacer.flush()
    return _Ended(code, took, capture.take(), left_over=left_over)


def _read(descriptor: int) -> str:
    try:
        return os.fsdecode(os.read(descriptor, 65_536)).removesuffix("\n")
    except BlockingIOError:
        return ""


def _move(workspace: Workspace, ended_in: str) -> list[str]:
    """Let the next command start where this one ended, as long as that is inside."""
    if not ended_in or ended_in == str(workspace.cwd):
        return []
    try:
        cwd = workspace.resolve(ended_in)
    except PathError:
        return []
    if not workspace.contains(cwd):
        outside = f"{printable(ended_in)} is outside the workspace"
        return [f"{outside}; the next command starts in {workspace.shown(workspace.cwd)} again"]
    workspace.cwd = cwd
    return [f"the next command starts in {workspace.shown(cwd)}"]


def _outcome(ended: _Ended, notes: list[str], seconds: float) -> Outcome:
    if ended.code is None:
        notes = [f"timed out after {seconds:g} s; it and all it had started was ended", *notes]
        summary = f"timed out · {ended.seconds:.1f} s"
    else:
        killed = ended.code < 0
        how = f"ended by {_signal_name(-ended.code)}" if killed else f"exit code {ended.code}"
        notes = [how, *notes]
        summary = f"{how.replace('exit code', 'exit')} · {ended.seconds:.1f} s"
    output = ended.output.rstrip("\n") or "[no output]"
    text = "\n".join([output, *(f"[{note}]" for note in notes)])
    display = Display(summary, ended.output, kind="output")
    return Success(text, display=display) if ended.code == 0 else Error(text, display)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _resources(args: JsonObject) -> tuple[Resource, ...]:
    command = Resource("run", str(args["command"]))
    return (command, UNSANDBOXED) if args.get("outside_sandbox") is True else (command,)


def _preview(workspace: Workspace, args: JsonObject) -> Display:
    return Display(f"in {workspace.shown(workspace.cwd)}", str(args["command"]))
