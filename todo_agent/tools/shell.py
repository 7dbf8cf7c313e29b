"""The shell tool: one command, to its end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Resource, Success, Tool, ToolCall, ToolContext
from todo_agent.tools import paths
from todo_agent.tools.output import Capture, Pacer
from todo_agent.tools.processes import start
from todo_agent.tools.texts import description
from todo_agent.tools.workspace import PathError, Workspace, printable

DEFAULT_SECONDS = 120
MAX_SECONDS = 600

WITHHELD = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CDPATH")
"""Never handed to a command: our keys, and what makes `cd` go elsewhere than it says."""
QUIET: Mapping[str, str] = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
}
"""Nothing pages, opens an editor, asks for a password, or paints."""

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "minLength": 1},
        "timeout": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": MAX_SECONDS,
            "description": f"Seconds; {DEFAULT_SECONDS} if left out.",
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}


def shell_tool(workspace: Workspace, *, environ: Mapping[str, str]) -> Tool:
    """Return the tool that runs a command in the workspace's present directory.

    Args:
        workspace: its `cwd` is where commands start; a command that ends in another
            directory inside the workspace moves it.
        environ: what commands inherit, but for `WITHHELD`; `QUIET` is set on top.
    """

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        command = str(call.args["command"])
        seconds = float(str(call.args.get("timeout", DEFAULT_SECONDS)))
        return await _run(workspace, environ, command, seconds=seconds, show=ctx.output)

    return Tool(
        "shell",
        description("shell"),
        SCHEMA,
        run,
        locks=paths.CHANGES,
        resources=_resources,
        title=lambda args: str(args["command"]),
        preview=lambda args: _preview(workspace, args),
    )


def command_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that commands get."""
    return {name: value for name, value in environ.items() if name not in WITHHELD} | {**QUIET}


def shell_program(environ: Mapping[str, str]) -> str | None:
    """Return the shell that runs commands: bash, or else sh; None where there is neither."""
    path = environ.get("PATH")
    return shutil.which("bash", path=path) or shutil.which("sh", path=path)


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a command ended."""

    code: int | None
    """None: it ran out of time."""
    seconds: float
    output: str
    left_over: bool
    """Something it had started still ran, and was ended."""
    cwd: str
    """The directory it ended in, or nothing where that is not known."""


async def _run(
    workspace: Workspace,
    environ: Mapping[str, str],
    command: str,
    *,
    seconds: float,
    show: Callable[[str], None],
) -> Outcome:
    if "\0" in command:
        return Error("The command contains a NUL character; no shell can run it.")
    program = shell_program(environ)
    if program is None:
        return Error("There is no bash or sh on this machine's PATH, so no command can run.")
    notes = []
    if not workspace.cwd.is_dir():
        notes.append(f"{workspace.shown(workspace.cwd)} is gone; this ran in the workspace root")
        workspace.cwd = workspace.root
    try:
        ended = await _to_its_end(
            program,
            command.encode(errors="replace").decode(),
            cwd=workspace.cwd,
            env=command_environment(environ),
            seconds=seconds,
            show=show,
        )
    except OSError as error:
        return Error(f"The command could not be started: {error}.")
    if ended.left_over:
        notes.append("what it had left running in the background was ended")
    notes += _move(workspace, ended.cwd)
    return _outcome(ended, notes, seconds)


# The command is an argument of the script and not a part of it, so nothing in it can
# break out of the `eval`, and its own line numbers are the ones in error messages.
_SCRIPT = "__command=$1; shift; trap 'pwd -P >&{fd}' EXIT; eval \"$__command\""


async def _to_its_end(
    program: str,
    command: str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    show: Callable[[str], None],
) -> _Ended:
    pacer = Pacer(show)
    capture = Capture(pacer)
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    began = time.monotonic()
    try:
        process = await start(
            [program, "-c", _SCRIPT.format(fd=writer), "bash", command],
            cwd=cwd,
            env=env,
            feed=capture.feed,
            pass_fds=[writer],
        )
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
        ended_in = _read(reader) if code is not None else ""
    finally:
        os.close(reader)
        os.close(writer)
    return _Ended(code, took, capture.take(), left_over=left_over, cwd=ended_in)


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
    return (Resource("run", str(args["command"])),)


def _preview(workspace: Workspace, args: JsonObject) -> Display:
    return Display(f"in {workspace.shown(workspace.cwd)}", str(args["command"]))
