"""The commands that only read, with the options of theirs that are known to be harmless.

A command is in here only when nothing in its known options runs or writes anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from todo_agent.middleware.shell_grammar import word_set


@dataclass(frozen=True, slots=True)
class Reader:
    """How a command that only reads takes its arguments."""

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


_ANY = Reader()
_WORDS = Reader(paths=False)

READERS: dict[str, Reader] = {
    **dict.fromkeys(
        word_set(
            "cat head tail wc nl tac rev cut cmp diff comm paste join fold expand unexpand column "
            "od hexdump md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum "
            "sum stat ls dir vdir du df readlink realpath"
        ),
        _ANY,
    ),
    **dict.fromkeys(
        word_set(
            "echo true false : pwd seq sleep basename dirname type which whoami id uname nproc "
            "uptime free arch groups tty cal factor exit return break continue tr"
        ),
        _WORDS,
    ),
    "jq": Reader(
        flags="nrRcCMSasj",
        long=word_set("raw-output compact-output slurp null-input exit-status sort-keys tab"),
        pattern_first=True,
    ),
    "file": Reader(flags="bhiklLNprs0", long=word_set("brief mime mime-type mime-encoding")),
    "date": Reader(
        flags="uR",
        values="dI",
        long=word_set("utc date iso-8601 rfc-3339"),
        paths=False,
        operands=1,
    ),
    "hostname": Reader(flags="sfdiI", long=word_set("short fqdn"), paths=False, operands=0),
    "uniq": Reader(
        flags="cdDiuz",
        values="fsw",
        long=word_set("count repeated unique ignore-case"),
        operands=1,
    ),
    "sort": Reader(
        flags="bdfghiMnRrVcCmsuz",
        values="kt",
        long=word_set(
            "reverse numeric-sort unique key field-separator human-numeric-sort version-sort "
            "ignore-case stable check zero-terminated general-numeric-sort month-sort"
        ),
    ),
    "tree": Reader(
        flags="adfiqNpugshDFrtUvCnJX",
        values="LIP",
        long=word_set("dirsfirst gitignore noreport du si prune filelimit sort"),
    ),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep"),
        Reader(
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
    "rg": Reader(
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
        Reader(
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
READERS["sed"] = Reader(
    flags="nErsuz",
    long=word_set("quiet silent regexp-extended"),
    pattern_first=True,
    script=re.compile(rf"{_SED_STEP}(?:[;\n]{_SED_STEP})*"),
)
_FIELDS = r"(?:\s+\$\w+(?:\s*,\s*\$\w+)*)?"
for _awk in ("awk", "gawk", "mawk"):
    READERS[_awk] = Reader(
        values="F",
        long=frozenset(),
        pattern_first=True,
        script=re.compile(
            rf"\s*(?:NR\s*(?:[<>]=?|==)\s*\d+|/[\w .:-]*/)?\s*\{{\s*print{_FIELDS}\s*\}}\s*"
        ),
    )
PATTERN_OPTIONS = frozenset({"e", "f", "regexp", "file", "files", "type-list"})
"""With one of these, the first operand is a file already."""
FILE_OPTIONS = frozenset({"f"})
"""Letters whose value names a file."""

VERSIONED = word_set(
    "python python3 node npm pnpm yarn pip pip3 uv cargo rustc go java javac gcc g++ clang make "
    "cmake pytest ruff mypy git docker ruby php perl bash zsh deno bun tsc"
)
SHORT_VERSIONS = frozenset({"python -V", "python3 -V", "node -v", "npm -v", "go version"})

FIND_TESTS: Mapping[str, int] = {
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

GIT_FLAGS = word_set("--no-pager --no-optional-locks --literal-pathspecs --no-replace-objects -P")
GIT_OUTPUT = word_set(
    "ext-diff textconv output open-files-in-pager filters exec upload-pack show-signature"
)
"""Long options that run or write something, under any abbreviation."""
