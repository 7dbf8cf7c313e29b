"""What the program itself says in the transcript."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from todo_agent.tui.entries import Notice, Turn
from todo_agent.tui.text import plain

LEVEL_STYLES = {"info": "$muted", "warning": "$warning", "error": "$error"}


class NoticeBlock(Widget):
    """A sentence about what happened and, dimmed below it, what to do next."""

    def __init__(self, entry: Notice) -> None:
        super().__init__(classes=f"-{entry.level}")
        self._entry = entry

    def show(self, entry: Notice) -> None:
        """Show another sentence."""
        self.set_classes(f"-{entry.level}")
        self._entry = entry
        self.refresh(layout=True)

    def render(self) -> Content:
        """Return the sentence and the hint."""
        entry = self._entry
        text = plain(entry.text).strip()
        parts = [Content.styled(text, LEVEL_STYLES[entry.level])]
        if entry.hint:
            parts.append(Content.styled(plain(entry.hint).strip(), "$muted"))
        return Content("\n").join(parts)


class TurnLine(Widget):
    """The line that closes a turn: time, tokens, cost, files, todos."""

    def __init__(self, entry: Turn) -> None:
        super().__init__()
        self._entry = entry

    def show(self, entry: Turn) -> None:
        """Show another line."""
        self._entry = entry
        self.refresh(layout=True)

    def render(self) -> Content:
        """Return the line."""
        return Content.styled(self._entry.text, "$muted")
