"""Commands that run other commands: what is inside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from todo_agent.middleware.shell_grammar import Command, Word, word_set


@dataclass(frozen=True, slots=True)
class Inner:
    """The command inside a wrapper that adds nothing of its own."""

    command: Command


@dataclass(frozen=True, slots=True)
class Script:
    """The shell script inside a command."""

    text: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A command that may run others in a way that cannot be told."""

    reason: str


Wrapped: TypeAlias = Inner | Script | Opaque


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of a wrapper that change nothing but how the inner command is started."""

    flags: str = ""
    values: str = ""
    """Letters of those with a value, attached or in the next word."""
    long: frozenset[str] = field(default_factory=frozenset)
    """Long ones; a value is attached with `=`."""
    operands: int = 0
    """Words between the options and the inner command."""
    assigns: bool = False
    """`NAME=VALUE` words may stand before the inner command."""


_TRANSPARENT: dict[str, _Options] = {
    "command": _Options(flags="p"),
    "builtin": _Options(),
    "exec": _Options(flags="cl"),
    "env": _Options(flags="i", values="u", long=frozenset({"ignore-environment"}), assigns=True),
    "nohup": _Options(),
    "time": _Options(flags="p"),
    "timeout": _Options(
        flags="v",
        values="ks",
        long=frozenset({"foreground", "preserve-status", "kill-after", "signal"}),
        operands=1,
    ),
    "nice": _Options(values="n", long=frozenset({"adjustment"})),
    "ionice": _Options(flags="t", values="cn"),
    "stdbuf": _Options(values="ioe", long=frozenset({"input", "output", "error"})),
    "xargs": _Options(
        flags="0rtx",
        values="nPLdsI",
        long=frozenset({"null", "no-run-if-empty", "max-args", "max-procs", "delimiter"}),
    ),
}
OPAQUE = word_set(
    "sudo doas su runuser pkexec chroot nsenter unshare setpriv setsid bwrap firejail flock watch "
    "parallel script strace ltrace gdb ssh docker podman kubectl systemd-run at batch crontab "
    "busybox toybox expect tmux screen start-stop-daemon chrt taskset numactl unbuffer caffeinate "
    "coproc entr direnv mise asdf nix-shell uv uvx npx pnpx bunx pipx npm yarn pnpm bundle poetry "
    "make find fd fdfind git trap"
)
"""Commands that run what their arguments name; nothing about that is taken for granted."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"})
INTERPRETERS = (
    SHELLS
    | frozenset(_TRANSPARENT)
    | OPAQUE - {"git", "make", "npm", "yarn", "pnpm", "find", "fd", "fdfind"}
    | word_set(
        "python python2 python3 pypy pypy3 ipython node nodejs deno bun tsx ts-node ruby irb perl "
        "php lua luajit awk gawk mawk nawk sed eval source . osascript pwsh powershell tclsh wish "
        "Rscript julia ghci scala groovy jshell vi vim nvim emacs ed ex less more man"
    )
)
"""Commands that do whatever their input says, so no rule for them is ever offered."""


def is_interpreter(name: str) -> bool:
    """Return whether a command can be made to do anything at all, `python3.12` included."""
    return name.rstrip("0123456789.") in INTERPRETERS or name in INTERPRETERS


def unwrap(command: Command) -> Wrapped | None:
    """Return what a command runs in its turn; None where it is no such command."""
    name = command.name
    if name in SHELLS:
        return _shell(command)
    if name == "eval":
        return _eval(command.words[1:])
    if name in ("source", "."):
        return Opaque(f"{name} runs a file in the shell itself")
    if name == "trap" and len(command.words) > 1 and command.words[1].known:
        return Script(command.words[1].text)
    options = _TRANSPARENT.get(name)
    if options is not None:
        return _transparent(command, options)
    if name in OPAQUE and name not in ("git", "find", "fd", "fdfind", "make"):
        return Opaque(f"{name} runs other commands")
    return None


def runs_arguments(command: Command) -> bool:
    """Return whether a command may run what stands in its arguments, word by word."""
    name = command.name
    return name not in ("git", "make") and (name in OPAQUE or name in _TRANSPARENT)


def _shell(command: Command) -> Wrapped:
    words = command.words
    if len(words) == 3 and words[1] == Word("-c") and words[2].known and not words[2].glob:
        return Script(words[2].text)
    return Opaque(f"{command.name} runs a script that is not in the command")


def _eval(words: tuple[Word, ...]) -> Wrapped:
    if not all(word.known and not word.glob for word in words):
        return Opaque("eval runs what is only known at run time")
    return Script(" ".join(word.text for word in words))


def _transparent(command: Command, options: _Options) -> Wrapped | None:
    index = _past_options(command.words, options)
    if index is None:
        return Opaque(f"{command.name} has options that are not known here")
    assigned: list[str] = []
    words = command.words
    while options.assigns and index < len(words) and "=" in words[index].text:
        assigned.append(words[index].text.partition("=")[0])
        index += 1
    index += options.operands
    if index >= len(words):
        return None
    inner = words[index:]
    if command.name == "xargs":
        inner = (*inner, Word("its input", known=False))
    return Inner(Command(inner, tuple(assigned), repeated=command.repeated))


def _past_options(words: tuple[Word, ...], options: _Options) -> int | None:
    """Return the index of the first word that is no option; None at an unknown one."""
    index = 1
    while index < len(words):
        word = words[index]
        if not word.known or word.glob:
            return None
        text = word.text
        if text == "--":
            return index + 1
        if not text.startswith("-") or text == "-":
            return index
        if text.startswith("--"):
            if text[2:].partition("=")[0] not in options.long:
                return None
        else:
            letters = text[1:].lstrip(options.flags) if options.flags else text[1:]
            if letters and letters[0] not in options.values:
                return None
            index += len(letters) == 1
        index += 1
    return index
