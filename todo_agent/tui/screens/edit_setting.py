"""Takes a new value for one setting, and checks it as a file would be checked."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from todo_agent.kinds import Kind, OneOf, Rules, Secret, Switch, Value
from todo_agent.tui.screens.edit_text import Field
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import literal
from todo_agent.tui.widgets.key_line import KeyLine, hint


@dataclass(frozen=True, slots=True)
class New:
    """A value that passed the check, as it would stand in a file."""

    value: object


class EditSetting(Sheet[New]):
    """Returns the new value, or None where it stays as it was.

    Args:
        key: the setting.
        what: what it is for.
        kind: what it may be.
        value: what holds now; of a secret only whether there is one.
    """

    def __init__(self, key: str, what: str, kind: Kind, value: Value) -> None:
        super().__init__()
        self._key = key
        self._what = what
        self._kind = kind
        self._value = value

    def compose(self) -> ComposeResult:
        """Lay out what is set, the field that fits its kind, and the keys."""
        with Vertical(classes="sheet"):
            yield Static(Content.styled(self._key, "bold"), markup=False)
            yield Static(Content.styled(literal(self._what), "$muted"), markup=False)
            yield from self._field()
            yield Static(id="problem", markup=False)
            lines = [hint("ctrl+j", "new line")] if isinstance(self._kind, Rules) else []
            yield KeyLine(hint("enter", "save"), *lines, hint("esc", "leave it"))

    def _field(self) -> ComposeResult:
        match self._kind:
            case OneOf(words):
                yield self._choices(words, str(self._value))
            case Switch():
                yield self._choices(("true", "false"), str(bool(self._value)).lower())
            case Rules():
                rules = self._value if isinstance(self._value, tuple) else ()
                field = Field("\n".join(rules), compact=True, tab_behavior="focus")
                field.highlight_cursor_line = field.cursor_blink = False
                yield field
            case Secret():
                there = "type another one; the one that is set is not shown"
                hint = there if self._value else "paste it; it is not shown"
                yield Input(placeholder=hint, password=True, compact=True)
            case _:
                yield Input(_as_text(self._value), placeholder=self._kind.expected, compact=True)

    def _choices(self, words: tuple[str, ...], current: str) -> OptionList:
        options = OptionList(
            *(
                Option(Content.styled(word, "bold $primary" if word == current else ""), id=word)
                for word in words
            ),
            markup=False,
            compact=True,
        )
        options.highlighted = words.index(current) if current in words else 0
        return options

    def on_mount(self) -> None:
        """Give the field the keys."""
        self.query_one("#problem").display = False
        for field in self.query(Field):
            field.move_cursor(field.document.end)
        self.query("Input, OptionList, Field").focus()

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Take a word."""
        self._take(event.option.id or "")

    @on(Input.Submitted)
    def take_line(self, event: Input.Submitted) -> None:
        """Take a line, if it is one that a file may have."""
        self._take(event.value)

    def action_done(self) -> None:
        """Take the lines."""
        self._take(self.query_one(Field).text)

    def _take(self, text: str) -> None:
        value = self._kind.typed(text)
        try:
            self._kind(value)
        except (ValueError, TypeError) as error:
            problem = self.query_one("#problem", Static)
            problem.update(Content.styled(literal(f"It must be {error}."), "$error"))
            problem.display = True
            return
        self.dismiss(New(value))


def _as_text(value: Value) -> str:
    """Return a value as a person types it."""
    match value:
        case None:
            return ""
        case tuple():
            return shlex.join(value)
        case _:
            return str(value)
