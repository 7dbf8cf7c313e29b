"""What an empty thread shows: where one is, and how to begin."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from todo_agent.tui.text import fit, fit_left, literal

KEYS = (
    ("/", "commands"),
    ("@", "name a file"),
    ("!", "run a command yourself"),
    ("?", "all keys"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session is."""

    cwd: str = ""
    model: str = ""
    scripted: bool = False


class Banner(Widget):
    """Shown until the first message."""

    def __init__(self) -> None:
        super().__init__()
        self._place = Place()

    def show(self, place: Place) -> None:
        """Show where the session is."""
        self._place = place
        self.refresh(layout=True)

    def render(self) -> Content:
        """Return name, place and first keys."""
        place, width = self._place, max(self.content_size.width, 1)
        lines = [Content.styled("todo-agent", "bold $primary")]
        if place.cwd:
            lines.append(Content.styled(fit_left(literal(place.cwd), width), "$muted"))
        if place.scripted:
            text = "The model is scripted: a demonstration, offline. Files and tools are real."
            lines.append(Content.styled(text, "$warning"))
        elif place.model:
            lines.append(Content.styled(fit(literal(place.model), width), "$muted"))
        lines.append(Content(""))
        lines.extend(Content.assemble((f"{key}  ", "bold"), (what, "$muted")) for key, what in KEYS)
        return Content("\n").join(lines)
