"""What was typed while the agent works, and waits for its next step."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from todo_agent.tui.text import first_line, fit

SHOWN = 4


class Queue(Widget):
    """One dim line for each waiting text; Esc takes the newest back into the prompt."""

    texts: reactive[tuple[str, ...]] = reactive((), layout=True)

    def watch_texts(self) -> None:
        """Take no room while nothing waits."""
        self.display = bool(self.texts)

    def render(self) -> Content:
        """Return the newest texts."""
        width = self.content_size.width
        hidden = len(self.texts) - SHOWN
        lines = [f"{hidden} more"] if hidden > 0 else []
        for text in self.texts[-SHOWN:]:
            line, more = first_line(text)
            lines.append(f"{line} …" if more else line)
        return Content("\n").join(
            Content.assemble(("queued  ", "$accent"), (fit(line, width - 8), "$muted"))
            for line in lines
        )
