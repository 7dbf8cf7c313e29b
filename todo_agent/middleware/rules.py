"""Permission rules: what they look like, which calls they speak of, which one wins."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

Kind: TypeAlias = Literal["read", "write", "run", "fetch", "invoke"]


class Decision(IntEnum):
    """What may happen, the most severe last."""

    ALLOW = 0
    ASK = 1
    DENY = 2


class RuleError(ValueError):
    """A rule that cannot be understood; the message says why."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A decision for the resources that a pattern matches.

    In a pattern `*` stands for anything, in a path for anything but a slash; `**` for
    anything in a path too; `?` for one character; a backslash takes the next character
    literally. A ` *` at the end of a command stands for no arguments as well.
    """

    decision: Decision
    kind: Kind
    pattern: str
    given: str = field(default="", compare=False)
    """The pattern as the person wrote it, where it was changed since."""

    @classmethod
    def parse(cls, decision: Decision, text: str) -> Rule:
        """Return the rule that `KIND PATTERN` stands for, such as `run git push *`.

        Raises:
            RuleError: it is no such text.
        """
        kind, _, pattern = text.strip().partition(" ")
        if kind not in get_args(Kind):
            kinds = ", ".join(get_args(Kind))
            raise RuleError(f"{text!r} is no rule: it has to begin with one of {kinds}.")
        if not pattern.strip():
            raise RuleError(f"{text!r} is no rule: after {kind} it has to say what it is about.")
        return cls(decision, cast("Kind", kind), pattern.strip())

    def __str__(self) -> str:
        return f"{self.decision.name.lower()} {self.kind} {self.given or self.pattern}"

    @property
    def weight(self) -> tuple[int, int]:
        """How it ranks: the more specific first, then the more severe."""
        return len(re.sub(r"\\(.)|[*?]", r"\1", self.pattern)), self.decision

    def matches(self, kind: Kind, name: str, *, fold: bool = False) -> bool:
        """Return whether it speaks of a resource.

        Args:
            kind: the resource's.
            name: the resource's; a resolved path where it is a file.
            fold: upper and lower case are the same.
        """
        if kind != self.kind:
            return False
        flags = re.DOTALL | (re.IGNORECASE if fold else 0)
        path = kind in ("read", "write")
        return re.fullmatch(_regex(self.pattern, path=path), name, flags) is not None

    def resolved(self, root: Path) -> Rule:
        """Return the rule with its path resolved as resources are: symlinks followed."""
        if self.kind not in ("read", "write"):
            return self
        fixed = re.split(r"[*?\\]", self.pattern, maxsplit=1)[0]
        directory = fixed if fixed == self.pattern else fixed[: fixed.rfind("/") + 1]
        rest = self.pattern[len(directory) :]
        start = os.path.realpath(root / Path(directory).expanduser())
        slash = "/" if rest and not start.endswith("/") else ""
        given = self.given or self.pattern
        return replace(self, pattern=literal(start) + slash + rest, given=given)


def literal(text: str) -> str:
    """Return the pattern that matches exactly a text."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def winner(rules: Iterable[Rule], kind: Kind, name: str, *, fold: bool = False) -> Rule | None:
    """Return the rule that decides about a resource: of those that match, the weightiest."""
    matching = (rule for rule in rules if rule.matches(kind, name, fold=fold))
    return max(matching, key=lambda rule: rule.weight, default=None)


def _regex(pattern: str, *, path: bool) -> str:
    bare = "" if path or not pattern.endswith(" *") else r"(?: .*)?"
    body = pattern.removesuffix(" *") if bare else pattern
    parts = re.findall(r"\\.|\*\*/|\*+|\?|[^\\*?]+|\\", body, re.DOTALL)
    return "".join(_piece(part, path=path) for part in parts) + bare


def _piece(part: str, *, path: bool) -> str:
    match part:
        case "**/":
            return "(?:.*/)?" if path else ".*/"
        case "*":
            return "[^/]*" if path else ".*"
        case "?":
            return "[^/]" if path else "."
        case _ if set(part) == {"*"}:
            return ".*"
        case _ if part.startswith("\\") and len(part) == 2:
            return re.escape(part[1])
        case _:
            return re.escape(part)
