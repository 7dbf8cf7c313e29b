"""Puts a question of the agent to the person."""

from __future__ import annotations

import time

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from todo_agent.agent.outcomes import Answer, Question
from todo_agent.tui.screens import approval
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import first_line, literal
from todo_agent.tui.widgets.key_line import KeyLine, hint

MOVES = {"up": "cursor_up", "down": "cursor_down"}


class AskScreen(Sheet[Answer]):
    """Returns the answer: one of the choices, by its number too, or words of one's own.

    Keys that were on their way when it opened go back to the prompt.
    """

    AUTO_FOCUS = ""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self._question = question
        self._quiet_since = float("inf")

    @property
    def question_id(self) -> str:
        """The question it puts."""
        return self._question.id

    def compose(self) -> ComposeResult:
        """Lay out question, choices and field."""
        choices = self._question.choices
        with Vertical(classes="sheet"):
            text = literal(self._question.text, lines=True)
            yield Static(Content.styled(text, "bold"), id="question-text", markup=False)
            options = OptionList(
                *(Option(_line(i, c), id=str(i)) for i, c in enumerate(choices)),
                markup=False,
                compact=True,
            )
            options.display = bool(choices)
            yield options
            yield Input(placeholder="or say it in your own words" if choices else "", compact=True)
            numbers = [hint(f"1-{min(len(choices), 9)}", "choose")] if choices else []
            yield KeyLine(*numbers, hint("enter", "answer"), hint("esc", "no answer"))

    def on_mount(self) -> None:
        """Begin at the first choice, and the time in which keys do not count."""
        options = self.query_one(OptionList)
        options.highlighted = 0 if self._question.choices else None
        self._quiet_since = time.monotonic()
        self._listen()

    def on_key(self, event: events.Key) -> None:
        """Move in the choices or take one while the focus stays in the field."""
        field = self.query_one(Input)
        if not field.has_focus and event.time - self._quiet_since < approval.GRACE_SECONDS:
            event.stop()
            self._quiet_since = event.time
            if event.is_printable and event.character:
                self.app.post_message(approval.Stray(event.character))
        elif event.key in MOVES and self._question.choices:
            event.stop()
            getattr(self.query_one(OptionList), f"action_{MOVES[event.key]}")()
        elif not field.has_focus:
            self._take_first(event, field)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Take a number in the empty field for the choice it stands before."""
        choices = self._question.choices
        if event.value.isdecimal() and 0 < int(event.value) <= min(len(choices), 9):
            self.dismiss(Answer(approved=True, text=choices[int(event.value) - 1]))

    def _listen(self) -> None:
        """Give the field the keys, unless somebody is typing still."""
        if not self.is_attached or self.query_one(Input).has_focus:
            return
        wait = approval.GRACE_SECONDS - (time.monotonic() - self._quiet_since)
        if wait > 0:
            self.set_timer(wait, self._listen)
        else:
            self.query_one(Input).focus()

    def _take_first(self, event: events.Key, field: Input) -> None:
        """Let the field have the first key that counts."""
        field.focus()
        if event.is_printable and event.character:
            field.insert_text_at_cursor(event.character)
        elif event.key == "enter":
            field.post_message(Input.Submitted(field, field.value))

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Answer with a choice."""
        self.dismiss(Answer(approved=True, text=self._question.choices[event.option_index]))

    @on(Input.Submitted)
    def say(self, event: Input.Submitted) -> None:
        """Answer with words, or with the highlighted choice where there are none."""
        if event.value.strip():
            self.dismiss(Answer(approved=True, text=event.value.strip()))
        elif self._question.choices:
            self.query_one(OptionList).action_select()

    def action_close(self) -> None:
        """Give no answer."""
        self.dismiss(Answer(approved=False))


def _line(index: int, choice: str) -> Content:
    """Return a choice with its number, as far as there are keys for numbers."""
    number = f"{index + 1}  " if index < 9 else "   "
    return Content.assemble((number, "bold $primary"), first_line(choice)[0])
