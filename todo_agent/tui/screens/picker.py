"""Picks one of many: type a few letters, Enter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from todo_agent.tui.fuzzy import best
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import first_line
from todo_agent.tui.widgets.key_line import KeyLine, hint

LIMIT = 200
MOVES = {
    "up": "cursor_up",
    "down": "cursor_down",
    "pageup": "page_up",
    "pagedown": "page_down",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the things to pick."""

    value: str
    label: str
    detail: str = ""
    current: bool = False

    @property
    def words(self) -> str:
        """What the typed letters are compared with."""
        return f"{self.label} {self.detail} {self.value}"

    def line(self) -> Content:
        """Return the choice as one line."""
        label, _ = first_line(self.label)
        detail, _ = first_line(self.detail)
        return Content.assemble(
            (label or "untitled", "bold $primary" if self.current else ""),
            (f"  {detail}", "$muted") if detail else "",
        )


class Picker(Sheet[str]):
    """Returns the value of the picked choice, or None."""

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._heading = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        """Lay out title, field and list."""
        with Vertical(classes="sheet -card"):
            yield Static(Content.styled(self._heading, "bold"), markup=False)
            yield Input(placeholder="type to filter", compact=True)
            yield OptionList(markup=False, compact=True)
            yield KeyLine(hint("enter", "pick"), hint("esc", "close"))

    def on_mount(self) -> None:
        """Show everything, the current one chosen."""
        current = next((i for i, choice in enumerate(self._choices) if choice.current), 0)
        self._show("", current)

    @on(Input.Changed)
    def filter(self, event: Input.Changed) -> None:
        """Show what fits."""
        self._show(event.value)

    @on(Input.Submitted)
    def pick_chosen(self) -> None:
        """Pick the highlighted choice."""
        self.query_one(OptionList).action_select()

    @on(OptionList.OptionSelected)
    def pick(self, event: OptionList.OptionSelected) -> None:
        """Return the choice."""
        self.dismiss(event.option.id)

    def on_key(self, event: events.Key) -> None:
        """Move in the list while the focus stays in the field."""
        if event.key in MOVES:
            event.stop()
            getattr(self.query_one(OptionList), f"action_{MOVES[event.key]}")()

    @on(OptionList.OptionHighlighted)
    def look(self, event: OptionList.OptionHighlighted) -> None:
        """Try the highlighted choice, where that shows something."""
        self.preview(event.option.id or "")

    def preview(self, value: str) -> None:
        """Show what a choice would do; nothing here."""

    def _show(self, query: str, at: int = 0) -> None:
        found = best(query, self._choices, text=lambda choice: choice.words, limit=LIMIT)
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options(Option(choice.line(), id=choice.value) for choice in found)
        options.highlighted = min(at, len(found) - 1) if found else None
