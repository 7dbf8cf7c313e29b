"""What a person can set about the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from todo_agent.preferences import Preferences
from todo_agent.settings import Config


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
    density: Literal["comfortable", "compact"] = "comfortable"
    """How much air there is between the entries of the conversation."""
    notify: Literal["off", "bell", "desktop", "command"] = "off"
    """How to tell that the agent finished or waits for an answer (see `notifying`)."""
    notify_command: tuple[str, ...] = ()
    """The program of `command`, with its first arguments."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The keys a person chose, by action (see `key_names`)."""
    history: History = field(default_factory=MemoryHistory)
    files: Callable[[], Sequence[str]] = _no_files
    """Lists the workspace's files for `@`, relative to it. Called in a thread."""
    connected: bool = True
    """Whether there is a model to ask; without one the screen begins with how to get one."""
    preferences: Preferences | None = None
    """The configuration behind this; without it nothing can be stored."""

    def following(self, config: Config) -> TuiSettings:
        """Return these settings with everything that a configuration says about the screen."""
        return replace(
            self,
            theme=config.theme,
            mouse=config.mouse,
            ascii=config.ascii,
            animate=config.animate,
            plan_visible=config.plan_visible,
            plan_side=config.plan_side,
            plan_width=config.plan_width,
            density=config.density,
            notify=config.notify,
            notify_command=config.notify_command,
            keys=config.keys,
        )
