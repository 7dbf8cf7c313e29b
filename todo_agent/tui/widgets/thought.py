"""The model's reasoning: one dim row that opens."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.reactive import reactive
from textual.selection import Selection
from textual.widget import Widget

from todo_agent.tui.entries import Thought
from todo_agent.tui.searching import Find, Place
from todo_agent.tui.text import duration, fit, plain
from todo_agent.tui.themes import Marks


class ThoughtRow(Widget, can_focus=True):
    """Shows the last line of the reasoning while it grows, all of it when opened."""

    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open_or_close", "Open or close", show=False)
    ]

    opened: reactive[bool] = reactive(default=False, layout=True)

    def __init__(self, entry: Thought, marks: Marks) -> None:
        super().__init__()
        self._entry = entry
        self._marks = marks
        self._find: Find | None = None

    def show(self, entry: Thought) -> None:
        """Show more of it."""
        self._entry = entry
        self.refresh(layout=self.opened)

    def find(self, find: Find | None) -> None:
        """Let what was found stand out."""
        self._find = find
        self.refresh()

    def reveal(self, place: Place) -> int:
        """Open it; return the row of a place from the top."""
        self.opened = True
        before = Content(self._text[: place.start] or " ")
        return len(before.wrap(max(self.content_size.width, 1)))

    def on_click(self) -> None:
        """Open or close it."""
        if not self.screen.selections:
            self.action_open_or_close()

    def action_open_or_close(self) -> None:
        """Open or close it."""
        self.opened = not self.opened

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what is selected of the reasoning, without the row above it."""
        if not self.opened:
            return None
        return selection.extract(f"\n{self._text}").removeprefix("\n"), "\n"

    def render(self) -> Content:
        """Return the row, and the text below it when opened."""
        head = Content.styled(self._head(), "$muted")
        if self.opened:
            text = Content.styled(self._text, "$muted italic")
            if self._find is not None:
                text = self._find.marked(text, 0)
            return Content.assemble(head, "\n", text)
        if not self._entry.growing:
            return head
        line = self._text.rpartition("\n")[2]
        room = self.content_size.width - head.cell_length - 3
        return Content.assemble(head, (f"  {fit(line, room)}", "$muted italic"))

    def _head(self) -> str:
        mark = self._marks.opened if self.opened else self._marks.closed
        seconds = self._entry.seconds
        took = "" if seconds is None else duration(round(seconds))
        if self._entry.growing:
            return f"{mark} thinking {took}" if seconds and seconds >= 1 else f"{mark} thinking"
        if seconds is None:
            return f"{mark} thought"
        return f"{mark} thought for {took if seconds >= 1 else 'a moment'}"

    @property
    def _text(self) -> str:
        return plain(self._entry.text).strip()
