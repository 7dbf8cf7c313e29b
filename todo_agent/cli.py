"""The command line: reads it, loads the configuration, and starts one front end."""

from __future__ import annotations

import argparse
import asyncio
import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from todo_agent import __version__
from todo_agent.errors import ConfigError, TodoAgentError
from todo_agent.exit_codes import ExitCode

if TYPE_CHECKING:
    from todo_agent.assemble import Workshop
    from todo_agent.paths import Paths
    from todo_agent.settings import Config

COMMANDS = ("threads", "plan", "config", "doctor")
MAX_STDIN = 10_000_000
"""The longest prompt that is read from standard input, in bytes."""
DEMO_PROMPT = "A test of this project fails. Find out why and fix it."
STDIN_PATIENCE = 0.1
"""Seconds to wait for the first byte of an input that a prompt does not need."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message}. Try: {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with its arguments; return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _start(arguments)
    except ConfigError as error:
        return _refuse(error, arguments, ExitCode.USAGE)
    except TodoAgentError as error:
        return _refuse(error, arguments, ExitCode.FAILED)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FAILED


def _start(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        from todo_agent import commands

        return commands.run(arguments)
    options = _parser().parse_args(arguments)
    cwd = _directory(options.cwd) if options.cwd else Path.cwd()
    paths, config = _configure(options, cwd)
    if options.print:
        return _print(options, config, paths, cwd)
    return _screen(options, config, paths, cwd)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="todo-agent",
        description="A coding agent in your terminal that works off a plan you can see and edit.",
        epilog="More commands: threads, plan ID, config, doctor (each with --help).",
        allow_abbrev=False,
    )
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="the first message")
    parser.add_argument("--version", action="version", version=f"todo-agent {__version__}")
    thread = parser.add_argument_group("threads")
    thread.add_argument(
        "-c", "--continue", dest="newest", action="store_true",
        help="go on with this directory's newest thread",
    )  # fmt: skip
    thread.add_argument(
        "-r", "--resume", nargs="?", const="", metavar="ID",
        help="open a thread by id or unique prefix; without ID choose one",
    )  # fmt: skip
    thread.add_argument("--fork", action="store_true", help="go on in a copy of the thread")
    printing = parser.add_argument_group("without a screen")
    printing.add_argument(
        "-p", "--print", action="store_true", help="print the answer and exit; no screen"
    )
    printing.add_argument(
        "--output-format", choices=("text", "json", "stream-json"), default="text",
        help="how -p writes what came of it",
    )  # fmt: skip
    printing.add_argument(
        "--require-done", action="store_true", help="with -p: exit with 6 while todos are open"
    )
    work = parser.add_argument_group("how it works")
    work.add_argument("-m", "--model", metavar="NAME")
    work.add_argument("--base-url", metavar="URL")
    work.add_argument("--permission-mode", metavar="MODE", help="ask, accept-edits, plan or auto")
    work.add_argument("--discipline", metavar="NAME", help="free, guarded or sequential")
    work.add_argument("--max-turns", type=int, metavar="N", help="most model steps of a run")
    work.add_argument("--max-cost", type=float, metavar="USD", help="most a run may cost")
    work.add_argument("-C", "--cwd", metavar="DIR", help="work in another directory")
    work.add_argument(
        "--add-dir", action="append", default=[], metavar="DIR", help="work in this one too"
    )
    work.add_argument("--config", metavar="FILE", help="use another configuration file")
    work.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="set a setting for once"
    )
    work.add_argument("--demo", action="store_true", help="play the offline demo; needs no key")
    return parser


def _configure(options: argparse.Namespace, cwd: Path) -> tuple[Paths, Config]:
    from todo_agent.config import load, restrict
    from todo_agent.paths import Paths, project_config
    from todo_agent.trust import is_trusted

    paths = Paths.find(os.environ)
    config = load(
        Path(options.config) if options.config else paths.config_file,
        required=bool(options.config),
        environ=os.environ,
        options={
            "model": options.model,
            "base_url": options.base_url,
            "permissions.mode": options.permission_mode,
            "plan.discipline": options.discipline,
            "limits.max_turns": options.max_turns,
            "limits.max_cost": options.max_cost,
        },
        assignments=options.set,
    )
    project = project_config(cwd)
    if not project.is_file():
        return paths, config
    if is_trusted(paths.trust_file, project) or _asks_for_trust(options, paths, project):
        return paths, restrict(config, project)
    from dataclasses import replace

    notice = f"{project} is not trusted and was left out."
    return paths, replace(config, notices=(*config.notices, notice))


def _asks_for_trust(options: argparse.Namespace, paths: Paths, project: Path) -> bool:
    """Ask, once for a content, whether a project's configuration may count."""
    from todo_agent.config import read
    from todo_agent.trust import trust

    if options.print or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    read(project)
    sys.stdout.write(f"{project} can restrict what the agent may do here. It says:\n\n")
    for line in project.read_text("utf-8-sig").splitlines():
        sys.stdout.write(f"    {ascii(line)[1:-1]}\n")
    sys.stdout.write("\nUse it? [y/N] ")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return False
    trust(paths.trust_file, project)
    return True


def _print(options: argparse.Namespace, config: Config, paths: Paths, cwd: Path) -> int:
    from todo_agent.assemble import NO_KEY, Place, Workshop, has_key
    from todo_agent.headless import Format, run_print

    if not (options.demo or has_key(config)):
        raise ConfigError(NO_KEY)
    prompt = _prompt(options.prompt)
    place = Place(cwd=cwd, environ=os.environ, extra_dirs=_extra(options), demo=options.demo)
    workshop = Workshop(config, paths, place)

    async def run() -> int:
        session = await _session(workshop, options)
        stop = asyncio.ensure_future(_stopping())
        work = asyncio.ensure_future(
            run_print(
                session,
                prompt,
                output_format=Format(options.output_format),
                require_done=options.require_done,
                out=sys.stdout,
                err=sys.stderr,
                render=_render,
            )
        )
        try:
            await asyncio.wait([stop, work], return_when=asyncio.FIRST_COMPLETED)
            if stop.done():
                await session.interrupt()
            code = await work
            return stop.result() if stop.done() else code
        finally:
            stop.cancel()
            await session.close()

    return asyncio.run(run())


async def _stopping() -> int:
    """Wait for a signal that ends the program; return the exit code it stands for."""
    stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    codes = {signal.SIGINT: ExitCode.INTERRUPTED, signal.SIGTERM: ExitCode.TERMINATED}
    for number, code in codes.items():
        asyncio.get_running_loop().add_signal_handler(number, _settle, stopped, code)
    return await stopped


def _settle(future: asyncio.Future[int], code: ExitCode) -> None:
    if not future.done():
        future.set_result(code)


async def _session(workshop: Workshop, options: argparse.Namespace):  # type: ignore[no-untyped-def]  # noqa: ANN202 -- naming the type would import the session for everybody
    thread = _thread(workshop, options)
    if thread is not None and options.fork:
        return await workshop.fork(thread)
    return await workshop.open(thread)


def _thread(workshop: Workshop, options: argparse.Namespace) -> str | None:
    """Return the thread that the options name; None for a new one."""
    if options.newest:
        newest = workshop.newest()
        if newest is None:
            raise ConfigError(f"There is no thread of {workshop.cwd} yet.")
        return newest
    if options.resume == "":
        raise ConfigError("-p needs the thread's id: --resume ID.")
    return options.resume if isinstance(options.resume, str) else None


def _screen(options: argparse.Namespace, config: Config, paths: Paths, cwd: Path) -> int:
    for name, stream in (("Standard input", sys.stdin), ("Standard output", sys.stdout)):
        if stream is None or not stream.isatty():
            raise ConfigError(
                f'{name} is not a terminal. For scripts use: todo-agent -p "your prompt"'
            )
    from todo_agent.late_workshop import LateWorkshop
    from todo_agent.tui.history import FileHistory
    from todo_agent.tui.run import run_tui
    from todo_agent.tui.settings import TuiSettings

    opens_thread = options.newest or options.resume is not None
    has_key = bool(config.api_key or config.auth_token)
    demo = options.demo or not (has_key or opens_thread)

    def build() -> Workshop:
        from todo_agent.assemble import Place, Workshop

        place = Place(cwd=cwd, environ=os.environ, extra_dirs=_extra(options), demo=demo)
        return Workshop(config, paths, place)

    late = LateWorkshop(build, newest=options.newest, fork=options.fork)
    settings = TuiSettings(
        theme=config.theme,
        mouse=config.mouse,
        ascii=config.ascii,
        animate=config.animate,
        plan_visible=config.plan_visible,
        plan_side=config.plan_side,
        plan_width=config.plan_width,
        notify=config.notify,
        history=FileHistory(paths.history_file),
        files=late.files,
        log=paths.log_file,
    )
    prompt = options.prompt or ("/threads" if options.resume == "" else "")
    if demo and not options.prompt:
        prompt = DEMO_PROMPT
    code = run_tui(late, thread=options.resume or None, prompt=prompt, settings=settings)
    for line in late.farewell():
        sys.stdout.write(f"{line}\n")
    return code


def _prompt(given: str | None) -> str:
    """Return the prompt, with what standard input holds behind it.

    Raises:
        ConfigError: there is none, or it is too long.
    """
    piped = _read_stdin(wait=given is None)
    prompt = "\n\n".join(part for part in (given or "", piped) if part.strip())
    if not prompt:
        raise ConfigError('-p needs a prompt: todo-agent -p "your prompt", or text on its input.')
    return prompt


def _read_stdin(*, wait: bool) -> str:
    """Read standard input to its end; an input nobody needs only if something is in it."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    source = sys.stdin.buffer
    try:
        if not wait and not select.select([source], [], [], STDIN_PATIENCE)[0]:
            return ""
        data = source.read(MAX_STDIN + 1)
    except OSError:
        return ""
    if len(data) > MAX_STDIN:
        raise ConfigError(f"Standard input is longer than {MAX_STDIN} bytes.")
    return data.decode("utf-8", "replace")


def _extra(options: argparse.Namespace) -> tuple[Path, ...]:
    return tuple(_directory(path) for path in options.add_dir)


def _directory(path: str) -> Path:
    directory = Path(path).expanduser()
    if not directory.is_dir():
        raise ConfigError(f"{path} is no directory.")
    return directory.resolve()


def _render(answer: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(answer, hyperlinks=False))


def _refuse(error: TodoAgentError, arguments: Sequence[str], code: ExitCode) -> int:
    sys.stderr.write(f"todo-agent: {error}\n")
    if "json" in arguments or "--output-format=json" in arguments:
        from todo_agent.headless import Report

        status = "usage" if code is ExitCode.USAGE else "failed"
        sys.stdout.write(Report(status, error=str(error)).to_json() + "\n")
    return code
