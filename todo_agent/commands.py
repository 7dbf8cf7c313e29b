"""The commands beside the conversation: threads, plan, config, doctor."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from todo_agent import config as configuration
from todo_agent.arguments import Parser
from todo_agent.config_file import is_there, write
from todo_agent.doctor import examine
from todo_agent.errors import ConfigError
from todo_agent.exit_codes import ExitCode
from todo_agent.manual import example
from todo_agent.paths import Paths, project_config
from todo_agent.plan.keys import plan_from_json, plan_to_json
from todo_agent.plan.plan import Plan, Status
from todo_agent.settings import SETTINGS, Config
from todo_agent.text import plain
from todo_agent.threads.export import to_json, to_markdown
from todo_agent.threads.page import to_html
from todo_agent.threads.store import OpenMode, ThreadInfo, ThreadStore

MARKS = {Status.DONE: "x", Status.ACTIVE: ">", Status.PENDING: " "}


@dataclass(frozen=True)
class _Place:
    """Where the configuration comes from."""

    paths: Paths
    file: Path
    named: bool
    """The person named the file."""
    assignments: Sequence[str]

    def load(self) -> Config:
        return configuration.load(
            self.file,
            required=self.named,
            environ=configuration.environment(),
            assignments=self.assignments,
        )


def run(arguments: Sequence[str], *, config_file: str | None, assignments: Sequence[str]) -> int:
    """Run one command; return the exit code.

    Args:
        arguments: the command with its own arguments.
        config_file: the configuration file that the person named.
        assignments: settings for once, as `key=value`.

    Raises:
        TodoAgentError: it cannot be done.
    """
    options = _parser().parse_args(arguments)
    paths = Paths.find(configuration.environment())
    file = Path(config_file) if config_file else paths.config_file
    place = _Place(paths, file, bool(config_file), assignments)
    match options.command:
        case "threads":
            return _threads(options, ThreadStore(paths.threads_dir))
        case "plan":
            return _plan(options, ThreadStore(paths.threads_dir))
        case "config":
            return _config(options, place)
        case _:
            report, healthy = examine(paths, file, place.load, configuration.environment())
            sys.stdout.write(report)
            return ExitCode.ANSWERED if healthy else ExitCode.FAILED


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="todo-agent", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    threads = commands.add_parser("threads", help="list, show, export, rename or remove threads")
    actions = threads.add_subparsers(dest="action", parser_class=Parser)
    listed = actions.add_parser("list", help="all threads, newest first")
    listed.add_argument("--search", metavar="WORDS", default="", help="only those with these words")
    show = actions.add_parser("show", help="a thread as Markdown")
    export = actions.add_parser("export", help="a thread with its plan")
    export.add_argument("--format", choices=tuple(EXPORTS), default="md")
    export.add_argument("-o", "--output", metavar="FILE", help="a new file instead of the output")
    rename = actions.add_parser("rename", help="give a thread another title")
    remove = actions.add_parser("rm", help="remove a thread for good")
    for action in (show, export, rename, remove):
        action.add_argument("thread", metavar="ID")
    rename.add_argument("title", metavar="TITLE")
    plan = commands.add_parser("plan", help="a thread's plan")
    plan.add_argument("thread", metavar="ID")
    plan.add_argument("--format", choices=("md", "json"), default="md")
    config = commands.add_parser("config", help="see or change the configuration")
    settings = config.add_subparsers(dest="action", parser_class=Parser)
    settings.add_parser("path", help="where the file is")
    settings.add_parser("show", help="every setting with its value")
    settings.add_parser("init", help="write a file with every setting commented out")
    settings.add_parser("get", help="one value").add_argument("key", metavar="KEY")
    settings.add_parser("set", help="store one value").add_argument(
        "assignment", metavar="KEY=VALUE"
    )
    commands.add_parser("doctor", help="check what the program needs")
    return parser


def _threads(options: argparse.Namespace, store: ThreadStore) -> int:
    match options.action:
        case "show":
            sys.stdout.write(_exported(store, options.thread, "md"))
        case "export":
            exported = _exported(store, options.thread, options.format)
            if options.output is None:
                sys.stdout.write(exported)
            else:
                _write_new(Path(options.output), exported)
        case "rename":
            store.rename(options.thread, options.title)
        case "rm":
            store.remove(options.thread)
        case _:
            for info in store.search(getattr(options, "search", "")):
                sys.stdout.write(_row(info) + "\n")
    return ExitCode.ANSWERED


def _exported(store: ThreadStore, thread_id: str, form: str) -> str:
    thread = store.open(thread_id, mode=OpenMode.READ_ONLY)
    try:
        for notice in thread.notices:
            sys.stderr.write(f"todo-agent: {plain(notice)}\n")
        plan = plan_from_json(thread.conversation.state.to_json().get("plan"))
        return EXPORTS[form](thread, [(todo.status.value, todo.content) for todo in plan])
    finally:
        thread.close()


EXPORTS = {"md": to_markdown, "json": to_json, "html": to_html}


def _write_new(file: Path, text: str) -> None:
    """Write a file that only its owner can read; one that is there stays as it is."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{file} exists already; it stays as it is.") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from error


def _row(info: ThreadInfo) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
    progress = f"{info.done}/{info.total}" if info.total else ""
    state = "damaged" if info.damaged else progress
    return f"{info.id}  {when}  {state:>7}  {plain(info.title) or '(no title)'}  {plain(info.cwd)}"


def _plan(options: argparse.Namespace, store: ThreadStore) -> int:
    thread = store.open(options.thread, mode=OpenMode.READ_ONLY)
    plan = plan_from_json(thread.conversation.state.to_json().get("plan"))
    thread.close()
    if options.format == "json":
        sys.stdout.write(json.dumps(plan_to_json(plan), ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stdout.write(as_markdown(plan))
    return ExitCode.ANSWERED


def as_markdown(plan: Plan) -> str:
    """Return a plan as a list of tasks, one line each."""
    lines = (f"- [{MARKS[t.status]}] {' '.join(plain(t.content).split())}\n" for t in plan)
    return "".join(lines) or "There is no plan.\n"


def _config(options: argparse.Namespace, place: _Place) -> int:
    match options.action:
        case "path":
            sys.stdout.write(f"{place.file}\n")
        case "init":
            if is_there(place.file):
                raise ConfigError(f"{place.file} exists already; it stays as it is.")
            write(place.file, example())
            sys.stdout.write(f"Written: {place.file}\n")
        case "set":
            configuration.save(place.file, options.assignment)
        case "get":
            sys.stdout.write(_value(place.load(), options.key) + "\n")
        case _:
            config = place.load()
            for key in SETTINGS:
                sys.stdout.write(f"{key} = {_value(config, key)}\n")
            project = project_config(Path.cwd())
            if is_there(project):
                sys.stdout.write(f"# {project} may restrict this further\n")
    return ExitCode.ANSWERED


def _value(config: Config, key: str) -> str:
    return configuration.shown(key, configuration.get(config, key))
