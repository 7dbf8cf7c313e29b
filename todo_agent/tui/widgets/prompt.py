"""The draft: multi-line, with history, folded pastes, and safe from pasted Enter keys."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import TextArea

from todo_agent.tui.text import TAB_CELLS, count

BURST_SECONDS = 0.03
"""Keys closer together than this come from a paste, not from fingers."""
FOLD_LINES = 20
FOLD_CHARS = 2_000
"""A paste beyond one of these is folded to a marker; sending expands it."""
MIN_CELLS = 2
NEW_LINE_KEYS = frozenset(
    f"{modifier}+{enter}" for modifier in ("shift", "alt", "ctrl") for enter in ("enter", "\r")
) | {"ctrl+j"}

_MARKER = re.compile(r"\[pasted text #(\d+), [^\]\n]*\]")


@dataclass
class _Burst:
    """Keys that arrived so close together that a person cannot have typed them."""

    last: float = float("-inf")
    enters: int = 0

    def add(self, at: float) -> None:
        if at - self.last > BURST_SECONDS:
            self.enters = 0
        self.last = at


class Prompt(TextArea):
    """The text area in which a person writes.

    Enter sends. Many terminals paste without saying so, as plain keys: there, an Enter with
    more keys right behind it, or with an earlier Enter right before it, is a new line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "older", "Older", show=False),
        Binding("down", "newer", "Newer", show=False),
        Binding("pageup", "app.page(-1)", "Scroll up", show=False),
        Binding("pagedown", "app.page(1)", "Scroll down", show=False),
        Binding("tab", "app.next_place", "Plan, conversation", show=False, id="next_place"),
        Binding("shift+tab", "app.next_mode", "Next permission mode", show=False, id="next_mode"),
        Binding("ctrl+underscore", "undo", "Undo", show=False),
    ]

    class Submitted(Message):
        """The draft is to be sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class CompletionKey(Message):
        """A key for the open list of completions: up, down, tab, enter or escape."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, placeholder: str) -> None:
        super().__init__(
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            compact=True,
            highlight_cursor_line=False,
            placeholder=placeholder,
        )
        self.cursor_blink = False
        self.completing = False
        """Whether a list of completions is open and wants some of the keys."""
        self._burst = _Burst()
        self._sending: Timer | None = None
        self._pastes: list[str] = []
        self._texts: list[str] = []
        self._at: int | None = None
        self._draft = ""

    @property
    def draft(self) -> str:
        """The whole draft, with folded pastes expanded."""
        return _MARKER.sub(self._expand, self.text)

    def render_line(self, y: int) -> Strip:
        """Return one line; on a screen without room for a letter, an empty one."""
        if self.content_size.width < MIN_CELLS:
            return Strip.blank(self.content_size.width)
        return super().render_line(y)

    def set_history(self, texts: Sequence[str]) -> None:
        """Offer earlier texts on Up, oldest first."""
        self._texts = [*texts, *self._texts]

    def remember(self, text: str) -> None:
        """Offer a text that was just sent on Up."""
        if not self._texts or self._texts[-1] != text:
            self._texts.append(text)
        self._at = None

    def put(self, text: str) -> None:
        """Make a text the draft, with the cursor at its end."""
        self._stop_sending()
        self.text = self._folded(text)
        self.move_cursor(self.document.end)

    def take(self) -> str:
        """Return the whole draft and clear it."""
        text = self.draft
        self.put("")
        self._pastes.clear()
        self._at = None
        return text

    @property
    def before_cursor(self) -> str:
        """The text of the draft before the cursor."""
        return self.get_text_range((0, 0), self.cursor_location)

    def complete(self, text: str) -> None:
        """Put a completion in the place of the word before the cursor."""
        row, column = self.cursor_location
        line = self.document.get_line(row)[:column]
        start = max(line.rfind(" "), line.rfind("\t")) + 1
        self.replace(text, (row, start), (row, column))

    async def on_key(self, event: events.Key) -> None:
        """Tell sending from writing."""
        self._burst.add(event.time)
        if self._sending is not None:
            self._stop_sending()
            self._burst.enters += 1
            self.insert("\n")
        if await self._took(event.key):
            event.prevent_default()
            event.stop()

    async def _took(self, key: str) -> bool:
        if (
            key in NEW_LINE_KEYS
            or (key == "enter" and self._after_backslash())
            or (key == "enter" and self._burst.enters)
        ):
            self.insert("\n")
        elif key == "enter":
            self._arm()
        elif self.completing and key in ("up", "down", "tab", "escape"):
            self.post_message(self.CompletionKey(key))
        elif key == "ctrl+c" and not self.selected_text:
            await self.run_action("app.cancel")
        elif key == "ctrl+d" and not self.text:
            await self.run_action("app.quit")
        elif key == "ctrl+z":
            await self.run_action("app.suspend_process")
        elif key == "question_mark" and not self.text:
            await self.run_action("app.help")
        elif key in ("home", "end") and not self.text:
            await self.run_action(f"app.scroll_{key}")
        else:
            return False
        return True

    async def on_paste(self, event: events.Paste) -> None:
        """Take a paste as one piece of the draft; a huge one as a marker."""
        event.prevent_default()
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        self._stop_sending()
        self.insert(self._folded(text.expandtabs(TAB_CELLS)))

    def action_older(self) -> None:
        """Move up, or from the first line to an earlier text."""
        first = self.navigator.is_first_wrapped_line(self.cursor_location)
        if not first or not self._texts or self._at == 0:
            self.action_cursor_up()
            return
        if self._at is None:
            self._draft, self._at = self.draft, len(self._texts)
        self._at -= 1
        self.put(self._texts[self._at])

    def action_newer(self) -> None:
        """Move down, or from the last line to a later text."""
        last = self.navigator.is_last_wrapped_line(self.cursor_location)
        if not last or self._at is None:
            self.action_cursor_down()
            return
        self._at += 1
        if self._at < len(self._texts):
            self.put(self._texts[self._at])
            return
        self._at = None
        self.put(self._draft)

    def _arm(self) -> None:
        """Send soon, unless more keys follow."""
        due = time.monotonic() + BURST_SECONDS
        self._sending = self.set_timer(BURST_SECONDS, lambda: self._send(due))

    def _send(self, due: float) -> None:
        self._sending = None
        if time.monotonic() - due > BURST_SECONDS:
            # The program was busy, so keys that followed may not have been looked at yet.
            self._arm()
        elif self.completing:
            self.post_message(self.CompletionKey("enter"))
        else:
            self.post_message(self.Submitted(self.draft))

    def _stop_sending(self) -> None:
        if self._sending is not None:
            self._sending.stop()
            self._sending = None

    def _after_backslash(self) -> bool:
        row, column = self.cursor_location
        line = self.document.get_line(row)
        if not line[:column].endswith("\\") or self._burst.enters:
            return False
        self.delete((row, column - 1), (row, column))
        return True

    def _folded(self, text: str) -> str:
        lines = text.count("\n") + 1
        if lines <= FOLD_LINES and len(text) <= FOLD_CHARS:
            return text
        self._pastes.append(text)
        size = count(lines, "line") if lines > 1 else count(len(text), "character")
        return f"[pasted text #{len(self._pastes)}, {size}]"

    def _expand(self, match: re.Match[str]) -> str:
        number = int(match[1])
        return self._pastes[number - 1] if 0 < number <= len(self._pastes) else match[0]
