"""The rules in force, each with where it comes from; the person's own can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from todo_agent.agent.modes import Mode
from todo_agent.middleware.rules import Decision, Rule, RuleError
from todo_agent.tui.screens.config_form import Said
from todo_agent.tui.screens.edit_text import EditText
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import fit, fit_left, literal
from todo_agent.tui.widgets.key_line import KeyLine, hint

STYLES = {Decision.ALLOW: "$success", Decision.ASK: "$primary", Decision.DENY: "$error"}
NEW_RULE = "allow run "
WIDTH_OF_DECISION = 6


class Origin(Enum):
    """Who made a rule, and so who may take it back."""

    OWN = "own"
    """It stands in the person's file."""
    SESSION = "session"
    """ "Always" allowed it, until the session ends."""
    FIXED = "fixed"
    """It is built in, a project's, or was given at the start."""


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule in force."""

    rule: Rule
    origin: Origin
    source: str
    """Where it comes from, for a person."""


class PermissionsSheet(Sheet[None]):
    """The list of rules. What is to change it asks for with messages."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "Add a rule"),
        Binding("d,delete", "remove", "Remove"),
        Binding("s", "keep", "Keep in the configuration"),
        Binding("m", "mode", "Mode"),
        Binding("q", "close", "Close", show=False),
    ]

    class Add(Message):
        """A rule is to be added to the person's own."""

        def __init__(self, rule: Rule) -> None:
            super().__init__()
            self.rule = rule

    class Remove(Message):
        """A rule is to be taken back."""

        def __init__(self, row: RuleRow) -> None:
            super().__init__()
            self.row = row

    class ChangeMode(Message):
        """Another mode is wanted."""

    def __init__(self, rows: Sequence[RuleRow], mode: Mode) -> None:
        super().__init__()
        self._rows = tuple(rows)
        self._mode = mode

    def compose(self) -> ComposeResult:
        """Lay out the mode, the rules, what came of a change, and the keys."""
        with Vertical(classes="sheet -card"):
            yield Static(id="mode", markup=False)
            yield OptionList(markup=False, compact=True)
            yield Static(id="said", markup=False)
            yield KeyLine()

    def on_mount(self) -> None:
        """Give the list the keys."""
        self.query_one("#said").display = False
        self.query_one(OptionList).focus()
        self.call_after_refresh(self._show)

    def on_resize(self) -> None:
        """Fit the rules into another width."""
        self.call_after_refresh(self._show)

    def show(self, rows: Sequence[RuleRow], mode: Mode, said: Said) -> None:
        """Show the rules as they are now, and what came of the change."""
        self._rows, self._mode = tuple(rows), mode
        self._show()
        line = self.query_one("#said", Static)
        line.update(Content.styled(literal(said.text), "$error" if said.wrong else "$success"))
        line.display = bool(said.text)

    def action_add(self) -> None:
        """Ask for a rule."""
        self._ask_rule(NEW_RULE, "")

    def action_remove(self) -> None:
        """Take the chosen rule back, if it is the person's."""
        row = self._chosen
        if row is not None and row.origin is not Origin.FIXED:
            self.post_message(self.Remove(row))

    def action_keep(self) -> None:
        """Write the chosen rule of the session into the configuration."""
        row = self._chosen
        if row is not None and row.origin is Origin.SESSION:
            self.post_message(self.Add(row.rule))

    def action_mode(self) -> None:
        """Ask for another mode."""
        self.post_message(self.ChangeMode())

    @on(OptionList.OptionHighlighted)
    def look(self) -> None:
        """Say which keys work on the chosen rule."""
        row = self._chosen
        hints = [("a", "add")]
        if row is not None and row.origin is not Origin.FIXED:
            hints.append(("d", "remove"))
        if row is not None and row.origin is Origin.SESSION:
            hints.append(("s", "keep for good"))
        hints += [("m", "mode"), ("esc", "close")]
        self.query_one(KeyLine).show([hint(key, what) for key, what in hints])

    @property
    def _chosen(self) -> RuleRow | None:
        at = self.query_one(OptionList).highlighted
        return None if at is None or at >= len(self._rows) else self._rows[at]

    def _ask_rule(self, text: str, problem: str) -> None:
        title = problem or "New rule: allow, ask or deny; read, write, run, fetch or invoke; what"

        def typed(line: str | None) -> None:
            if line is None:
                return
            word, _, rest = line.strip().partition(" ")
            if word.upper() not in Decision.__members__:
                self._ask_rule(line, f"A rule begins with allow, ask or deny, not {word!r}.")
                return
            try:
                rule = Rule.parse(Decision[word.upper()], rest)
            except RuleError as error:
                self._ask_rule(line, str(error))
                return
            self.post_message(self.Add(rule))

        sheet = EditText(literal(title), text)
        left, right = self.free
        sheet.leave_free(left=left, right=right)
        self.app.push_screen(sheet, typed)

    def _show(self) -> None:
        head = Content.assemble(
            ("Permissions", "bold"),
            (f"  mode {self._mode.value}: where no rule decides", "$muted"),
        )
        self.query_one("#mode", Static).update(head)
        options = self.query_one(OptionList)
        at = options.highlighted or 0
        width = max(options.size.width - 2, 20)
        options.clear_options()
        options.add_options(Option(_line(row, width)) for row in self._rows)
        options.highlighted = min(at, len(self._rows) - 1) if self._rows else None


def _line(row: RuleRow, width: int) -> Content:
    """Return a rule as one line: what it decides, about what, and whose it is."""
    rule = row.rule
    decision = rule.decision.name.lower().ljust(WIDTH_OF_DECISION)
    text = literal(f"{rule.kind} {rule.given or rule.pattern}")
    source = fit_left(literal(row.source), max(width // 3, 12))
    room = width - WIDTH_OF_DECISION - len(source) - 2
    left = Content.assemble((decision, STYLES[rule.decision]), fit(text, max(room, 10)))
    gap = width - left.cell_length - len(source)
    return Content.assemble(left, " " * gap, (source, "$muted")) if gap > 0 else left
