"""The arguments of the program: what it takes, and what goes together."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from todo_agent.errors import ConfigError

COMMANDS = ("threads", "plan", "config", "doctor")
FORMATS = ("text", "json", "stream-json")
CHOOSE = object()
"""`--resume` without an id."""


class Parser(argparse.ArgumentParser):
    """A parser that raises ConfigError where argparse would exit."""

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        raise ConfigError(f"{message}. Try: {self.prog} --help")


def parse(arguments: Sequence[str], *, version: str) -> argparse.Namespace:
    """Return the options; `command` has a command beside the conversation with its arguments.

    A first word that is the name of a command is the command; after `--` it is a prompt.

    Args:
        arguments: what was given to the program.
        version: what `--version` says.

    Raises:
        ConfigError: they cannot be understood or do not go together.
    """
    words = _parser("words", nargs=argparse.REMAINDER, version=version)
    options = words.parse_args(arguments)
    command = options.words if options.words and options.words[0] in COMMANDS else []
    if not command:
        options = _parser("prompt", nargs="?", version=version).parse_args(arguments)
        _refuse_contradictions(options)
    elif _given(options, words) - {"words", "config", "set", "debug"}:
        raise ConfigError(
            f"Of these options only --config, --set and --debug go with {command[0]}."
        )
    options.command = command
    return options


def wanted_format(arguments: Sequence[str]) -> str:
    """Return the output format, even where the other arguments are wrong."""
    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--output-format", default="text")
    try:
        return str(parser.parse_known_args(arguments)[0].output_format)
    except ConfigError:
        return "text"


def _parser(positional: str, *, nargs: str, version: str) -> Parser:
    parser = Parser(
        prog="todo-agent",
        usage="todo-agent [options] [PROMPT]\n       todo-agent threads|plan|config|doctor [...]",
        description="A coding agent in your terminal that works off a plan you can see and edit.",
        epilog="Commands: threads, plan ID, config, doctor. Each has a --help of its own.",
        allow_abbrev=False,
    )
    parser.add_argument(positional, nargs=nargs, metavar="PROMPT", help="the first message")
    parser.add_argument("--version", action="version", version=f"todo-agent {version}")
    thread = parser.add_argument_group("threads")
    thread.add_argument(
        "-c", "--continue", dest="newest", action="store_true",
        help="go on with this directory's newest thread",
    )  # fmt: skip
    thread.add_argument(
        "-r", "--resume", nargs="?", const=CHOOSE, metavar="ID",
        help="open a thread by id or unique prefix; without ID choose one",
    )  # fmt: skip
    thread.add_argument("--fork", action="store_true", help="go on in a copy of the thread")
    printing = parser.add_argument_group("without a screen")
    printing.add_argument(
        "-p", "--print", action="store_true", help="print the answer and exit; no screen"
    )
    printing.add_argument(
        "--output-format", choices=FORMATS, default="text",
        help="how -p writes what came of it: text, json or stream-json",
    )  # fmt: skip
    printing.add_argument(
        "--require-done", action="store_true", help="with -p: exit with 6 while todos are open"
    )
    work = parser.add_argument_group("how it works")
    work.add_argument("-m", "--model", metavar="NAME", help="the model to ask")
    work.add_argument("--base-url", metavar="URL", help="where the Messages API is")
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
    work.add_argument(
        "--debug", action="store_true",
        help="log requests, retries and tool calls, without their contents",
    )  # fmt: skip
    work.add_argument("--demo", action="store_true", help="play the offline demo; needs no key")
    return parser


def _given(options: argparse.Namespace, parser: Parser) -> set[str]:
    defaults = vars(parser.parse_args([]))
    return {name for name, value in vars(options).items() if value != defaults[name]}


def _refuse_contradictions(options: argparse.Namespace) -> None:
    opens = options.newest or options.resume is not None
    if options.newest and options.resume is not None:
        raise ConfigError("--continue and --resume both name a thread; give one of them.")
    if options.fork and not opens:
        raise ConfigError("--fork copies a thread; say which, with --resume ID or --continue.")
    if options.demo and opens:
        raise ConfigError("--demo begins a thread of its own; leave out --resume and --continue.")
    if options.print and options.resume is CHOOSE:
        raise ConfigError("-p cannot let you choose a thread; name it: --resume ID.")
    if not options.print and options.output_format != "text":
        raise ConfigError("--output-format goes with -p.")
    if not options.print and options.require_done:
        raise ConfigError("--require-done goes with -p.")
