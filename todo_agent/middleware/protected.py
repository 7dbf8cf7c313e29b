"""Files that change what the agent, or the person's own shell, will do later."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from todo_agent.middleware.shell_grammar import word_set

_DIRECTORIES = frozenset({".git", ".todo-agent", ".ssh", ".husky"})
_FILES = word_set(
    ".envrc .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv "
    ".zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .gitconfig .gitmodules .pythonrc.py "
    "config.fish sitecustomize.py usercustomize.py"
)
_WITHIN = ((".config", "git"), (".config", "fish"), (".config", "environment.d"))
_MENTIONS = re.compile(
    r"(?<![\w.-])(?:{}|core\.hookspath)".format(
        "|".join(
            [re.escape(f"{name}/") for name in sorted(_DIRECTORIES)]
            + [rf"{re.escape(name)}(?![\w-])" for name in sorted(_FILES) if name.startswith(".")]
        )
    )
)


class Protected:
    """Knows the files whose change always needs a person's word.

    These are the directories it is given (the program's configuration, its threads, its
    record of trust) and, wherever they are: git's own directory, shell start-up files and
    the like. Case does not count.
    """

    def __init__(self, directories: Iterable[Path] = ()) -> None:
        self._directories = tuple(Path(directory).resolve() for directory in directories)

    def holds(self, path: Path) -> bool:
        """Return whether a resolved path is one of them."""
        if any(path.is_relative_to(directory) for directory in self._directories):
            return True
        parts = [part.casefold() for part in path.parts]
        if parts and parts[-1] in _FILES:
            return True
        pairs = set(pairwise(parts))
        return not _DIRECTORIES.isdisjoint(parts) or not pairs.isdisjoint(_WITHIN)

    def mentioned_in(self, text: str) -> bool:
        """Return whether a text names one of them, so that a command may be about it."""
        folded = text.casefold()
        own = any(str(directory).casefold() in folded for directory in self._directories)
        return own or _MENTIONS.search(folded) is not None
