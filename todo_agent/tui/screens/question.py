"""Puts a question of the agent to the person."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from todo_agent.agent.outcomes import Answer, Question
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import first_line, literal

MOVES = {"up": "cursor_up", "down": "cursor_down"}


class AskScreen(Sheet[Answer]):
    """Returns the answer: one of the choices, or words of one's own."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self._question = question

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
                *(Option(Content(first_line(c)[0]), id=str(i)) for i, c in enumerate(choices)),
                markup=False,
                compact=True,
            )
            options.display = bool(choices)
            yield options
            yield Input(placeholder="or say it in your own words" if choices else "", compact=True)
            keys = "enter answer  esc no answer"
            yield Static(Content.styled(keys, "$muted"), classes="keys", markup=False)

    def on_mount(self) -> None:
        """Begin at the first choice, or in the field."""
        options = self.query_one(OptionList)
        options.highlighted = 0 if self._question.choices else None
        self.query_one(Input).focus()

    def on_key(self, event: events.Key) -> None:
        """Move in the choices while the focus stays in the field."""
        if event.key in MOVES and self._question.choices:
            event.stop()
            getattr(self.query_one(OptionList), f"action_{MOVES[event.key]}")()

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
