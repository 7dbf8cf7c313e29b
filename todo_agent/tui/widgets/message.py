"""What the person and the model said."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownFence

from todo_agent.tui.entries import Answer, Said
from todo_agent.tui.text import count, plain, prose

FOLDED_LINES = 12
"""So many lines of a long message show until it is opened."""
HIGHLIGHT_CHARS = 20_000
"""A longer code block keeps one colour: finding its colours would hold up the keyboard."""


class UserMessage(Widget):
    """A message of the person; a long one is folded, a click opens it."""

    def __init__(self, entry: Said) -> None:
        super().__init__(classes="-note" if entry.note else "")
        self._text = plain(entry.text).strip("\n")
        self._open = False

    def show(self, entry: Said) -> None:
        """Show another text."""
        self._text = plain(entry.text).strip("\n")
        self.refresh(layout=True)

    def on_click(self) -> None:
        """Open or fold a long text."""
        self._open = not self._open
        self.refresh(layout=True)

    def render(self) -> Content:
        """Return the text, or its first lines."""
        lines = self._text.split("\n")
        hidden = len(lines) - FOLDED_LINES
        if self._open or hidden <= 1:
            return Content(self._text)
        head = "\n".join(lines[:FOLDED_LINES])
        return Content.assemble(head, (f"\n… {count(hidden, 'more line')}", "$muted"))


class Fence(MarkdownFence):
    """A code block. What language it has is not guessed: guessing is slow and often wrong."""

    @classmethod
    def highlight(
        cls,
        code: str,
        language: str,
        ansi: bool = False,  # noqa: FBT001, FBT002 -- Textual's signature
        dark: bool = False,  # noqa: FBT001, FBT002
    ) -> Content:
        """Return the code with the colours of its language."""
        if len(code) > HIGHLIGHT_CHARS or not language.strip():
            return Content(code)
        return super().highlight(code, language.split(maxsplit=1)[0], ansi=ansi, dark=dark)


class ModelMessage(Markdown):
    """An answer of the model, also while it is still being written.

    Links are not followed; the transcript offers their address instead.
    """

    BLOCKS = {  # noqa: RUF012 -- as Textual declares it
        **Markdown.BLOCKS,
        "fence": Fence,
        "code_block": Fence,
    }
    BULLETS = ["• ", "◦ ", "· ", "• ", "◦ "]  # noqa: RUF012

    def __init__(self, entry: Answer) -> None:
        self._shown = prose(entry.text)
        super().__init__(self._shown, open_links=False)

    async def show(self, entry: Answer) -> None:
        """Show a text; one that only grew is appended, which costs little."""
        text = prose(entry.text)
        if text == self._shown:
            return
        before, self._shown = self._shown, text
        if text.startswith(before):
            await self.append(text[len(before) :])
        else:
            await self.update(text)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the whole width: prose wraps where the transcript ends."""
        return container.width
