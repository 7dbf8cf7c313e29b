"""The plan as it was: its versions, newest first, and the way back to one of them."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from todo_agent.plan.history import History, Version
from todo_agent.plan.plan import Plan, Status
from todo_agent.tui.progress import Progress, change
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import ago, first_line, fit
from todo_agent.tui.themes import Marks

AUTHORS = {"model": "the agent", "user": "you", "restore": "brought back"}
MAX_SHOWN = 12
"""The most todos of a version that are shown."""
LINES_AROUND = 3
MARGIN = 8
NO_CHANGE = "put into another order"


class PlanHistory(Sheet[Plan]):
    """Returns the plan to bring back, or None."""

    def __init__(self, history: History, marks: Marks, *, now: float) -> None:
        """Show versions, the last of which is the plan of now; `now` in seconds since 1970."""
        super().__init__()
        self._versions = history[::-1]
        self._marks = marks
        self._now = now

    def compose(self) -> ComposeResult:
        """Lay out the versions, and the todos of the chosen one."""
        with Vertical(classes="sheet -card"):
            yield Static(Content.styled("Versions of the plan", "bold"), markup=False)
            options = OptionList(markup=False, compact=True)
            before = [*self._versions[1:], None]
            for version, earlier in zip(self._versions, before, strict=True):
                options.add_option(Option(self._line(version, earlier)))
            options.highlighted = min(1, len(self._versions) - 1)
            yield options
            yield Static(id="version", markup=False)
            keys = "enter bring it back  esc close"
            yield Static(Content.styled(keys, "$muted"), classes="keys", markup=False)

    @on(OptionList.OptionHighlighted)
    def show_version(self, event: OptionList.OptionHighlighted) -> None:
        """Show the todos of a version."""
        todos = self._versions[event.option_index].plan.todos
        room = max(min(MAX_SHOWN, self.size.height // 2 - LINES_AROUND), 1)
        rows = [self._row(todo.content, todo.status) for todo in todos[:room]]
        if len(todos) > room:
            rows.append(Content.styled(f"+{len(todos) - room} more", "$muted"))
        shown = rows or [Content.styled("no todos", "$muted")]
        self.query_one("#version", Static).update(Content("\n").join(shown))

    @on(OptionList.OptionSelected)
    def pick(self, event: OptionList.OptionSelected) -> None:
        """Return the plan of the chosen version."""
        self.dismiss(self._versions[event.option_index].plan)

    def _line(self, version: Version, before: Version | None) -> Content:
        changed = change(before.plan if before else Plan(), version.plan) or NO_CHANGE
        now = "now" if version is self._versions[0] else ago(self._now - version.at)
        head = f"{now:<9} {Progress.of(version.plan).label:>5}  "
        detail = fit(f"{AUTHORS[version.by]}, {changed}", self._width - len(head))
        return Content.assemble(head, (detail, "$muted"))

    def _row(self, content: str, status: Status) -> Content:
        mark, style = {
            Status.DONE: (self._marks.done, "$success"),
            Status.ACTIVE: (self._marks.active, "$accent"),
            Status.PENDING: (self._marks.pending, "$muted"),
        }[status]
        text = fit(first_line(content)[0], self._width - 2)
        return Content.assemble((f"{mark} ", style), text)

    @property
    def _width(self) -> int:
        """How many columns a line has, at least."""
        return max(self.app.size.width - sum(self._free) - MARGIN, 16)
