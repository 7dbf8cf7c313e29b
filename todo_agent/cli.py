"""The command line: loads the configuration and starts one front end."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from todo_agent import __version__
from todo_agent.arguments import CHOOSE, parse, wanted_format
from todo_agent.errors import ConfigError, TodoAgentError
from todo_agent.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from todo_agent.assemble import Workshop
    from todo_agent.config_file import ConfigFile
    from todo_agent.headless import Report
    from todo_agent.instructions import ProjectInstructions
    from todo_agent.paths import Paths
    from todo_agent.settings import Config


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with its arguments; return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    try:
        code = _start(arguments)
        sys.stdout.flush()
        return code
    except TodoAgentError as error:
        return _give_up(str(error), arguments, ExitCode.USAGE)
    except KeyboardInterrupt:
        return _give_up("Interrupted.", arguments, ExitCode.INTERRUPTED)
    except BrokenPipeError:
        _leave_stdout()
        return ExitCode.FAILED
    except OSError as error:
        where = error.filename or "standard output"
        return _give_up(f"{where}: {error.strerror or error}.", arguments, ExitCode.FAILED)
    except Exception as error:  # noqa: BLE001 -- a person gets one line; the log has the traceback
        return _give_up(str(error), arguments, ExitCode.FAILED)


def _start(arguments: Sequence[str]) -> int:
    options = parse(arguments, version=__version__)
    from todo_agent.config import environment
    from todo_agent.log import Log
    from todo_agent.paths import Paths

    paths = Paths.find(environment())
    with Log(paths.log_file, debug=options.debug) as log:
        if options.command:
            from todo_agent.commands import run

            return run(options.command, config_file=options.config, assignments=options.set)
        cwd = _directory(options.cwd or ".")
        config = _configure(options, paths, cwd, can_ask=not options.print and _terminals())
        log.hide(config.secrets)
        return (_print if options.print else _screen)(options, config, paths, cwd)


def _configure(options: argparse.Namespace, paths: Paths, cwd: Path, *, can_ask: bool) -> Config:
    from todo_agent.config import environment, load
    from todo_agent.paths import project_config
    from todo_agent.trust import with_instructions, with_project

    config = load(
        Path(options.config) if options.config else paths.config_file,
        required=bool(options.config),
        environ=environment(),
        options={
            "--model": ("model", options.model),
            "--base-url": ("base_url", options.base_url),
            "--permission-mode": ("permissions.mode", options.permission_mode),
            "--discipline": ("plan.discipline", options.discipline),
            "--max-turns": ("limits.max_turns", options.max_turns),
            "--max-cost": ("limits.max_cost", options.max_cost),
        },
        assignments=options.set,
    )

    def asked(what: str) -> Callable[[ConfigFile | ProjectInstructions], bool]:
        return lambda file: can_ask and _trusts(file.path, file.text, what)

    trust_file, brought = paths.trust_file, project_config(cwd)
    restricts, instructs = "can restrict what the agent may do here", "tells the agent how to work"
    config = with_project(config, brought, trust_file=trust_file, ask=asked(restricts))
    if options.demo:
        return config
    return with_instructions(config, cwd, trust_file=trust_file, ask=asked(instructs))


def _trusts(path: Path, text: str, what: str) -> bool:
    """Show what a project brings, and ask whether it may count."""
    sys.stdout.write(f"{path} {what}. It says:\n\n")
    for line in text.splitlines():
        sys.stdout.write(f"    {ascii(line)[1:-1]}\n")
    sys.stdout.write("\nUse it? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print(options: argparse.Namespace, config: Config, paths: Paths, cwd: Path) -> int:
    if not (options.demo or config.has_key):
        from todo_agent.settings import NO_KEY

        raise ConfigError(NO_KEY)
    prompt = _prompt(options.prompt)
    extra = _extra(options)

    import asyncio

    from todo_agent.assemble import Place, Workshop
    from todo_agent.config import environment

    workshop = Workshop(
        config, paths, Place(cwd=cwd, environ=environment(), extra_dirs=extra, demo=options.demo)
    )
    report = asyncio.run(_run_print(workshop, options, prompt))
    _write_report(report, options.output_format)
    return report.code


async def _run_print(workshop: Workshop, options: argparse.Namespace, prompt: str) -> Report:
    from todo_agent.headless import run_print
    from todo_agent.signals import StopSignals

    thread = workshop.newest() if options.newest else options.resume
    if options.newest and thread is None:
        raise ConfigError(f"There is no thread of {workshop.cwd} yet.")
    with StopSignals() as stop:
        opening = workshop.fork(thread) if options.fork and thread else workshop.open(thread)
        session = await opening
        try:
            return await run_print(
                session,
                prompt,
                stream=sys.stdout if options.output_format == "stream-json" else None,
                err=sys.stderr,
                stop=stop.wait,
                require_done=options.require_done,
            )
        finally:
            await session.close()


def _screen(options: argparse.Namespace, config: Config, paths: Paths, cwd: Path) -> int:
    for name, stream in (("Standard input", sys.stdin), ("Standard output", sys.stdout)):
        if stream is None or not stream.isatty():
            raise ConfigError(
                f'{name} is not a terminal. For scripts use: todo-agent -p "your prompt"'
            )
    from todo_agent.config import environment

    if environment().get("TERM", "dumb") in ("", "dumb"):
        raise ConfigError(
            'This terminal (TERM=dumb) cannot draw a screen. Use: todo-agent -p "your prompt"'
        )
    from todo_agent.demo import PROMPT as DEMO_PROMPT
    from todo_agent.late_workshop import LateWorkshop
    from todo_agent.preferences import Preferences
    from todo_agent.tui.history import FileHistory
    from todo_agent.tui.run import run_tui
    from todo_agent.tui.settings import TuiSettings

    extra = _extra(options)

    def build(config: Config, demo: bool) -> Workshop:  # noqa: FBT001 -- as it is called
        from todo_agent.assemble import Place, Workshop

        place = Place(cwd=cwd, environ=environment(), extra_dirs=extra, demo=demo, demo_tempo=1.0)
        return Workshop(config, paths, place)

    def reload() -> Config:
        return _configure(options, paths, cwd, can_ask=False)

    late = LateWorkshop(build, config, demo=options.demo, newest=options.newest, fork=options.fork)
    file = Path(options.config) if options.config else paths.config_file
    settings = TuiSettings(
        history=FileHistory(paths.history_file),
        files=late.files,
        preferences=Preferences(config, file, reload),
        connected=config.has_key or options.demo,
    ).following(config)
    chooses = options.resume is CHOOSE
    prompt = options.prompt or ("/threads" if chooses else DEMO_PROMPT if options.demo else "")
    thread = None if chooses else options.resume
    try:
        return run_tui(late, thread=thread, prompt=prompt, settings=settings)
    finally:
        for line in late.farewell():
            sys.stdout.write(f"{line}\n")


def _extra(options: argparse.Namespace) -> tuple[Path, ...]:
    return tuple(_directory(path) for path in options.add_dir)


def _prompt(given: str | None) -> str:
    """Return the prompt, with what is piped in behind it.

    Raises:
        ConfigError: there is none, or it is too long.
    """
    from todo_agent.standard_input import piped_text

    wanted = given or ""
    piped = piped_text(needed=not wanted.strip())
    prompt = "\n\n".join(part for part in (wanted, piped) if part.strip())
    if not prompt:
        raise ConfigError('-p needs a prompt: todo-agent -p "your prompt", or text on its input.')
    return prompt


def _directory(path: str) -> Path:
    what = "The current directory is gone." if path == "." else f"{path} is no directory."
    try:
        directory = Path(path).expanduser().resolve(strict=True)
        if directory.is_dir():
            return directory
    except (OSError, RuntimeError):
        pass
    raise ConfigError(f"{what} Choose another one.")


def _terminals() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _write_report(report: Report, output_format: str) -> None:
    from todo_agent.text import plain

    if report.error:
        sys.stderr.write(f"todo-agent: {plain(report.error)}\n")
    match output_format:
        case "json":
            sys.stdout.write(report.to_json() + "\n")
        case "stream-json":
            sys.stdout.write(report.to_json(type="report") + "\n")
        case _ if not report.answer:
            pass
        case _ if sys.stdout.isatty():
            _render(plain(report.answer))
        case _:
            sys.stdout.write(plain(report.answer).rstrip("\n") + "\n")


def _render(answer: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(answer, hyperlinks=False))


def _give_up(message: str, arguments: Sequence[str], code: ExitCode) -> int:
    """Say what is wrong, on one line and as a report where one is expected."""
    output_format = wanted_format(arguments)
    try:
        if output_format == "text":
            sys.stderr.write(f"todo-agent: {' '.join(message.split())}\n")
        else:
            from todo_agent.headless import Report

            _write_report(Report(code, error=message), output_format)
        sys.stdout.flush()
    except OSError:
        _leave_stdout()
    return code


def _prepare_streams() -> None:
    """Make sure that any text can be written, whatever the locale, and to a closed stream too."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _leave_stdout() -> None:
    """Let nothing more be written to a standard output that takes nothing more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
