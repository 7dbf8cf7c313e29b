"""Picks a theme: what is highlighted is worn already, Esc goes back to what was worn before."""

from __future__ import annotations

from collections.abc import Sequence

from todo_agent.tui.screens.picker import Choice, Picker


class ThemePicker(Picker):
    """Returns the name of a theme; without one the screen looks as before."""

    def __init__(self, title: str, choices: Sequence[Choice], worn: str) -> None:
        """Show these themes; `worn` is the one that Esc goes back to."""
        super().__init__(title, choices)
        self._worn = worn

    def preview(self, value: str) -> None:
        """Wear a theme."""
        self.app.theme = value

    def action_close(self) -> None:
        """Wear what was worn before."""
        self.app.theme = self._worn
        self.dismiss(None)
