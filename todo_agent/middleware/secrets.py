"""Keeps keys out of the conversation: what a tool returns is masked before it is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from todo_agent.agent.messages import Display, Image, Opaque, Text
from todo_agent.agent.middleware import CallContext, CallTool, Middleware
from todo_agent.agent.tools import Error, Outcome, Success, ToolCall
from todo_agent.masking import Masking

Content: TypeAlias = str | tuple[Text | Image | Opaque, ...]


class Secrets(Middleware):
    """Masks keys in what tools return: for the model, the screen and the disk alike.

    Args:
        known: secrets to mask wherever they occur, such as the program's own key. Besides
            them, keys of well-known shapes are masked.
    """

    name = "secrets"

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.mask = Masking(known)
        """Masks the same secrets in a text."""

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        """Mask the outcome of a call."""
        return self.masked(await call_next(call))

    def masked(self, outcome: Outcome) -> Outcome:
        """Return an outcome with every secret masked."""
        match outcome:
            case Success(content, display=display):
                masked = self._content(content)
                return replace(outcome, content=masked, display=self._display(display))
            case Error(message, display):
                return replace(outcome, message=self.mask(message), display=self._display(display))
            case _:
                return outcome

    def _content(self, content: Content) -> Content:
        if isinstance(content, str):
            return self.mask(content)
        return tuple(
            replace(part, text=self.mask(part.text)) if isinstance(part, Text) else part
            for part in content
        )

    def _display(self, display: Display | None) -> Display | None:
        if display is None:
            return None
        return replace(display, summary=self.mask(display.summary), body=self.mask(display.body))
