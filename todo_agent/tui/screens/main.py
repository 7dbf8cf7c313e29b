"""The screen that everything else stands on: it says what can be done with a selection."""

from __future__ import annotations

from textual.actions import SkipAction
from textual.message import Message
from textual.screen import Screen


class MainScreen(Screen[None]):
    """Copies a selection of several widgets as one text."""

    class Selected(Message):
        """The mouse selected something."""

    def get_selected_text(self) -> str | None:
        """Return the selected text, or None where there is none any more."""
        try:
            text = super().get_selected_text()
        except IndexError:  # what was selected has fewer lines now
            return None
        return text or None

    def action_copy_text(self) -> None:
        """Copy the selection, and end it; without one the key means something else."""
        text = self.get_selected_text()
        if text is None:
            raise SkipAction
        self.app.copy_to_clipboard(text)
        self.clear_selection()

    def on_text_selected(self) -> None:
        """Tell the app that there is something to copy."""
        if self.get_selected_text():
            self.post_message(self.Selected())
