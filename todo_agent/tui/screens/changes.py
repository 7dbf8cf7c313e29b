"""What the agent changed in files, as one scrollable diff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from todo_agent.agent.messages import Display
from todo_agent.tui import diff
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import literal
from todo_agent.tui.widgets.diff_view import DiffView


class Changes(Sheet[None]):
    """Closed by Esc, q or Enter."""

    BINDINGS: ClassVar[list[BindingType]] = [("q,enter", "close", "Close")]

    def __init__(self, changes: Sequence[Display]) -> None:
        """Show the diffs, one below the other."""
        super().__init__()
        self._changes = changes

    def compose(self) -> ComposeResult:
        """Lay out each file with its diff."""
        with Vertical(classes="sheet -card -tall"), VerticalScroll():
            for change in self._changes:
                title = Content.styled(literal(change.path), "bold")
                yield Static(title + Content.styled(f"  {change.summary}", "$muted"), markup=False)
                yield DiffView(list(diff.rows(change.body)), change.path)
                yield Static("", markup=False)
