"""The plan on a narrow screen: one line above the prompt."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from todo_agent.plan.plan import Plan, Status
from todo_agent.tui.progress import Progress, bar
from todo_agent.tui.text import fit
from todo_agent.tui.themes import Marks

BAR_CELLS = 8


class PlanStrip(Widget):
    """`▶ run the tests            3/7 ━━━───`; a click opens the whole plan."""

    plan: reactive[Plan] = reactive(Plan())
    paused: reactive[bool] = reactive(default=False)

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self._marks = marks

    async def on_click(self) -> None:
        """Open or close the whole plan."""
        await self.run_action("app.toggle_plan")

    def render(self) -> Content:
        """Return the line."""
        progress, marks = Progress.of(self.plan), self._marks
        width = self.content_size.width
        tail = Content.assemble(
            (f"{progress.label} ", "$muted"),
            bar(progress, BAR_CELLS if width >= 30 else 0, marks),
        )
        active = any(todo.status is Status.ACTIVE for todo in self.plan.todos)
        mark, text = marks.pending, progress.current
        if progress.done == progress.total:
            mark, text = marks.done, "all done"
        elif active:
            mark = marks.paused if self.paused else marks.active
        room = width - len(mark) - 2 - tail.cell_length
        text = fit(text, room)
        head = Content.assemble((mark, "$accent" if active else "$success"), " ", text)
        return Content.assemble(head, " " * (width - head.cell_length - tail.cell_length), tail)
