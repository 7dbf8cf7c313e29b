"""What goes back: the conversation, the plan, files, with what each would mean."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from todo_agent.rewind import Preview, Scope
from todo_agent.tui.progress import change
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.text import count, first_line
from todo_agent.tui.themes import Marks
from todo_agent.tui.widgets.key_line import KeyLine, hint

NOTHING = Scope(conversation=False, plan=False, files=False)


class Rewind(Sheet[Scope]):
    """Returns what is to go back, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "choose('conversation')", "The conversation goes back, or stays"),
        Binding("p", "choose('plan')", "The plan goes back, or stays"),
        Binding("f", "choose('files')", "Files go back, or stay"),
        Binding("enter", "go", "Go back"),
    ]

    def __init__(self, preview: Preview, marks: Marks, *, cwd: Path) -> None:
        """Show a preview; files inside `cwd` are named as seen from there."""
        super().__init__()
        self._cwd = cwd
        self._preview = preview
        self._marks = marks
        self._scope = Scope()

    def compose(self) -> ComposeResult:
        """Lay out the message, the three parts, and the keys."""
        with Vertical(classes="sheet -card"):
            yield Static(Content.styled("Go back to before", "bold"), markup=False)
            message, _ = first_line(self._preview.turn.moment.text)
            yield Static(Content.styled(message, "$muted"), classes="what", markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(id="scope", markup=False)
            yield KeyLine(
                hint("c p f", "choose"), hint("enter", "go back"), hint("esc", "leave it")
            )

    def on_mount(self) -> None:
        """Show the parts, all of them chosen."""
        self._show()

    def action_choose(self, part: str) -> None:
        """Let a part go back, or stay."""
        self._scope = replace(self._scope, **{part: not getattr(self._scope, part)})
        self._show()

    def action_go(self) -> None:
        """Return what is chosen, if anything is."""
        if self._scope != NOTHING:
            self.dismiss(self._scope)

    def _show(self) -> None:
        scope = self._scope
        rows = [
            self._row("conversation", self._conversation(), chosen=scope.conversation),
            self._row("plan", self._plan(), chosen=scope.plan),
            self._row("files", self._files(), chosen=scope.files),
        ]
        self.query_one("#scope", Static).update(Content("\n").join(rows))

    def _row(self, part: str, what: str, *, chosen: bool) -> Content:
        mark = self._marks.done if chosen else self._marks.pending
        style = "$success" if chosen else "$muted"
        name = Content.assemble((part[0], "bold underline"), part[1:])
        return Content.assemble((f"{mark} ", style), name, (f"  {what}", "$muted"))

    def _conversation(self) -> str:
        return f"{count(self._preview.messages, 'message')} stay in this thread, a branch begins"

    def _plan(self) -> str:
        return change(self._preview.plan, self._preview.turn.before) or "it was the same"

    def _files(self) -> str:
        preview = self._preview
        rows = [
            f"\n    {self._shown_path(Path(file.path))}  {file.summary}" for file in preview.files
        ]
        rows += [
            f"\n    {self._shown_path(path)}  stays: somebody else changed it too"
            for path in preview.conflicts
        ]
        return "".join(rows) if rows else "none were changed"

    def _shown_path(self, path: Path) -> str:
        inside = path.is_relative_to(self._cwd)
        return first_line(str(path.relative_to(self._cwd) if inside else path))[0]
