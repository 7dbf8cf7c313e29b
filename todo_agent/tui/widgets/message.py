"""What the person and the model said."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock

from todo_agent.tui.entries import Answer, Said
from todo_agent.tui.markdown import parser
from todo_agent.tui.searching import Find, Place
from todo_agent.tui.text import count, plain, prose
from todo_agent.tui.widgets.markdown_blocks import Fence, Table

FOLDED_LINES = 12
"""So many lines of a long message show until it is opened."""


class UserMessage(Widget, can_focus=True):
    """A message of the person; a long one is folded, a click or Enter opens it."""

    FOCUS_ON_CLICK = False
    BINDINGS = [("enter", "open_or_close", "Open or close")]  # noqa: RUF012

    def __init__(self, entry: Said) -> None:
        super().__init__(classes="-note" if entry.note else "")
        self._text = plain(entry.text).strip("\n")
        self._open = False
        self._find: Find | None = None

    def show(self, entry: Said) -> None:
        """Show another text."""
        self._text = plain(entry.text).strip("\n")
        self.refresh(layout=True)

    def find(self, find: Find | None) -> None:
        """Let what was found stand out."""
        self._find = find
        self.refresh()

    def reveal(self, place: Place) -> int:
        """Open what hides a place; return its row from the top."""
        if not self._open and place.start > len(self._head):
            self.action_open_or_close()
        before = Content(self._text[: place.start] or " ")
        return len(before.wrap(max(self.content_size.width, 1))) - 1

    def on_click(self) -> None:
        """Open or fold a long text."""
        if not self.screen.selections:
            self.action_open_or_close()

    def action_open_or_close(self) -> None:
        """Open or fold a long text."""
        self._open = not self._open
        self.refresh(layout=True)

    def render(self) -> Content:
        """Return the text, or its first lines."""
        hidden = self._text.count("\n") + 1 - FOLDED_LINES
        whole = self._open or hidden <= 1
        shown = Content(self._text if whole else self._head)
        if self._find is not None:
            shown = self._find.marked(shown, 0)
        if whole:
            return shown
        return Content.assemble(shown, (f"\n… {count(hidden, 'more line')}", "$muted"))

    @property
    def _head(self) -> str:
        return "\n".join(self._text.split("\n", FOLDED_LINES)[:FOLDED_LINES])


class ModelMessage(Markdown, can_focus=True):
    """An answer of the model, also while it is still being written.

    Links are not followed; the transcript offers their address instead.
    """

    FOCUS_ON_CLICK = False
    BLOCKS = {  # noqa: RUF012 -- as Textual declares it
        **Markdown.BLOCKS,
        "fence": Fence,
        "code_block": Fence,
        "table_open": Table,
    }
    BULLETS = ["• ", "◦ ", "· ", "• ", "◦ "]  # noqa: RUF012

    def __init__(self, entry: Answer) -> None:
        self._shown = prose(entry.text)
        self._find: Find | None = None
        super().__init__(self._shown, open_links=False, parser_factory=parser)

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
        if self._find is not None:
            self.find(self._find)

    def find(self, find: Find | None) -> None:
        """Let what was found stand out."""
        self._find = find
        if not self.is_mounted:
            self.call_after_refresh(self.find, find)
            return
        for part, block in self._parts():
            match block:
                case Fence():
                    block.find(find, part)
                case Table():
                    block.lines.find(find, part=part)
                case _:
                    shown = block._content  # noqa: SLF001 -- Textual has no name for it
                    block.update(shown if find is None else find.marked(shown, part))

    def reveal(self, place: Place) -> int:
        """Return the row of a place from the top."""
        top = 0
        for part, block in self._parts():
            if part > place.part:
                break
            top = _top(block, self)
            if isinstance(block, Table):
                top += block.lines.reveal(place.part - part, place.start)
            elif part == place.part:
                shown = block._content  # noqa: SLF001
                before = shown[: place.start] if place.start else Content(" ")
                top += len(before.wrap(max(block.content_size.width, 1))) - 1
        return top

    def number_of(self, fence: Fence) -> int:
        """Return the position of a code block among those of this message."""
        return list(self.query(Fence)).index(fence)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the whole width: prose wraps where the transcript ends."""
        return container.width

    def _parts(self) -> Iterator[tuple[int, MarkdownBlock]]:
        """Yield the blocks with text, each with the number of its first text."""
        part = 0
        for block in self.query(MarkdownBlock):
            if isinstance(block, Table):
                yield part, block
                part += block.lines.cells
            elif isinstance(block, Fence) or block._inline_token is not None:  # noqa: SLF001
                yield part, block
                part += 1


def _top(widget: Widget, ancestor: Widget) -> int:
    """Return the row at which a widget begins inside an ancestor."""
    top, node = 0, widget
    while node is not ancestor and isinstance(node, Widget):
        top += node.virtual_region.y
        parent = node.parent
        if not isinstance(parent, Widget):
            break
        node = parent
    return top
