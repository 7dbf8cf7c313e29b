"""The keys of a dialog: short hints side by side, on as many lines as they need."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

GAP = 3


def hint(key: str, what: str) -> Content:
    """Return what a key does, as a dialog says it."""
    return Content.assemble((key, "bold"), (f" {what}", "$muted"))


class KeyLine(Widget):
    """Hints that are never broken in the middle."""

    def __init__(self, *hints: Content) -> None:
        super().__init__(classes="keys")
        self._hints: Sequence[Content] = hints

    def show(self, hints: Sequence[Content]) -> None:
        """Show other hints."""
        self._hints = hints
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Return the hints."""
        return Content("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        lines = [Content("")]
        for hint in self._hints:
            if not lines[-1]:
                lines[-1] = hint
            elif lines[-1].cell_length + GAP + hint.cell_length <= width:
                lines[-1] = Content.assemble(lines[-1], " " * GAP, hint)
            else:
                lines.append(hint)
        return lines
