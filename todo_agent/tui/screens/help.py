"""The keys and the commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import HorizontalGroup, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from todo_agent.tui.screens.sheet import Sheet

SECTIONS: Sequence[tuple[str, Sequence[tuple[str, str]]]] = (
    (
        "Writing",
        (
            ("enter", "send; while the agent works: queue for its next step"),
            ("ctrl+j", "new line (also shift+enter, alt+enter, or \\ before enter)"),
            ("up, down", "earlier texts"),
            ("@", "name a file"),
            ("!", "run a command yourself; the agent reads its output with your next message"),
            ("esc", "close, take back the newest queued text, then interrupt"),
            ("ctrl+c", "clear the draft or interrupt; twice: quit"),
            ("ctrl+d", "quit, when the draft is empty"),
            ("ctrl+z", "suspend to the shell (ctrl+_ undoes typing)"),
        ),
    ),
    (
        "Looking",
        (
            ("ctrl+t, f2", "show or hide the plan"),
            ("ctrl+o", "open or close the details of all calls"),
            ("pageup, pagedown", "scroll; end goes back to the newest"),
            ("shift+tab", "next permission mode"),
            ("ctrl+p", "all commands"),
            ("ctrl+l", "paint the screen afresh"),
        ),
    ),
    (
        "In the plan (tab or f3 goes there)",
        (
            ("a, e, d", "add, edit, delete a todo"),
            ("space", "next status: pending, in progress, done"),
            ("J, K", "move a todo down or up"),
            ("o, x", "whole text, clear the plan"),
        ),
    ),
)


class Help(Sheet[None]):
    """Closed by Esc, q or ?."""

    BINDINGS: ClassVar[list[BindingType]] = [("q,question_mark,enter", "close", "Close")]

    def __init__(self, commands: Sequence[tuple[str, str]]) -> None:
        """Show the keys and these commands, each with what it does."""
        super().__init__()
        self._commands = commands

    def compose(self) -> ComposeResult:
        """Lay out the sections."""
        sections = (*SECTIONS, ("Commands", self._commands))
        column = max(len(key) for _, rows in sections for key, _ in rows) + 3
        with Vertical(classes="sheet -card -tall"), VerticalScroll():
            for title, rows in sections:
                yield Static(Content.styled(title, "bold $primary"), markup=False)
                for key, what in rows:
                    with HorizontalGroup():
                        name = Static(Content.styled(key, "bold"), markup=False)
                        name.styles.width = column
                        yield name
                        yield Static(Content.styled(what, "$muted"), markup=False, classes="what")
                yield Static("", markup=False)
