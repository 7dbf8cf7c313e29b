"""What a person can set about the screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol


class History(Protocol):
    """What was typed before, kept somewhere between sessions. May block on disk."""

    def load(self) -> list[str]:
        """Return the texts, oldest first."""
        ...

    def add(self, text: str) -> None:
        """Remember one more."""
        ...


class MemoryHistory:
    """A history that lives as long as the program."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._texts = list(texts)

    def load(self) -> list[str]:
        """Return the texts, oldest first."""
        return list(self._texts)

    def add(self, text: str) -> None:
        """Remember one more."""
        self._texts.append(text)


def _no_files() -> Sequence[str]:
    return ()


@dataclass(frozen=True, kw_only=True)
class TuiSettings:
    """Everything the screen can be told; each has a default that suits most people."""

    theme: str = "todo-agent-dark"
    """`todo-agent-dark`, `todo-agent-light`, or one of Textual's names."""
    mouse: bool = True
    """Whether the program takes the mouse; without it the terminal's own selection works."""
    ascii: bool | None = None
    """Draw with ASCII only; None: only where the terminal cannot do more."""
    animate: bool = True
    """Whether a mark turns while the agent works."""
    plan_visible: bool = True
    """Show the plan as soon as there is one."""
    plan_side: Literal["right", "left"] = "right"
    plan_width: int = 38
    """In cells, on screens of 100 columns and more."""
    notify: Literal["off", "bell", "desktop"] = "off"
    """Tell when the agent finished or waits for an answer: a bell, or the terminal's OSC 9."""
    history: History = field(default_factory=MemoryHistory)
    files: Callable[[], Sequence[str]] = _no_files
    """Lists the workspace's files for `@`, relative to it. Called in a thread."""
    log: Path | None = None
    """The file that takes the traceback of a crash."""
