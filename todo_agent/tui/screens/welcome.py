"""What the program offers where there is no model to ask yet."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.widgets.key_line import KeyLine, hint


class Start(Enum):
    """A way to begin."""

    DEMO = "Play the demo now"
    KEY = "Enter an API key"
    SERVER = "Use a server of your own"
    VARIABLE = "Set a variable in your shell"


ABOUT = {
    Start.DEMO: "offline, no key: a scripted model mends a small project",
    Start.KEY: "kept in your configuration file, readable by you alone",
    Start.SERVER: "local or a gateway: anything that speaks the Messages API",
    Start.VARIABLE: "export ANTHROPIC_API_KEY=... and start again",
}

ROOMY = 20
"""From so many rows on, there is room to say what each way means."""


class Welcome(Sheet[Start]):
    """Returns the way that was chosen, or None to look around first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(str(number), f"choose({number})", way.value, show=False)
        for number, way in enumerate(Start, 1)
    ]

    def compose(self) -> ComposeResult:
        """Lay out the sentence and the ways."""
        with Vertical(classes="sheet"):
            yield Static(Content.styled("Welcome. How do you want to begin?", "bold"), markup=False)
            text = "There is no API key yet, so no model can be asked."
            yield Static(Content.styled(text, "$muted"), markup=False)
            yield OptionList(
                *(
                    Option(_lines(number, way, whole=self.app.size.height >= ROOMY), id=way.name)
                    for number, way in enumerate(Start, 1)
                ),
                markup=False,
                compact=True,
            )
            yield KeyLine(
                hint("1-4", "choose"), hint("esc", "look around; /connect comes back here")
            )

    def on_mount(self) -> None:
        """Begin at the first way."""
        options = self.query_one(OptionList)
        options.highlighted = 0
        options.focus()

    @on(OptionList.OptionSelected)
    def take(self, event: OptionList.OptionSelected) -> None:
        """Return the chosen way."""
        self.dismiss(Start[event.option.id or ""])

    def action_choose(self, number: int) -> None:
        """Return a way by its number."""
        self.dismiss(list(Start)[number - 1])


def _lines(number: int, way: Start, *, whole: bool) -> Content:
    about = f"\n   {ABOUT[way]}" if whole else ""
    return Content.assemble((f"{number}  ", "bold $primary"), way.value, (about, "$muted"))
