"""Code blocks and tables of an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.selection import Selection
from textual.widgets import Label, Static
from textual.widgets._markdown import MarkdownTable  # the only place that has it
from textual.widgets.markdown import MarkdownBlock, MarkdownFence

from todo_agent.tui.colours import QUICK_CHARS, coloured
from todo_agent.tui.lines import Line
from todo_agent.tui.searching import Find
from todo_agent.tui.tables import lay_out
from todo_agent.tui.text import literal
from todo_agent.tui.widgets.text_lines import TextLines


class CopySign(Static):
    """What copies a code block when it is clicked."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(Content("copy"), markup=False)


class LanguageName(Static):
    """The language that a code block names."""

    ALLOW_SELECT = False

    def __init__(self, name: str) -> None:
        super().__init__(Content(literal(name)), markup=False)


class Fence(MarkdownFence):
    """A code block below its language and a sign that copies it.

    What language it has is not guessed: guessing is slow and often wrong.
    """

    class Copied(Message):
        """A code block is to be copied."""

        def __init__(self, fence: Fence) -> None:
            super().__init__()
            self.fence = fence

    @property
    def language(self) -> str:
        """The language that the block names, if any."""
        return _language(self.lexer)

    @classmethod
    def highlight(
        cls,
        code: str,
        language: str,
        ansi: bool = False,  # noqa: ARG003, FBT001, FBT002 -- Textual's signature
        dark: bool = False,  # noqa: ARG003, FBT001, FBT002
    ) -> Content:
        """Return the code with the colours of its language, if they are found quickly."""
        if len(code) > QUICK_CHARS:
            return Content(code)
        return coloured(code, _language(language))

    def compose(self) -> ComposeResult:
        """Lay out the head and the code."""
        yield LanguageName(self.language)
        yield CopySign()
        yield Label(self._highlighted_code, id="code-content", expand=True, markup=False)

    def on_mount(self) -> None:
        """Find the colours of long code without holding up the keyboard."""
        self.colour()

    def colour(self) -> None:
        """Find the colours of code that is too long for doing it at once."""
        if len(self.code) > QUICK_CHARS and self.language:
            self.run_worker(self._colour(self.code), group="colours", exclusive=True)

    def on_click(self, event: events.Click) -> None:
        """Copy the block from its sign."""
        if isinstance(event.widget, CopySign):
            event.stop()
            self.post_message(self.Copied(self))

    def find(self, find: Find | None, part: int) -> None:
        """Let what was found stand out."""
        shown = self._content or self._highlighted_code
        self.query_one("#code-content", Label).update(
            shown if find is None else find.marked(shown, part)
        )

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        await super()._update_from_block(block)
        if isinstance(block, MarkdownFence):
            self.colour()

    async def _colour(self, code: str) -> None:
        colours = await asyncio.to_thread(coloured, code, self.language)
        if code == self.code:
            self._highlighted_code = colours
            self.set_content(colours)


class TableLines(TextLines):
    """A table. Of several of its lines, whole rows are copied, their cells between tabs."""

    def __init__(self, headers: Sequence[Content], rows: Sequence[Sequence[Content]]) -> None:
        super().__init__()
        self._table = [headers, *rows]
        self._row_of: list[int] = []
        self._marks: Find | None = None

    def show_table(self, headers: Sequence[Content], rows: Sequence[Sequence[Content]]) -> None:
        """Show what it has become."""
        self._table = [headers, *rows]
        self.arrange_again()

    def find(self, find: Find | None, *, part: int) -> None:
        """Let what was found stand out, cell by cell."""
        self._marks, self._part = find, part
        self.arrange_again()

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return sum(map(len, self._table))

    def columns(self, width: int) -> Sequence[Sequence[Line]]:
        """Return the table's lines."""
        headers, *rows = self._marked_cells()
        laid_out = list(lay_out(headers, rows, width))
        self._row_of = [row for row, _ in laid_out]
        return ([Line(text) for _, text in laid_out],)

    def line_of(self, part: int) -> int:
        """Return the first line of the row in which a cell is."""
        row = part // max(len(self._table[0]), 1)
        return self._row_of.index(row) if row in self._row_of else 0

    def reveal(self, part: int, start: int) -> int:
        """Return the row in which a cell begins."""
        return super().reveal(part, 0)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the words of one line, or the rows of several."""
        start, end = selection
        if start is not None and end is not None and start.y == end.y:
            return super().get_selection(selection)
        first = 0 if start is None else self._row_at(start.y)
        last = len(self._table) - 1 if end is None else self._row_at(end.y)
        rows = ("\t".join(cell.plain for cell in row) for row in self._table[first : last + 1])
        return "\n".join(rows), "\n"

    def _row_at(self, line: int) -> int:
        return self._row_of[min(line, len(self._row_of) - 1)] if self._row_of else 0

    def _marked_cells(self) -> list[Sequence[Content]]:
        marks = self._marks
        if marks is None:
            return list(self._table)
        part, marked = self._part, []
        for row in self._table:
            marked.append([marks.marked(cell, part + at) for at, cell in enumerate(row)])
            part += len(row)
        return list(marked)


class Table(MarkdownTable):
    """A table that is one widget, however many cells it has."""

    def compose(self) -> ComposeResult:
        """Lay out the table."""
        yield TableLines(*self._get_headers_and_rows())

    @property
    def lines(self) -> TableLines:
        """What shows it."""
        return self.query_one(TableLines)

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        if isinstance(block, MarkdownTable):
            self.lines.show_table(*block._get_headers_and_rows())  # noqa: SLF001
        else:
            await MarkdownBlock._update_from_block(self, block)  # noqa: SLF001 -- not the table's


def _language(info: str) -> str:
    return info.split(maxsplit=1)[0] if info.strip() else ""
