"""Commands that only read: which they are, and which files they read.

A command is in here only when nothing in its known options runs or writes anything.
Options that are not known make a command one that may do anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from todo_agent.middleware.shell_grammar import Command, Word, word_set


@dataclass(frozen=True, slots=True)
class _Reader:
    """How a command takes its arguments."""

    flags: str = ""
    values: str = ""
    long: frozenset[str] | None = None
    """Known long options; None: whatever options there are, they only read."""
    pattern_first: bool = False
    """The first operand is a pattern and not a file."""
    paths: bool = True
    """Its operands name files."""
    operands: int | None = None
    """At most so many."""
    script: re.Pattern[str] | None = None
    """What the first operand must look like."""


_ANY = _Reader()
_WORDS = _Reader(paths=False)

_READERS: dict[str, _Reader] = {
    **dict.fromkeys(
        word_set(
            "cat head tail wc nl tac rev cut cmp diff comm paste join fold expand unexpand column "
            "od hexdump strings md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum "
            "sum stat ls dir vdir du df readlink realpath"
        ),
        _ANY,
    ),
    **dict.fromkeys(
        word_set(
            "echo true false : pwd seq sleep basename dirname type which whoami id uname nproc "
            "uptime free arch groups tty cal factor exit return break continue wait tr"
        ),
        _WORDS,
    ),
    "jq": _Reader(
        flags="nrRcCMSasj",
        long=word_set("raw-output compact-output slurp null-input exit-status sort-keys tab"),
        pattern_first=True,
    ),
    "file": _Reader(flags="bhiklLNprs0", long=word_set("brief mime mime-type mime-encoding")),
    "date": _Reader(
        flags="uR",
        values="dI",
        long=word_set("utc date iso-8601 rfc-3339"),
        paths=False,
        operands=1,
    ),
    "hostname": _Reader(flags="sfdiI", long=word_set("short fqdn"), paths=False, operands=0),
    "uniq": _Reader(
        flags="cdDiuz",
        values="fsw",
        long=word_set("count repeated unique ignore-case"),
        operands=1,
    ),
    "sort": _Reader(
        flags="bdfghiMnRrVcCmsuz",
        values="kt",
        long=word_set(
            "reverse numeric-sort unique key field-separator human-numeric-sort version-sort "
            "ignore-case stable check zero-terminated general-numeric-sort month-sort"
        ),
    ),
    "tree": _Reader(
        flags="adfiqNpugshDFrtUvCnJX",
        values="LIP",
        long=word_set("dirsfirst gitignore noreport du si prune filelimit sort"),
    ),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep"),
        _Reader(
            flags="EFGPiywvxcLloqsbHhnTZzarIU",
            values="efmABCdD",
            long=word_set(
                "extended-regexp fixed-strings basic-regexp perl-regexp regexp file ignore-case "
                "invert-match word-regexp line-regexp count color colour files-with-matches "
                "files-without-match max-count only-matching quiet silent no-messages byte-offset "
                "with-filename no-filename line-number after-context before-context context text "
                "binary-files exclude exclude-from exclude-dir include recursive null"
            ),
            pattern_first=True,
        ),
    ),
    "rg": _Reader(
        flags="ilcwvnHhNFSUsoxaPqup0.I",
        values="efgtTABCmMjrd",
        long=word_set(
            "ignore-case files-with-matches files-without-match count count-matches word-regexp "
            "invert-match line-number no-line-number with-filename no-filename fixed-strings "
            "smart-case multiline case-sensitive only-matching line-regexp text pcre2 quiet "
            "unrestricted hidden no-ignore no-ignore-vcs no-config files type type-not type-list "
            "glob iglob after-context before-context context max-count max-columns max-depth json "
            "stats sort sortr color no-heading heading pretty null column trim replace regexp "
            "max-filesize byte-offset vimgrep passthru no-messages crlf binary"
        ),
        pattern_first=True,
    ),
    **dict.fromkeys(
        ("fd", "fdfind"),
        _Reader(
            flags="HIusigFapl0q",
            values="dteESc",
            long=word_set(
                "hidden no-ignore case-sensitive ignore-case glob regex fixed-strings "
                "absolute-path full-path max-depth min-depth type extension exclude size color "
                "max-results print0"
            ),
            pattern_first=True,
        ),
    ),
}

_TEXT = r"[^/\\\[\n]*"
_ADDRESS = rf"(?:\d+|\$|/{_TEXT}/)"
_RANGE = rf"(?:{_ADDRESS}(?:,\s*(?:\+?\d+|\$|/{_TEXT}/))?)?"
_SED_STEP = rf"\s*{_RANGE}\s*(?:[pdq=]|s/{_TEXT}/{_TEXT}/[gpIi0-9]*)\s*"
_READERS["sed"] = _Reader(
    flags="nErsuz",
    long=word_set("quiet silent regexp-extended"),
    pattern_first=True,
    script=re.compile(rf"{_SED_STEP}(?:[;\n]{_SED_STEP})*"),
)
_FIELDS = r"(?:\s+\$\w+(?:\s*,\s*\$\w+)*)?"
for _awk in ("awk", "gawk", "mawk"):
    _READERS[_awk] = _Reader(
        values="F",
        long=frozenset(),
        pattern_first=True,
        script=re.compile(
            rf"\s*(?:NR\s*(?:[<>]=?|==)\s*\d+|/[\w .:-]*/)?\s*\{{\s*print{_FIELDS}\s*\}}\s*"
        ),
    )
_PATTERN_OPTIONS = frozenset({"e", "f", "regexp", "file", "files", "type-list"})
"""With one of these, the first operand is a file already."""
_FILE_OPTIONS = frozenset({"f"})
"""Letters whose value names a file."""

_VERSIONED = word_set(
    "python python3 node npm pnpm yarn pip pip3 uv cargo rustc go java javac gcc g++ clang make "
    "cmake pytest ruff mypy git docker ruby php perl bash zsh deno bun tsc"
)
_SHORT_VERSIONS = frozenset({"python -V", "python3 -V", "node -v", "npm -v", "go version"})

_FIND_TESTS: dict[str, int] = {
    **dict.fromkeys(
        word_set("-print -print0 -ls -empty -true -false -prune -not -a -o -and -or"), 0
    ),
    **dict.fromkeys(
        word_set("! ( ) , -depth -mount -xdev -daystart -nouser -nogroup -readable"), 0
    ),
    **dict.fromkeys(word_set("-writable -executable -quit"), 0),
    **dict.fromkeys(word_set("-name -iname -path -ipath -wholename -regex -iregex -regextype"), 1),
    **dict.fromkeys(
        word_set("-type -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin"), 1
    ),
    **dict.fromkeys(word_set("-ctime -cmin -newer -anewer -cnewer -perm -user -group -links"), 1),
    **dict.fromkeys(word_set("-inum -samefile -printf -lname -ilname -uid -gid -used"), 1),
}

_GIT_FLAGS = word_set("--no-pager --no-optional-locks --literal-pathspecs --no-replace-objects -P")
_GIT_OUTPUT = word_set(
    "ext-diff textconv output open-files-in-pager filters exec upload-pack show-signature"
)
"""Long options that run or write something, under any abbreviation."""


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
    if name in _VERSIONED and words[1:] == (Word("--version"),):
        return Reads()
    if str(command) in _SHORT_VERSIONS:
        return Reads()
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words)
    reader = _READERS.get(name)
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


def _read(reader: _Reader, words: Sequence[Word]) -> Reads | None:
    if reader.long is None:
        return Reads(_named_files(words[1:]) if reader.paths else ())
    taken = _taken(reader, words[1:])
    if taken is None or (reader.operands is not None and len(taken.operands) > reader.operands):
        return None
    if not reader.paths:
        return Reads() if all(word.text.startswith("+") for word in taken.operands) else None
    files = taken.operands
    if reader.pattern_first and not taken.options & _PATTERN_OPTIONS:
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


def _taken(reader: _Reader, words: Sequence[Word]) -> _Taken | None:
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
                files += words[index : index + 1] if value in _FILE_OPTIONS else ()
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
        if value.startswith(("/", "~")) or ".." in value:
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
        arguments = _FIND_TESTS.get(words[index].text)
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
        elif words[index].text in _GIT_FLAGS:
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
        away = any(".." in word.text or word.text.startswith(("/", "~")) for word in rest)
        return None if away else Reads(tuple(paths))
    return Reads(_named_files(rest))


def _runs_or_writes(word: Word) -> bool:
    text = word.text
    if word.glob and text[0] in "*?[":
        return True
    if not text.startswith("--"):
        return False
    name = text[2:].partition("=")[0]
    return bool(name) and any(danger.startswith(name) for danger in _GIT_OUTPUT)


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
    if len(words) > 1 and (not words[1].known or words[1].text.startswith("-")):
        return None
    return Reads()


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
    "test": _test,
    "[": _test,
}
