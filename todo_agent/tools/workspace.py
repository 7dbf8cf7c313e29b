"""Where the agent works: which paths are inside, and where the session stands."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from todo_agent.tools.seen import SeenFiles


class PathError(ValueError):
    """A path that cannot be used; the message is for the model."""


class Workspace:
    """The directories the agent may work in, and what one session remembers of them.

    `root` and `extra_dirs` are resolved once. A path is inside when, with every symlink
    followed, it is one of them or below one; a directory is recognised under any spelling
    that leads to it. With `confined`, the tools refuse what is outside unless a person
    approved the very call; switch it off only where permissions judge every call.
    """

    def __init__(
        self, root: Path | str, extra_dirs: Iterable[Path | str] = (), *, confined: bool = True
    ) -> None:
        self.root = Path(os.path.realpath(root))
        self.extra_dirs = tuple(Path(os.path.realpath(path)) for path in extra_dirs)
        self.confined = confined
        self.cwd = self.root
        """Where the next shell command starts. Commands move it with `cd`; it never leaves
        the workspace. The other tools take relative paths from `root`."""
        self.seen = SeenFiles()

    def resolve(self, path: str, *, base: Path | None = None) -> Path:
        """Return the absolute path that a given one leads to, whether it exists or not.

        `~` is the home directory; what is relative starts at `base` or the root. The
        existing part is followed through its symlinks, a dangling last one to its target.

        Raises:
            PathError: it is empty, not a path of this system, or a circle of symlinks.
        """
        if not path:
            raise PathError("The path is empty.")
        if "\0" in path:
            raise PathError(f"{path!r} is no path: it contains a NUL character.")
        home = path == "~" or path.startswith("~/")
        try:
            full = os.fspath(Path(path).expanduser() if home else Path(base or self.root, path))
            resolved = Path(os.path.realpath(full))
            circle = resolved.is_symlink()
        except (OSError, RuntimeError, ValueError) as error:
            raise PathError(f"{path!r} cannot be used as a path: {error}.") from error
        if circle:
            raise PathError(f"{path} is a circle of symlinks that leads nowhere.")
        return resolved

    def contains(self, path: Path) -> bool:
        """Return whether a resolved path is inside."""
        tops = (self.root, *self.extra_dirs)
        return any(path.is_relative_to(top) for top in tops) or any(
            _same(parent, top) for parent in (path, *path.parents) for top in tops
        )

    def shown(self, path: Path) -> str:
        """Return a resolved path as people read it: relative where it is below the root."""
        shown = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return printable(str(shown))


def printable(name: str) -> str:
    """Return a file's name as one line of valid text.

    Bytes that are none become U+FFFD; line breaks, control characters and those that change
    the direction of writing become escapes.
    """
    text = os.fsencode(name).decode("utf-8", "replace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _same(path: Path, top: Path) -> bool:
    """Compare by identity: one directory has many spellings where case does not count."""
    if path.name.casefold() != top.name.casefold():
        return False
    try:
        return path.samefile(top)
    except OSError:
        return False
