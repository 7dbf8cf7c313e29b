"""The frame that all dialogs share: a sheet over the prompt, closed by Esc."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

T = TypeVar("T")


class Sheet(ModalScreen[T]):
    """A dialog. It leaves what is behind it in view, and the draft alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape", "close", "Close"),
        ("ctrl+c", "close", "Close"),
        Binding("f1", "app.help", "The keys that work here", show=False, id="help"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._free = (0, 0)

    @property
    def free(self) -> tuple[int, int]:
        """How many columns are left uncovered at the left and at the right."""
        return self._free

    def leave_free(self, *, left: int, right: int) -> None:
        """Keep so many columns uncovered at the sides, where the plan is."""
        self._free = (left, right)
        for sheet in self.query(".sheet"):
            sheet.styles.margin = (0, right, 0, left)

    def on_mount(self) -> None:
        """Leave free what was asked for before there was anything to see."""
        left, right = self._free
        self.leave_free(left=left, right=right)

    def action_close(self) -> None:
        """Close without a result."""
        self.dismiss(None)
