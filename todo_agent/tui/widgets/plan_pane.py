"""The plan beside the conversation: always in view, and editable by hand."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from todo_agent.plan.plan import Plan
from todo_agent.tui.progress import Progress, bar, change
from todo_agent.tui.themes import Marks
from todo_agent.tui.widgets.plan_list import PlanList


class PlanPane(Vertical):
    """Head, bar and list of the plan; a click or a key on the list edits it."""

    plan: reactive[Plan] = reactive(Plan())

    def __init__(self, marks: Marks, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._marks = marks
        self._change = ""
        self._head = Static(id="plan-head", markup=False)
        self._bar = Static(id="plan-bar", markup=False)
        self._list = PlanList(marks, clock)
        self._foot = Static(id="plan-foot", markup=False)

    @property
    def todos(self) -> PlanList:
        """The list, to give it the focus."""
        return self._list

    def compose(self) -> ComposeResult:
        """Lay out head, bar, list and foot."""
        yield self._head
        yield self._bar
        yield self._list
        yield self._foot

    def on_mount(self) -> None:
        """Keep the foot true while the list scrolls."""
        self.watch(self._list, "scroll_y", self._show_foot, init=False)
        self.watch(self._list, "has_focus", self._show_foot, init=False)

    def watch_plan(self, before: Plan, after: Plan) -> None:
        """Show another plan."""
        self._change = change(before, after) if before.todos else ""
        self._list.plan = after
        self._show_head()
        self.call_after_refresh(self._show_foot)

    def on_resize(self, event: events.Resize) -> None:
        """Draw the bar for another width."""
        self._show_head()
        self.call_after_refresh(self._show_foot)

    def show_paused(self, *, paused: bool) -> None:
        """Mark the current todo as resting, or as being worked on."""
        self._list.paused = paused

    def tick(self) -> None:
        """Show the time of the current todo."""
        self._list.tick()

    def _show_head(self) -> None:
        progress = Progress.of(self.plan)
        width = max(self.content_size.width, 1)
        space = max(width - len("Plan") - len(progress.label), 1)
        self._head.update(
            Content.assemble(("Plan", "bold"), " " * space, (progress.label, "$muted"))
        )
        self._bar.update(bar(progress, width, self._marks))

    def _show_foot(self) -> None:
        hidden = self._list.hidden_below
        more = f"+{hidden} more {self._marks.more}" if hidden else ""
        if self._list.has_focus:
            more = "a add  e edit  u undo  ? keys"
        parts = [part for part in (more, self._change) if part]
        self._foot.update(Content.styled(f" {self._marks.dot} ".join(parts), "$muted"))
        self._foot.display = bool(parts)
