"""Every setting with its value, where it comes from and what it is for; Enter changes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from todo_agent.kinds import KeyNames, Switch
from todo_agent.preferences import Row
from todo_agent.tui.places import short_path
from todo_agent.tui.screens.edit_setting import EditSetting, New
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import fit, fit_left, literal
from todo_agent.tui.widgets.key_line import KeyLine, hint

MOVES = {
    "up": "cursor_up",
    "down": "cursor_down",
    "pageup": "page_up",
    "pagedown": "page_down",
}
AT_ONCE = frozenset(
    {"model", "permissions.mode", "permissions.allow", "permissions.ask", "permissions.deny"}
    | {"api_key", "auth_token", "api_key_file", "base_url"}
)
AT_START = frozenset({"ui.mouse", "ui.ascii"})
NAME_CELLS = 26
"""Room for the longest name of a setting without its section."""
KEY_CELLS = 34
"""Room for the longest name with it."""


class Effect(Enum):
    """When a setting that is stored counts."""

    AT_ONCE = "takes effect at once"
    NEXT_THREAD = "takes effect with the next thread"
    NEXT_START = "takes effect at the next start"


def effect(key: str) -> Effect:
    """Return when a setting counts."""
    if key in AT_START:
        return Effect.NEXT_START
    if key in AT_ONCE or key.startswith("ui."):
        return Effect.AT_ONCE
    return Effect.NEXT_THREAD


@dataclass(frozen=True, slots=True)
class Said:
    """What came of the last change."""

    text: str
    wrong: bool = False


class ConfigForm(Sheet[None]):
    """The form. What is to be stored it asks for with a message, and shows what came of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "reset", "Back to the default", show=False),
    ]

    class Store(Message):
        """A setting is to be stored; None takes it out of the file."""

        def __init__(self, key: str, value: object) -> None:
            super().__init__()
            self.key = key
            self.value = value

    def __init__(self, rows: Sequence[Row], file: str) -> None:
        """Show these settings, which are kept in a file."""
        super().__init__()
        self._rows = tuple(rows)
        self._file = file
        self._said: Said | None = None

    def compose(self) -> ComposeResult:
        """Lay out the field, the list, what the chosen one is for, and the keys."""
        with Vertical(classes="sheet -card -tall"):
            title = Content.assemble(
                ("Settings", "bold"), (f"  {short_path(self._file)}", "$muted")
            )
            yield Static(title, classes="title", markup=False)
            yield Input(placeholder="type to filter", compact=True)
            yield OptionList(markup=False, compact=True)
            yield Static(id="about", markup=False)
            yield KeyLine(hint("enter", "change"), hint("ctrl+r", "default"), hint("esc", "close"))

    def on_mount(self) -> None:
        """Show everything; keys are for the field."""
        self.query_one(Input).focus()
        self.call_after_refresh(self._show)

    def on_resize(self) -> None:
        """Fit the rows into another width."""
        self.call_after_refresh(self._show)

    def show(self, rows: Sequence[Row], said: Said) -> None:
        """Show the settings as they are now, and what came of the change."""
        self._rows = tuple(rows)
        self._said = said
        self._show()

    @property
    def _chosen(self) -> Row | None:
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return None
        key = options.get_option_at_index(options.highlighted).id
        return next((row for row in self._rows if row.key == key), None)

    @on(Input.Changed)
    def filter(self) -> None:
        """Show what fits."""
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Move in the list while the focus stays in the field."""
        if event.key in MOVES:
            event.stop()
            getattr(self.query_one(OptionList), f"action_{MOVES[event.key]}")()

    @on(OptionList.OptionHighlighted)
    def look(self) -> None:
        """Say what the chosen setting is for."""
        row = self._chosen
        if row is not None:
            self.query_one("#about", Static).update(self._about(row))
            self._said = None

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def change(self) -> None:
        """Switch the chosen setting over, or ask for another value."""
        row = self._chosen
        if row is None:
            return
        if isinstance(row.kind, Switch) and row.value is not None:
            self.post_message(self.Store(row.key, not row.value))
            return

        def edited(new: New | None) -> None:
            if new is not None:
                self.post_message(self.Store(row.key, new.value))

        sheet = EditSetting(row.key, row.what, row.kind, row.value)
        left, right = self.free
        sheet.leave_free(left=left, right=right)
        self.app.push_screen(sheet, edited)

    def action_reset(self) -> None:
        """Take the chosen setting out of the file."""
        row = self._chosen
        if row is not None:
            self.post_message(self.Store(row.key, None))

    def _show(self) -> None:
        chosen, options = self._chosen, self.query_one(OptionList)
        query = self.query_one(Input).value
        wanted = query.casefold().split()
        found = [row for row in self._rows if all(word in _words(row) for word in wanted)]
        key = chosen.key if chosen else ""
        options.clear_options()
        width = max(options.size.width - 2, 20)
        if query:
            lines = (
                (row.key, _line(row, fit(row.key, KEY_CELLS), KEY_CELLS, width)) for row in found
            )
            options.add_options(Option(line, id=key) for key, line in lines)
        else:
            for section, rows in groupby(found, key=lambda row: row.key.rpartition(".")[0]):
                if section:
                    head = Content.styled(f"[{section}]", "$primary")
                    options.add_option(Option(head, disabled=True))
                for row in rows:
                    line = _line(row, row.key.rpartition(".")[2], NAME_CELLS, width)
                    options.add_option(Option(line, id=row.key))
        ids = [option.id for option in options.options]
        first = next((i for i, option in enumerate(options.options) if not option.disabled), None)
        options.highlighted = ids.index(key) if key in ids else first
        about = self.query_one("#about", Static)
        now = self._chosen
        about.update(self._about(now) if now else Content("Nothing is called so."))

    def _about(self, row: Row) -> Content:
        lines = [Content(literal(row.what))]
        if self._said is not None:
            style = "$error" if self._said.wrong else "$success"
            lines.append(Content.styled(literal(self._said.text), style))
            return Content("\n").join(lines)
        where = short_path(row.source)
        if row.overrules:
            lines.append(
                Content.styled(f"{where} decides this, whatever the file says.", "$warning")
            )
        else:
            came = "the default" if row.default else where
            lines.append(Content.styled(literal(f"{came}; {effect(row.key).value}"), "$muted"))
        return Content("\n").join(lines)


def _words(row: Row) -> str:
    """Return what the typed letters are compared with."""
    return f"{row.key} {row.what}".casefold()


def _line(row: Row, name: str, cells: int, width: int) -> Content:
    """Return a setting as one line: its name, its value, and where that comes from."""
    cells = min(cells, width // 2)
    value = literal(_value(row))
    left = Content.assemble(
        (fit(name, cells).ljust(cells + 1), ""),
        (fit(value, max(width - cells - 1, 1)), "$muted" if row.default else "bold"),
    )
    source = "" if row.default else fit_left(short_path(row.source), 40)
    gap = width - left.cell_length - len(source)
    if not source or gap < 2:
        return left
    return Content.assemble(left, " " * gap, (source, "$muted"))


def _value(row: Row) -> str:
    match row.value:
        case None | "" | ():
            return "(not set)"
        case bool():
            return "on" if row.value else "off"
        case tuple():
            return ", ".join(row.value)
        case str() if isinstance(row.kind, KeyNames):
            return row.value.replace(",", ", ")
        case _:
            return str(row.value)
