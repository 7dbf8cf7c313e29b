"""Takes a shell command apart into everything that will run, be written and be read.

Bash's own grammar (tree-sitter) does the parsing. What cannot be understood fully is
reported as unclear, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MAX_CHARS = 100_000
"""A longer command is not judged."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command, quotes removed."""

    text: str
    known: bool = True
    """The command gets exactly this text; otherwise it depends on what happens at run time."""
    glob: bool = False
    """The shell replaces it by the names of files it matches."""

    def __str__(self) -> str:
        return self.text if self.glob or not self.known else quote(self.text)


@dataclass(frozen=True, slots=True)
class Command:
    """One program or builtin that will run."""

    words: tuple[Word, ...]
    assigned: tuple[str, ...] = ()
    """Names of variables set for it alone."""
    repeated: bool = False
    """It stands in a loop."""
    certain: bool = False
    """It runs in the shell itself, whatever happens before it."""

    def __str__(self) -> str:
        return " ".join(str(word) for word in self.words)

    @property
    def name(self) -> str:
        """What runs, without its directory; empty where that is not known."""
        first = self.words[0]
        return first.text.rpartition("/")[2] if first.known and not first.glob else ""

    def tail(self, start: int) -> Command:
        """Return the command that begins at a later word."""
        return replace(self, words=self.words[start:], assigned=())


@dataclass(frozen=True, slots=True)
class Redirect:
    """A file that the shell itself opens."""

    target: Word
    writes: bool


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable that is set for what follows."""

    name: str


@dataclass(frozen=True, slots=True)
class Unclear:
    """A part that cannot be judged, and why."""

    reason: str


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, for the tables of commands and options."""
    return frozenset(text.split())


Part: TypeAlias = Command | Redirect | Assignment | Unclear


def parse(script: str) -> tuple[Part, ...]:
    """Return all parts of a script in the order they are written.

    Parts inside substitutions, loops and branches count like any other.
    """
    if len(script) > MAX_CHARS:
        return (Unclear("it is too long to be judged"),)
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]|[^\S \t\n]", script):
        return (Unclear("it contains control characters or unusual white space"),)
    # The shell joins continued lines first, but not in comments and some quotes; the grammar
    # is not always of its opinion. So both readings count.
    joined = re.sub(r"(?<!\\)((?:\\\\)*)\\\n", r"\1", script)
    return _parsed(script) if joined == script else (*_parsed(script), *_parsed(joined))


def _parsed(script: str) -> tuple[Part, ...]:
    source = script.encode("utf-8", "replace")
    from tree_sitter import Parser  # noqa: PLC0415 -- only a shell command needs it

    # A parser of its own: calls are judged in threads, and a parser serves one at a time.
    root = Parser(_bash()).parse(source).root_node
    try:
        parts = tuple(_parts(root, repeated=False))
        whole = (
            not root.has_error and not _passed_over(root, source) and _heredocs_end(root, source)
        )
    except RecursionError:
        return (Unclear("it is nested too deeply"),)
    return parts if whole else (Unclear("it is not fully understood"), *parts)


@lru_cache(maxsize=1)
def _bash() -> Language:
    # Only a shell command needs it.
    import tree_sitter_bash  # noqa: PLC0415
    from tree_sitter import Language  # noqa: PLC0415

    return Language(tree_sitter_bash.language())


_PLAIN_NODES = word_set(
    "program list pipeline redirected_statement subshell compound_statement negated_command "
    "if_statement elif_clause else_clause while_statement do_group case_statement case_item "
    "command_name word number string string_content raw_string concatenation simple_expansion "
    "variable_name special_variable_name command_substitution process_substitution comment "
    "heredoc_start heredoc_body heredoc_content heredoc_end heredoc_redirect herestring_redirect "
    "file_descriptor test_operator unary_expression binary_expression parenthesized_expression "
    "test_command command file_redirect expansion"
)
_RESERVED = word_set(
    "if then elif else fi for while until do done case esac in function select { } !"
)
"""Where the grammar takes one of these for a command, it has lost its way."""
_LOOPS = frozenset({"while_statement", "for_statement"})
_ARITHMETIC_TESTS = frozenset({"-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def _parts(node: Node, *, repeated: bool) -> Iterator[Part]:
    match node.type:
        case "command":
            yield from _command(node, repeated=repeated)
        case "file_redirect":
            yield from _redirect(node)
        case "variable_assignment":
            yield from _assignment(node)
        case "test_operator" if _text(node) in _ARITHMETIC_TESTS:
            yield Unclear(f"the test {_text(node)} may evaluate its operands")
        case "for_statement":
            yield Assignment(_text(variable) if (variable := _child(node, "variable_name")) else "")
        case "word" if re.search(r"[\s;&|<>()]", re.sub(r"\\.", "", _text(node), flags=re.DOTALL)):
            yield Unclear(f"{_text(node)!r} is more than one word")
        case "command_substitution" if _text(node).startswith("`") and "\\" in _text(node):
            yield Unclear("it has backslashes within backticks")
        case "heredoc_redirect" if _expands(node):
            yield Unclear("its here-document runs or reads something")
        case "comment" if _before(node) not in b" \t\n;&|()":
            yield Unclear("a # in the middle of a word is no comment")
        case "test_command" if not re.fullmatch(r"(\[\[?)\s.*\s\]\]?", _text(node), re.DOTALL):
            yield Unclear(f"{_text(node)} is no test")
        case "expansion" if not re.fullmatch(r"\$\{\w+\}", _text(node)):
            yield Unclear(f"{_text(node)} does more than read a variable")
        case "compound_statement" if _text(node).startswith("(("):
            yield Unclear("it does arithmetic")
        case kind if node.is_named and kind not in _PLAIN_NODES | _LOOPS | {"variable_assignments"}:
            yield Unclear(f"it uses {kind.replace('_', ' ')}")
        case _:
            pass
    for child in node.children:
        # The assignments of a command belong to it; only what they run is a part of its own.
        own = node.type == "command" and child.type == "variable_assignment"
        inside = repeated or node.type in _LOOPS
        parts = _parts(child, repeated=inside)
        yield from (part for part in parts if not (own and isinstance(part, Assignment)))


def _command(node: Node, *, repeated: bool) -> Iterator[Part]:
    words: list[Word] = []
    assigned: list[str] = []
    for child in node.children:
        match child.type:
            case "variable_assignment":
                assigned.append(_text(name) if (name := _child(child, "variable_name")) else "")
            case "file_redirect" | "herestring_redirect" | "heredoc_redirect" | "comment":
                pass
            case "command_name":
                words.append(_word(child.children[0]) if child.children else Word("", known=False))
            case _:
                words.append(_word(child))
    if words and words[0].text in _RESERVED:
        yield Unclear(f"{words[0].text} stands where a command is expected")
    if words:
        yield Command(tuple(words), tuple(assigned), repeated=repeated, certain=_certain(node))


def _certain(node: Node) -> bool:
    """Return whether a command begins a list of the script itself, in the foreground.

    One with redirections does not count: those are opened before it runs.
    """
    if any(child.type.endswith("redirect") for child in node.children):
        return False
    while node.parent is not None:
        background = node.next_sibling is not None and node.next_sibling.type == "&"
        first = node.prev_sibling is None or node.parent.type == "program"
        plain = node.parent.type in ("program", "list")
        if background or not first or not plain:
            return False
        node = node.parent
    return True


def _redirect(node: Node) -> Iterator[Part]:
    operator = next((_text(c) for c in node.children if not c.is_named), "")
    targets = [_word(c) for c in node.children if c.is_named and c.type != "file_descriptor"]
    if len(targets) != 1:
        yield Unclear(f"{_text(node)} has words behind the file it redirects to")
        return
    target = targets[0]
    if operator in (">&", "<&") and target.known and re.fullmatch(r"\d+-?|-", target.text):
        return
    yield Redirect(target, writes=operator not in ("<", "<&"))


def _assignment(node: Node) -> Iterator[Part]:
    name = _child(node, "variable_name")
    if name is None:
        yield Unclear("it sets a part of an array")
    else:
        yield Assignment(_text(name))


def _word(node: Node) -> Word:
    text = _text(node)
    match node.type:
        case "word" | "number":
            return _bare(text)
        case "raw_string":
            return Word(text[1:-1])
        case "string":
            inner = text[1:-1]
            plain = all(child.type == "string_content" for child in node.named_children)
            known = plain and not re.search(r"(?<!\\)(?:\\\\)*[$`]", inner)
            return Word(re.sub(r'\\([\\"$`\n])', _unescaped, inner), known=known)
        case "concatenation":
            words = [_word(child) for child in node.children]
            # Only the whole text shows a brace expansion: its braces are words of their own.
            bare = re.sub(r"'[^']*'|\"[^\"]*\"|\\.", "", text)
            known = all(word.known for word in words) and "{" not in bare.replace("{}", "")
            glob = any(word.glob for word in words) or bool(re.search(r"[*?\[]", bare))
            return Word("".join(word.text for word in words), known=known, glob=glob)
        case "process_substitution":
            # It is a pipe; what runs at its other end is a part of its own.
            return Word("/dev/stdin")
        case _:
            return Word(text, known=False)


def _bare(text: str) -> Word:
    """Return an unquoted word: backslashes removed, the home directory filled in."""
    if text == "~" or text.startswith("~/"):
        return replace(_bare(f"{Path.home()}{text[1:]}"), known=True)
    unquoted = re.sub(r"\\.", "", text, flags=re.DOTALL)
    odd = "{" in unquoted.replace("{}", "") or unquoted.startswith("~") or "`" in unquoted
    glob = bool(re.search(r"[*?\[]", unquoted))
    return Word(re.sub(r"\\(.)", _unescaped, text, flags=re.DOTALL), known=not odd, glob=glob)


def _unescaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _passed_over(root: Node, source: bytes) -> bool:
    """Return whether the grammar left out anything but white space."""
    position = 0
    for leaf in _leaves(root):
        if source[position : leaf.start_byte].replace(b"\\\n", b"").strip():
            return True
        position = max(position, leaf.end_byte)
    return bool(source[position:].replace(b"\\\n", b"").strip())


def _expands(heredoc: Node) -> bool:
    """Return whether the shell fills in more than plain variables in a here-document."""
    start = _child(heredoc, "heredoc_start")
    quoted = start is not None and re.search(r"[\\'\"]", _text(start))
    return not quoted and re.search(r"`|\$[({\[]", _text(heredoc)) is not None


def _heredocs_end(root: Node, source: bytes) -> bool:
    """Return whether a here-document, if there is one, ends where the shell ends it."""
    heredocs = [node for node in _all(root) if node.type == "heredoc_redirect"]
    if not heredocs:
        return True
    start, end = _child(heredocs[0], "heredoc_start"), _child(heredocs[0], "heredoc_end")
    if len(heredocs) > 1 or start is None or end is None or b"\\\n" in source:
        return False
    mark = re.sub(r"[\\'\"]", "", _text(start)).encode()
    tabs = b"\t*" if _text(heredocs[0]).startswith("<<-") else b""
    body = source.find(b"\n", start.end_byte) + 1
    found = re.compile(b"^" + tabs + re.escape(mark) + b"$", re.MULTILINE).search(source, body)
    return found is not None and found.end() == end.end_byte


def _all(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _all(child)


def _leaves(node: Node) -> Iterator[Node]:
    whole = not node.children or node.type in ("string", "heredoc_body")
    if whole:
        yield node
        return
    for child in node.children:
        yield from _leaves(child)


def _child(node: Node, kind: str) -> Node | None:
    return next((child for child in node.children if child.type == kind), None)


def _before(node: Node) -> bytes:
    """Return the byte in front of a node; a line break at the very beginning."""
    root = node
    while root.parent is not None:
        root = root.parent
    at = node.start_byte - root.start_byte
    return (root.text or b"")[at - 1 : at] if at else b"\n"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
