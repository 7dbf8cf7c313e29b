"""The keys that work here, and the commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import HorizontalGroup, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from todo_agent.tui.keys_here import KeySection
from todo_agent.tui.screens.sheet import Sheet


class Help(Sheet[None]):
    """Closed by Esc, q or ?."""

    BINDINGS: ClassVar[list[BindingType]] = [("q,question_mark,enter", "close", "Close")]

    def __init__(self, sections: Sequence[KeySection]) -> None:
        """Show keys, commands, or whatever else the sections name."""
        super().__init__()
        self._sections = sections

    def compose(self) -> ComposeResult:
        """Lay out the sections."""
        keys = (len(key) for section in self._sections for key, _ in section.rows)
        column = min(max(keys, default=0), self.app.size.width // 3) + 3
        with Vertical(classes="sheet -card -tall"), VerticalScroll():
            for section in self._sections:
                yield Static(Content.styled(section.title, "bold $primary"), markup=False)
                for key, what in section.rows:
                    with HorizontalGroup():
                        name = Static(Content.styled(key, "bold"), markup=False)
                        name.styles.width = column
                        yield name
                        yield Static(Content.styled(what, "$muted"), markup=False, classes="what")
                yield Static("", markup=False)
