"""Writes a text of a few lines: a todo, a title."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.widgets.key_line import KeyLine, hint
from todo_agent.tui.widgets.prompt import NEW_LINE_KEYS


class Field(TextArea):
    """A small text area in which Enter means "done"."""

    async def on_key(self, event: events.Key) -> None:
        """Tell being done from a new line."""
        if event.key in NEW_LINE_KEYS:
            event.prevent_default()
            event.stop()
            self.insert("\n")
        elif event.key == "enter":
            event.prevent_default()
            event.stop()
            await self.run_action("screen.done")


class EditText(Sheet[str]):
    """Returns the text, or None when it was left as it was."""

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._heading = title
        self._text = text

    def compose(self) -> ComposeResult:
        """Lay out title and field."""
        with Vertical(classes="sheet"):
            yield Static(Content.styled(self._heading, "bold"), markup=False)
            field = Field(self._text, compact=True, soft_wrap=True, tab_behavior="focus")
            field.highlight_cursor_line = False
            field.cursor_blink = False
            yield field
            yield KeyLine(
                hint("enter", "save"), hint("ctrl+j", "new line"), hint("esc", "leave it")
            )

    def on_mount(self) -> None:
        """Begin at the end of the text."""
        field = self.query_one(Field)
        field.move_cursor(field.document.end)

    def action_done(self) -> None:
        """Return the text."""
        text = self.query_one(Field).text
        self.dismiss(text if text.strip() and text != self._text else None)
