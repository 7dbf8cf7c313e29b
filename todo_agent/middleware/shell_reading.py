"""Tells whether a command only reads, and which files.

Options that are not known make a command one that may do anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from todo_agent.middleware.shell_grammar import Command, Word, word_set
from todo_agent.middleware.shell_readers import (
    FILE_OPTIONS,
    FIND_TESTS,
    GIT_FLAGS,
    GIT_OUTPUT,
    PATTERN_OPTIONS,
    READERS,
    SHORT_VERSIONS,
    VERSIONED,
    Reader,
)


@dataclass(frozen=True, slots=True)
class Reads:
    """What a command that only reads touches."""

    paths: tuple[Word, ...] = field(default_factory=tuple)


def reads(command: Command) -> Reads | None:
    """Return the files that a command reads; None where it may do more than read."""
    words = command.words
    if not words[0].known or words[0].glob or "/" in words[0].text:
        return None
    name = command.name
    if name in VERSIONED and words[1:] == (Word("--version"),):
        return Reads()
    if str(command) in SHORT_VERSIONS:
        return Reads()
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words)
    reader = READERS.get(name)
    return None if reader is None else _read(reader, words)


def searches_trees(command: Command) -> bool:
    """Return whether a command shows contents of files that it does not name."""
    texts = [word.text for word in command.words]
    match command.name:
        case "rg":
            return True
        case "grep" | "egrep" | "fgrep" | "diff":
            return any(re.match(r"-[a-zA-Z]*r|--recursive", text) for text in texts)
        case "git":
            return not {"grep", "diff", "show", "log", "blame"}.isdisjoint(texts)
        case _:
            return False


def _read(reader: Reader, words: Sequence[Word]) -> Reads | None:
    if reader.long is None:
        return Reads(_named_files(words[1:]) if reader.paths else ())
    taken = _taken(reader, words[1:])
    if taken is None or (reader.operands is not None and len(taken.operands) > reader.operands):
        return None
    if not reader.paths:
        return Reads() if all(word.text.startswith("+") for word in taken.operands) else None
    files = taken.operands
    if reader.pattern_first and not taken.options & PATTERN_OPTIONS:
        if not files or (reader.script and not reader.script.fullmatch(files[0].text)):
            return None
        files = files[1:]
    return Reads((*files, *taken.files))


@dataclass(frozen=True, slots=True)
class _Taken:
    """A command's words as it takes them."""

    operands: tuple[Word, ...]
    options: frozenset[str]
    """Letters and long names that were given."""
    files: tuple[Word, ...]
    """Values of options that name files."""


def _taken(reader: Reader, words: Sequence[Word]) -> _Taken | None:
    """Sort a command's words; None at an option that is not known."""
    operands: list[Word] = []
    options: set[str] = set()
    files: list[Word] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if not word.known or (word.glob and word.text[0] in "*?["):
            return None  # It may turn out to be an option; files may be named like one.
        if word.text == "--":
            operands += words[index:]
            break
        if not word.text.startswith("-") or word.text == "-":
            operands.append(word)
        elif word.text.startswith("--"):
            name = word.text[2:].partition("=")[0]
            if name not in (reader.long or ()):
                return None
            options.add(name)
            files += _named_files([word])
        elif not word.text[1:].isdigit():
            letters = word.text[1:]
            value = letters.lstrip(reader.flags) if reader.flags else letters
            options |= set(letters[: len(letters) - len(value)]) | set(value[:1])
            if value and value[0] not in reader.values:
                return None
            if len(value) == 1:
                files += words[index : index + 1] if value in FILE_OPTIONS else ()
                index += 1
            elif value:
                files += _named_files([Word(f"-{value}", word.known, word.glob)])
    if not all(word.known for word in (*operands, *files)):
        return None
    return _Taken(tuple(operands), frozenset(options), tuple(files))


def _named_files(words: Iterable[Word]) -> tuple[Word, ...]:
    """Return every word that may name a file, the values of options included."""
    found: list[Word] = []
    for word in words:
        if not word.text.startswith("-"):
            found.append(word)
            continue
        value = word.text.partition("=")[2] or word.text[2:]
        if value:
            found.append(Word(value, known=word.known, glob=word.glob))
    return tuple(found)


def _find(words: Sequence[Word]) -> Reads | None:
    if not all(word.known for word in words):
        return None
    index = 1
    while index < len(words) and words[index].text in ("-P", "-O1", "-O2", "-O3"):
        index += 1
    starts: list[Word] = []
    while index < len(words) and not words[index].text.startswith(("-", "(", "!", ",")):
        starts.append(words[index])
        index += 1
    while index < len(words):
        arguments = FIND_TESTS.get(words[index].text)
        if arguments is None or words[index].glob:
            return None
        index += 1 + arguments
    return Reads(tuple(starts))


def _git(words: Sequence[Word]) -> Reads | None:
    if not all(word.known for word in words):
        return None
    index = 1
    paths: list[Word] = []
    while index < len(words) and words[index].text.startswith("-"):
        if words[index].text == "-C" and index + 1 < len(words):
            paths.append(words[index + 1])
            index += 2
        elif words[index].text in GIT_FLAGS:
            index += 1
        else:
            return None
    if index >= len(words):
        return None
    rest = list(words[index + 1 :])
    if any(_runs_or_writes(word) for word in rest):
        return None
    if not _git_reads(words[index].text, rest):
        return None
    if paths:
        # What is named then starts in another directory, which it must not lead out of.
        texts = [word.text for word in rest]
        away = any(".." in text or text.startswith(("/", "~", "--no-i")) for text in texts)
        return None if away else Reads(tuple(paths))
    return Reads(_named_files(rest))


def _runs_or_writes(word: Word) -> bool:
    text = word.text
    if word.glob and text[0] in "*?[":
        return True
    if not text.startswith("--"):
        return False
    name = text[2:].partition("=")[0]
    return bool(name) and any(danger.startswith(name) for danger in GIT_OUTPUT)


def _git_reads(subcommand: str, rest: Sequence[Word]) -> bool:
    texts = [word.text for word in rest]
    match subcommand:
        case "status" | "diff" | "log" | "show" | "blame" | "shortlog" | "describe" | "rev-parse":
            return True
        case "ls-files" | "ls-tree" | "rev-list" | "name-rev" | "merge-base" | "for-each-ref":
            return True
        case "show-ref" | "count-objects" | "check-ignore" | "diff-tree" | "whatchanged":
            return True
        case "cat-file":
            return not any(text.startswith("--batch") for text in texts)
        case "grep":
            return not any(re.match(r"-[a-zA-Z]*O", text) for text in texts)
        case "branch":
            return set(texts) <= word_set("-a -r -v -vv --all --remotes --list --show-current")
        case "tag":
            return texts[:1] in ([], ["-l"], ["--list"])
        case "remote":
            return texts in ([], ["-v"], ["--verbose"]) or texts[:1] == ["get-url"]
        case "stash" | "worktree":
            return texts == ["list"]
        case "reflog":
            return texts[:1] in ([], ["show"])
        case "config":
            return texts[:1] in (["--get"], ["--list"], ["-l"], ["--get-all"])
        case _:
            return False


_OWN_VARIABLE = re.compile(r"[a-z]{1,12}")


def own_variable(name: str) -> bool:
    """Return whether a name is a script's own variable that changes no program's behaviour."""
    return bool(_OWN_VARIABLE.fullmatch(name))


def _read_builtin(words: Sequence[Word]) -> Reads | None:
    names = [word.text for word in words[1:] if word.text != "-r"]
    return Reads() if all(own_variable(name) for name in names) else None


def _printf(words: Sequence[Word]) -> Reads | None:
    """`-v` and `%n` set variables, and evaluate subscripts on the way."""
    if len(words) < 2:
        return Reads()
    template = words[1]
    sets = not template.known or re.match(r"-|.*%[^a-zA-Z%]*n", template.text, re.DOTALL)
    return None if sets else Reads()


def _set(words: Sequence[Word]) -> Reads | None:
    harmless = word_set("-e -u -x -eu -ex -eux -euo -exo -euxo -o pipefail errexit nounset +e +x")
    return Reads() if all(word.text in harmless for word in words[1:]) else None


def _test(words: Sequence[Word]) -> Reads | None:
    """`-v` evaluates subscripts, and what is not known may be a `-v`."""
    risky = any(
        word.known and ("[" in word.text or word.text in ("-v", "-R")) for word in words[1:]
    )
    unknown = sum(not word.known for word in words)
    return None if risky or unknown > 1 else Reads()


def _command(words: Sequence[Word]) -> Reads | None:
    return Reads() if len(words) > 1 and words[1].text in ("-v", "-V") else None


_SPECIAL: dict[str, Callable[[Sequence[Word]], Reads | None]] = {
    "find": _find,
    "git": _git,
    "read": _read_builtin,
    "printf": _printf,
    "set": _set,
    "command": _command,
    "wait": lambda words: Reads() if len(words) == 1 else None,
    "test": _test,
    "[": _test,
}
