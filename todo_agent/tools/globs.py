"""Glob patterns over relative paths, with the meaning they have in .gitignore files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MAX_ALTERNATIVES = 200
_BRACES = re.compile(r"\{([^{}]*)\}")


class GlobError(ValueError):
    """A pattern that cannot be used; the message is for the model."""


class Glob:
    """A pattern such as `*.py`, `src/**/*.ts`, `/setup.cfg` or `*.{c,h}`.

    Without a slash inside it matches in any directory; `**` spans directories; a leading
    `!` keeps everything that does not match.

    Raises:
        GlobError: it is blank, malformed, or stands for too many alternatives.
    """

    def __init__(self, pattern: str) -> None:
        wanted = pattern.strip().removeprefix("./")
        if not wanted.removeprefix("!"):
            raise GlobError("The glob is blank.")
        self._patterns = tuple(_alternatives(wanted.removeprefix("!")))
        negative = wanted.startswith("!")
        # Only a search needs it.
        from pathspec import GitIgnoreSpec  # noqa: PLC0415

        lines = ["*", *(f"!{p}" for p in self._patterns)] if negative else self._patterns
        self._plain = not negative and all(re.fullmatch(r"[\w.*?-]+", p) for p in self._patterns)
        try:
            self._spec = GitIgnoreSpec.from_lines(lines)
        except ValueError as error:
            raise GlobError(f"{pattern!r} is not a glob pattern: {error}.") from error

    def matches(self, path: str) -> bool:
        """Return whether it matches a path."""
        return self._spec.match_file(path)

    def type_options(self) -> Sequence[str]:
        """Return options with which ripgrep skips most of what does not match.

        Its own `--glob` would bring ignored files back in.
        """
        if not self._plain:
            return ()
        return (*(f"--type-add=wanted:{p}" for p in self._patterns), "--type=wanted")


def _alternatives(pattern: str) -> Iterator[str]:
    """Spell out every `{a,b}`."""
    pending = [pattern]
    for _ in range(MAX_ALTERNATIVES):
        if not pending:
            return
        current = pending.pop()
        braces = _BRACES.search(current)
        if braces is None:
            yield current
            continue
        before, after = current[: braces.start()], current[braces.end() :]
        pending += [before + choice + after for choice in braces[1].split(",")]
    raise GlobError(f"{pattern!r} stands for too many patterns.")
