"""Lines of text in one column or in two: wrapped, selected and found by the line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from todo_agent.tui.lines import GAP, Layout, Line, Piece, arrange
from todo_agent.tui.searching import Find


class TextLines(ScrollView, can_focus=False):
    """Draws only the rows in view, so it may hold any number of lines.

    What is copied are whole lines, without what stands in front of them. At its ends it
    leaves the wheel to what it stands in.
    """

    def __init__(self, lines: Sequence[Line] = (), *, most: int | None = None) -> None:
        """Show lines; where they take more than `most` rows, they scroll inside."""
        super().__init__()
        self._lines = lines
        self._most = most
        self._layout_at: Layout | None = None
        self._width = 0
        self._find: Find | None = None
        self._part = 0

    def show(self, lines: Sequence[Line]) -> None:
        """Show other lines."""
        self._lines = lines
        self.arrange_again()

    def arrange_again(self) -> None:
        """Lay out what changed."""
        self._layout_at = None
        if self.is_attached:
            self.virtual_size = Size(self._width, len(self._arranged(self._width).rows))
            self.refresh(layout=True)

    def find(self, find: Find | None, *, part: int) -> None:
        """Let what was found stand out; `part` is the number of the first line as a text."""
        self._find, self._part = find, part
        self.refresh()

    def columns(self, width: int) -> Sequence[Sequence[Line]]:
        """Return the lines of each column for a width in cells."""
        return (self._lines,)

    def part_of(self, line: int) -> int:
        """Return which of the texts that can be found a line is."""
        return line

    def line_of(self, part: int) -> int:
        """Return the line that is one of the texts that can be found."""
        return part

    def reveal(self, part: int, start: int) -> int:
        """Bring a found place into view inside; return its row from the widget's top."""
        row = self._arranged(self._width).row_of(self.line_of(part), start)
        if self._most is not None and self.max_scroll_y:
            self.scroll_to(y=max(row - self.size.height // 2, 0), animate=False)
        return row - self.scroll_offset.y

    def scroll_lines(self, by: int) -> bool:
        """Scroll inside; return whether there was anywhere to go."""
        before = self.scroll_offset.y
        self.scroll_to(y=before + by, animate=False)
        return self.scroll_offset.y != before

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return all the width there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows."""
        rows = len(self._arranged(width).rows)
        self._width = width
        self.virtual_size = Size(width, rows)
        return rows if self._most is None else min(rows, self._most)

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        layout = self._arranged(self._width)
        row = y + self.scroll_offset.y
        base = self.visual_style
        if row >= len(layout.rows):
            return Strip.blank(self.size.width, base.rich_style)
        segments: list[Segment] = []
        for column, piece in enumerate(layout.rows[row]):
            if column:
                segments.append(Segment(" " * GAP, base.rich_style))
            segments.extend(self._piece(layout, piece, layout.widths[column], base))
        return Strip(segments).adjust_cell_length(self.size.width, base.rich_style)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected lines, however they are wrapped."""
        columns = self._arranged(self._width).columns
        text = "\n".join(line.text.plain for column in columns for line in column)
        with suppress(IndexError):  # there are fewer lines now than when they were selected
            return selection.extract(text), "\n"
        return None

    def _arranged(self, width: int) -> Layout:
        if self._layout_at is None or width != self._width:
            self._layout_at = arrange(self.columns(width), width)
            self._width = width
        return self._layout_at

    def _piece(self, layout: Layout, piece: Piece, width: int, base: Style) -> list[Segment]:
        line = layout.line(piece.line)
        style = base + self._get_style(line.ground) if line.ground else base
        gutter = line.gutter
        if piece.start or (piece.end == 0 and line.text):
            gutter = Content(" " * gutter.cell_length)
        text = self._text(line, piece)[piece.start : piece.end]
        segments = self._segments(gutter, style, piece.line, piece.start, still=True)
        segments += self._segments(text, style, piece.line, piece.start)
        over = width - gutter.cell_length - text.cell_length
        if over > 0:
            segments.append(Segment(" " * over, self._at(style, piece.line, piece.end)))
        return segments

    def _text(self, line: Line, piece: Piece) -> Content:
        """Return a line with what is found and what is selected in it."""
        text = line.text
        if self._find is not None:
            text = self._find.marked(text, self._part + self.part_of(piece.line))
        selection = self.text_selection
        span = None if selection is None else selection.get_span(piece.line)
        if span is not None:
            start, end = span
            chosen = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            text = text.stylize(chosen, start, len(text) if end == -1 else end)
        return text

    def _segments(
        self, content: Content, style: Style, line: int, start: int, *, still: bool = False
    ) -> list[Segment]:
        """Return what is drawn, with the place of each part for whoever selects it."""
        segments = []
        for text, part in content.render(style, end="", parse_style=self._get_style):
            segments.append(Segment(text, self._at(style + part, line, start)))
            start += 0 if still else len(text)
        return segments

    @staticmethod
    def _at(style: Style, line: int, start: int) -> RichStyle:
        return style.rich_style_with_offset(start, line)
