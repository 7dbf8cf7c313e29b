"""What to do with a thread that cannot be written here."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.widgets.key_line import KeyLine, hint


class Way(Enum):
    """What a person may want."""

    COPY = "go on in a copy"
    READ = "read it"


KEYS = {Way.COPY: "c", Way.READ: "r"}


class InUse(Sheet[Way]):
    """Returns the way that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c,enter", "take('COPY')", "Go on in a copy"),
        Binding("r", "take('READ')", "Read it"),
    ]

    def __init__(self, what: str, ways: Sequence[Way]) -> None:
        """Say what is the matter, and offer some ways."""
        super().__init__()
        self._what = what
        self._ways = tuple(ways)

    def compose(self) -> ComposeResult:
        """Lay out the sentence and the keys."""
        with Vertical(classes="sheet"):
            yield Static(Content.styled(self._what, "bold"), markup=False)
            ways = (hint(KEYS[way], way.value) for way in self._ways)
            yield KeyLine(*ways, hint("esc", "leave it"))

    def action_take(self, name: str) -> None:
        """Return a way, if it is offered."""
        if Way[name] in self._ways:
            self.dismiss(Way[name])
