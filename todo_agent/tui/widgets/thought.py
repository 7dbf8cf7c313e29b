"""The model's reasoning: one dim row that opens."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from todo_agent.tui.entries import Thought
from todo_agent.tui.text import first_line, fit, plain
from todo_agent.tui.themes import Marks


class ThoughtRow(Widget, can_focus=True):
    """Shows the last line of the reasoning while it grows, all of it when opened."""

    BINDINGS: ClassVar[list[BindingType]] = [("enter", "open_or_close", "Open or close")]

    opened: reactive[bool] = reactive(default=False, layout=True)

    def __init__(self, entry: Thought, marks: Marks) -> None:
        super().__init__()
        self._entry = entry
        self._marks = marks

    def show(self, entry: Thought) -> None:
        """Show more of it."""
        self._entry = entry
        self.refresh(layout=self.opened)

    def on_click(self) -> None:
        """Open or close it."""
        self.action_open_or_close()

    def action_open_or_close(self) -> None:
        """Open or close it."""
        self.opened = not self.opened

    def render(self) -> Content:
        """Return the row, and the text below it when opened."""
        mark = self._marks.opened if self.opened else self._marks.closed
        head = Content.assemble((f"{mark} thinking", "$muted"))
        if self.opened:
            return Content.assemble(head, ("\n" + plain(self._entry.text).strip(), "$muted italic"))
        line, _ = first_line(self._entry.text)
        room = self.content_size.width - len(head.plain) - 3
        return Content.assemble(head, (f"  {fit(line, room)}", "$muted italic"))
