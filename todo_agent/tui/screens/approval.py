"""Asks whether a call may run: everything of it can be read, and the default is no."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from todo_agent.agent.outcomes import Answer, Question
from todo_agent.tui import diff
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import count, literal, suspicions
from todo_agent.tui.widgets.key_line import KeyLine

GRACE_SECONDS = 0.4
"""Keys this soon after it appeared, or after one another, were meant for the prompt."""
SHARE = 0.9
"""Of the screen's height, for the dialog."""
NO = Answer(approved=False)


class Stray(Message):
    """A character that was typed for the prompt, not for the dialog."""

    def __init__(self, character: str) -> None:
        super().__init__()
        self.character = character


class Object(VerticalScroll, can_focus=True):
    """The whole command or diff."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "page_down", show=False)]


class Approval(Sheet[Answer]):
    """Returns the answer. `a` is there only where the question offers a rule."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "Yes, once"),
        Binding("a", "always", "Always"),
        Binding("n,escape,ctrl+c", "no", "No"),
        Binding("e", "explain", "No, and say why"),
    ]

    def __init__(self, question: Question, *, place: str, waiting: int) -> None:
        """Show a question about a call in a directory; `waiting` more come after it."""
        super().__init__()
        self._place = place
        self._question = question
        self._more = waiting
        self._quiet_since = float("inf")
        self._ready = False
        self._seen = False
        self._room = 0

    @property
    def question_id(self) -> str:
        """The question it puts."""
        return self._question.id

    def compose(self) -> ComposeResult:
        """Lay out the question, its object, what is suspicious about it, and the keys."""
        question = self._question
        body = question.preview.body if question.preview else ""
        found = suspicions(f"{question.tool} {question.title} {body}")
        with Vertical(classes="sheet", id="approval"):
            head = _heading(question, self._place, self._more)
            yield Static(head, id="approval-head", markup=False)
            if question.text:
                reason = literal(question.text, lines=True)
                yield Static(Content.styled(reason, "$muted"), id="approval-reason", markup=False)
            with Object():
                yield Static(_content(question), markup=False)
            for warning in found:
                yield Static(Content.styled(f"! {warning}", "bold $warning"), markup=False)
            yield Static(id="approval-more", markup=False)
            yield KeyLine()
            words = Input(placeholder="what should it do instead?", compact=True)
            words.display = False
            yield words

    def on_mount(self) -> None:
        """Begin the time in which keys do not count."""
        self._quiet_since = time.monotonic()
        scroll = self.query_one(Object)
        scroll.focus()
        self.watch(scroll, "scroll_y", self._look, init=False)
        self.call_after_refresh(self._fit)

    def on_resize(self) -> None:
        """See what is hidden at another size."""
        self.call_after_refresh(self._fit)

    def on_key(self, event: events.Key) -> None:
        """Hand keys that come too soon back to the prompt."""
        if self._ready:
            return
        if event.time - self._quiet_since >= GRACE_SECONDS:
            self._ready = True
            return
        event.stop()
        self._quiet_since = max(event.time, self._quiet_since)
        if event.is_printable and event.character:
            self.app.post_message(Stray(event.character))

    def action_yes(self) -> None:
        """Allow this call, if all of it was seen."""
        self._allow(Answer(approved=True))

    def action_always(self) -> None:
        """Allow it and remember the rule."""
        if self._question.rule:
            self._allow(Answer(approved=True, always=True))

    def action_no(self) -> None:
        """Refuse, or leave the field for the words."""
        self.dismiss(NO)

    def action_explain(self) -> None:
        """Open the field for what to do instead."""
        words = self.query_one(Input)
        words.display = True
        words.focus()

    @on(Input.Submitted)
    def refuse_with_words(self, event: Input.Submitted) -> None:
        """Refuse, and tell the model why."""
        self.dismiss(Answer(approved=False, text=event.value.strip()))

    def _allow(self, answer: Answer) -> None:
        if self._seen:
            self.dismiss(answer)
            return
        self.query_one(Object).action_page_down()

    def _fit(self) -> None:
        """Give the object what the other rows leave, so that the keys are always in view."""
        scroll, sheet = self.query_one(Object), self.query_one("#approval")
        others = sheet.gutter.height + scroll.styles.margin.height
        others += sum(
            max(child.outer_size.height, 1) + child.styles.margin.height
            for child in sheet.children
            if child is not scroll and (child.display or child.id == "approval-more")
        )
        self._room = max(int(self.size.height * SHARE) - others, 1)
        scroll.styles.max_height = self._room
        self._look()

    def _look(self) -> None:
        """See whether the end is in view."""
        if not self._room:
            return
        scroll = self.query_one(Object)
        below = scroll.virtual_size.height - int(scroll.scroll_y) - self._room
        self._seen = self._seen or below <= 0
        more = self.query_one("#approval-more", Static)
        more.display = below > 0
        more.update(Content.styled(f"↓ {count(below, 'more line')}  space scrolls", "$warning"))
        self.query_one(KeyLine).show(self._keys())

    def _keys(self) -> list[Content]:
        no = [_hint("n", "no"), _hint("e", "no, and say why")]
        if not self._seen:
            return [*no, Content.styled("read to the end to allow it", "$muted")]
        yes = [Content.assemble(("y", "bold $success"), (" yes, once", "$muted"))]
        if self._question.rule:
            yes.append(_hint("a", f"always: {literal(self._question.rule)}"))
        return yes + no


def _hint(key: str, what: str) -> Content:
    return Content.assemble((key, "bold"), (f" {what}", "$muted"))


def _heading(question: Question, place: str, waiting: int) -> Content:
    tool = literal(question.tool)
    where = f"  in {literal(place)}" if place else ""
    more = f"  {waiting} more after this" if waiting else ""
    return Content.assemble(
        ("Allow ", "bold"), (tool, "bold $accent"), ("?", "bold"), (where + more, "$muted")
    )


def _content(question: Question) -> Content:
    preview = question.preview
    if preview is None or not preview.body:
        return Content(literal(question.title.rstrip("\n"), lines=True))
    if preview.kind != "diff":
        return Content(literal(preview.body.rstrip("\n"), lines=True))
    path = literal(preview.path or question.title)
    return Content("\n").join([Content.styled(path, "bold"), *diff.render(preview.body)])
