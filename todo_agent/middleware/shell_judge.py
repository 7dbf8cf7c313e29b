"""Judges a shell command by its parts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol, assert_never

from todo_agent.agent.modes import Mode
from todo_agent.middleware.protected import Protected
from todo_agent.middleware.rules import Decision, Kind, Rule, literal
from todo_agent.middleware.shell_grammar import (
    Assignment,
    Command,
    Part,
    Redirect,
    Unclear,
    Word,
    parse,
    word_set,
)
from todo_agent.middleware.shell_reading import Reads, own_variable, reads, searches_trees
from todo_agent.middleware.shell_wrappers import (
    Inner,
    Opaque,
    Script,
    Wrapped,
    is_interpreter,
    runs_arguments,
    unwrap,
)
from todo_agent.middleware.verdict import ALLOWED, Verdict, worst

MAX_NESTING = 6
MAX_DIRECTORIES = 8
MAX_EXPANDED = 1_000
"""A glob that matches more files is not followed."""

_HARMLESS_VARIABLES = word_set(
    "LANG LC_ALL LC_CTYPE LC_COLLATE LANGUAGE TZ NO_COLOR FORCE_COLOR CLICOLOR TERM COLUMNS LINES "
    "PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 RUST_BACKTRACE CI"
)
_STREAMS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"})
_WRITERS = word_set(
    "cp mv ln tee touch mkdir rm rmdir unlink install dd chmod chown chgrp truncate rsync patch "
    "sed sort tar unzip zip split csplit shred mktemp mkfifo sponge"
)
"""Commands whose operands name files they change; those get the file rules besides."""


class Places(Protocol):
    """The workspace as permissions see it."""

    @property
    def root(self) -> Path:
        """Where relative paths of tools start."""
        ...

    @property
    def cwd(self) -> Path:
        """Where the next shell command starts."""
        ...

    def resolve(self, path: str, *, base: Path | None = None) -> Path:
        """Return what a path leads to, symlinks followed; ValueError where that is nothing."""
        ...

    def contains(self, path: Path) -> bool:
        """Return whether a resolved path is inside."""
        ...


@dataclass(frozen=True, slots=True)
class ShellJudge:
    """Judges commands for one mode and one set of rules."""

    mode: Mode
    places: Places
    protected: Protected
    winner: Callable[[Kind, str], Rule | None]
    """The rule that decides about a resource, if any does."""
    judge_path: Callable[[Literal["read", "write"], Path], Verdict]
    denied: tuple[Rule, ...]
    """All rules that deny, whatever kind they are of."""

    def judge(self, script: str) -> Verdict:
        """Return the most severe verdict about any part of a script."""
        return worst(self._script(parse(script), (self.places.cwd,), depth=0))

    def _script(
        self, parts: tuple[Part, ...], starts: tuple[Path, ...], *, depth: int
    ) -> Iterator[Verdict]:
        """Judge parts in order; a `cd` before them may or may not have happened."""
        directories: tuple[Path, ...] = starts
        for part in parts:
            match part:
                case Unclear(reason):
                    yield self._unclear(reason)
                case Assignment(name):
                    yield from self._assigned(name, alone=True)
                case Redirect():
                    yield from self._redirect(part, directories)
                case Command() if part.name == "cd" and not part.assigned:
                    yield from self._denied(part, runs=False)
                    moved = self._move(part, directories)
                    if isinstance(moved, Verdict):
                        yield moved
                        continue
                    yield from (self.judge_path("read", path.resolve()) for path in moved)
                    surely = part.certain and all(path.is_dir() for path in moved)
                    directories = moved if surely else (*directories, *moved)
                case Command():
                    yield from self._command(part, directories, depth=depth)
                case _:
                    assert_never(part)

    def _command(
        self, command: Command, directories: tuple[Path, ...], *, depth: int
    ) -> Iterator[Verdict]:
        for name in command.assigned:
            yield from self._assigned(name, alone=False)
        if not command.name:
            yield self._unclear(f"{command} runs what is only known at run time")
            return
        reading = reads(command)
        yield from self._denied(command, runs=reading is None)
        wrapped = None if reading is not None else self._unwrap(command, depth)
        rule = self._rule(command)
        if rule is not None and rule.decision is Decision.ASK and self.mode is not Mode.AUTO:
            yield Verdict(Decision.ASK, f"the rule `{rule}` asks before {command}", rule=rule)
        match wrapped:
            case Inner(inner):
                yield from self._command(inner, directories, depth=depth + 1)
            case Script(text):
                parts = parse(text)
                if command.name in ("eval", "trap") and any(_moves(part) for part in parts):
                    yield self._unclear("what follows it runs in a directory that cannot be told")
                yield from self._script(parts, directories, depth=depth + 1)
            case Opaque() | None if rule is not None and rule.decision is Decision.ALLOW:
                yield from self._allowed(command, reading, directories)
            case Opaque(reason):
                yield self._default(command, reason)
            case None if reading is not None:
                for word in reading.paths:
                    yield from self._reads(word, directories)
                if self._denies("read") and searches_trees(command) and self.mode is not Mode.AUTO:
                    yield Verdict(Decision.ASK, f"{command} may show what a rule forbids to read")
            case None:
                yield self._default(command)
            case _:
                assert_never(wrapped)
        if reading is None:
            yield from self._writes(command, directories)

    def _unwrap(self, command: Command, depth: int) -> Wrapped | None:
        return unwrap(command) if depth < MAX_NESTING else Opaque("it is nested too deeply")

    def _denied(self, command: Command, *, runs: bool) -> Iterator[Verdict]:
        """Find what no wrapping may get past: a denied command, or a denied one within.

        Args:
            command: the command.
            runs: it may run others; a word of it that is denied as a command then counts.
        """
        inside = len(command.words) if runs and runs_arguments(command) else 1
        for start in range(inside):
            inner = command.tail(start)
            rule = self._rule(inner) if inner.name else None
            if rule is not None and rule.decision is Decision.DENY:
                yield Verdict(Decision.DENY, f"the rule `{rule}` forbids {inner}", rule=rule)
            elif inner.name and self._may_be_denied(inner):
                yield Verdict(Decision.ASK, f"what {inner} gets is only known at run time")
        rest = " ".join(word.text for word in command.words[1:]) if runs else ""
        for rule in self._denies("run"):
            name = re.escape(rule.pattern.split(" ")[0].rpartition("/")[2])
            if "*" not in name and re.search(rf"(?<![\w.-]){name}(?![\w-])", rest):
                yield Verdict(Decision.ASK, f"it names what the rule `{rule}` forbids")

    def _rule(self, command: Command) -> Rule | None:
        """Return the rule for a command; only a severe one may leave out its directory."""
        own = self.winner("run", str(command))
        bare = self.winner("run", " ".join([command.name, *map(str, command.words[1:])]))
        if bare is None or bare.decision is Decision.ALLOW:
            return own
        return bare if own is None or bare.decision >= own.decision else own

    def _denies(self, kind: Kind) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.denied if rule.kind == kind)

    def _may_be_denied(self, command: Command) -> bool:
        if all(word.known for word in command.words):
            return False
        return any(
            rule.pattern.split(" ")[0] in (command.name, "*") for rule in self._denies("run")
        )

    def _allowed(
        self, command: Command, reading: Reads | None, directories: tuple[Path, ...]
    ) -> Iterator[Verdict]:
        """Judge what a rule that allows a command cannot have meant."""
        if reading is not None:
            found = (v for word in reading.paths for v in self._reads(word, directories))
            yield from (verdict for verdict in found if verdict.decision is Decision.DENY)
            return
        if self.mode is Mode.PLAN:
            yield self._default(command)
        elif self.mode is not Mode.AUTO and not _settled(command):
            yield Verdict(Decision.ASK, f"what {command} gets is only known at run time")
        elif self.mode is not Mode.AUTO and self._is_protected(command):
            yield self._changes_rights(command)

    def _writes(self, command: Command, directories: tuple[Path, ...]) -> Iterator[Verdict]:
        """Judge the files that a command names and writes, or one within it."""
        last = len(command.words) if runs_arguments(command) else 1
        for start in range(last):
            writer = command.tail(start)
            if writer.name in _WRITERS:
                for word in writer.words[1:]:
                    yield from self._written(word, directories)
                return

    def _written(self, word: Word, directories: tuple[Path, ...]) -> Iterator[Verdict]:
        """A rule for a command says nothing of files outside, or of protected ones."""
        if word.text in _STREAMS:
            return
        if word.text.startswith("-") and "=" not in word.text:
            return
        named = Word(word.text.partition("=")[2] or word.text, word.known, word.glob)
        for path in self._paths(named, directories):
            rule = self.winner("write", str(path))
            if rule is not None and rule.decision is Decision.DENY:
                yield Verdict(Decision.DENY, f"the rule `{rule}` forbids it", rule=rule)
            elif self.protected.holds(path) or not self.places.contains(path):
                yield self.judge_path("write", path)

    def _default(self, command: Command, why: str = "") -> Verdict:
        """Decide about a command that no rule speaks of and that may change something."""
        match self.mode:
            case Mode.AUTO:
                return ALLOWED
            case Mode.PLAN:
                return Verdict(Decision.DENY, f"plan mode only reads, and {command} may do more")
            case Mode.ASK | Mode.ACCEPT_EDITS:
                if self._is_protected(command):
                    return self._changes_rights(command)
                reason = f"{command} may change something" + (f": {why}" if why else "")
                return Verdict(Decision.ASK, reason, _offer(command))
            case _:
                assert_never(self.mode)

    def _is_protected(self, command: Command) -> bool:
        configures = command.name == "git" and Word("config") in command.words
        return reads(command) is None and (
            configures or self.protected.mentioned_in(" ".join(w.text for w in command.words))
        )

    def _changes_rights(self, command: Command) -> Verdict:
        return Verdict(Decision.ASK, f"{command} may change what the agent may do")

    def _unclear(self, reason: str, kind: Kind = "run") -> Verdict:
        """Decide about what cannot be judged: even in `auto`, it may hide what is denied."""
        match self.mode:
            case Mode.AUTO if not self._denies(kind):
                return ALLOWED
            case Mode.PLAN:
                return Verdict(Decision.DENY, f"plan mode only reads, and {reason}")
            case _:
                return Verdict(Decision.ASK, reason)

    def _assigned(self, name: str, *, alone: bool) -> Iterator[Verdict]:
        if name in _HARMLESS_VARIABLES or (alone and own_variable(name)):
            return
        yield self._unclear(f"it sets {name or 'a variable'}, which may change what commands do")

    def _redirect(self, redirect: Redirect, directories: tuple[Path, ...]) -> Iterator[Verdict]:
        target = redirect.target
        if target.known and target.text in _STREAMS:
            return
        kind: Literal["read", "write"] = "write" if redirect.writes else "read"
        if not target.known or target.glob:
            yield self._unclear(f"the file {target} is only known at run time", kind)
            return
        for path in self._paths(target, directories):
            if redirect.writes and _has_other_names(path) and self.mode is not Mode.AUTO:
                yield Verdict(Decision.ASK, f"{path} has other names (hard links)")
            yield self.judge_path(kind, path)

    def _reads(self, word: Word, directories: tuple[Path, ...]) -> Iterator[Verdict]:
        if word.known and word.text in _STREAMS:
            return
        if not word.known:
            yield self._unclear(f"the file {word} is only known at run time", "read")
            return
        paths = list(self._paths(word, directories))
        if len(paths) > MAX_EXPANDED:
            yield self._unclear(f"{word} stands for too many files", "read")
            return
        yield from (self.judge_path("read", path) for path in paths)

    def _paths(self, word: Word, directories: tuple[Path, ...]) -> Iterator[Path]:
        """Yield what a word leads to from every directory the command may be in."""
        for directory in directories:
            names = [word.text]
            if word.glob:
                found = iglob(word.text, root_dir=directory, include_hidden=True)  # noqa: PTH207 -- absolute ones too
                names = [*islice(found, MAX_EXPANDED + 1), word.text]
            for name in names:
                # A quoted ~ is a name like any other: the grammar has put home in its place.
                relative = f"./{name}" if name.startswith("~") else name
                try:
                    yield self.places.resolve(relative, base=directory)
                except ValueError:
                    yield directory / relative

    def _move(self, command: Command, directories: tuple[Path, ...]) -> tuple[Path, ...] | Verdict:
        words = command.words[1:]
        if len(words) > 1 or command.repeated or len(directories) > MAX_DIRECTORIES:
            return self._unclear("the directory it changes to cannot be told")
        word = words[0] if words else Word(str(Path.home()))
        if not word.known or word.glob or word.text.startswith("-"):
            return self._unclear(f"the directory {word} is only known at run time")
        moved: list[Path] = []
        for directory in directories:
            # A shell takes `..` by name; only where that leads nowhere does it follow symlinks.
            named = Path(os.path.normpath(directory / word.text))
            moved += [named] if named.is_dir() else [named, *self._paths(word, (directory,))]
        return tuple(dict.fromkeys(moved))


def _moves(part: Part) -> bool:
    return isinstance(part, Command) and part.name in ("cd", "pushd", "popd")


def _settled(command: Command) -> bool:
    """Return whether a command's words are what they look like."""
    return all(w.known and not (w.glob and w.text[0] in "*?[") for w in command.words)


def _offer(command: Command) -> str:
    """Return the narrow rule for exactly this command, where one may be offered."""
    plain = all(word.known and not word.glob for word in command.words)
    if not plain or command.assigned or runs_anything(command):
        return ""
    return f"run {literal(str(command))}"


def runs_anything(command: Command) -> bool:
    """Return whether a rule for a command would allow far more than it says."""
    return is_interpreter(command.name) or "/" in command.words[0].text


def _has_other_names(path: Path) -> bool:
    try:
        return path.stat().st_nlink > 1 and path.is_file()
    except OSError:
        return False
