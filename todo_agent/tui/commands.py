"""The commands that begin with a slash."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from todo_agent.agent.modes import Mode
from todo_agent.errors import TodoAgentError
from todo_agent.plan.plan import Plan, Status
from todo_agent.tui.configuring import Configuring
from todo_agent.tui.connecting import Connecting
from todo_agent.tui.markdown import code_blocks
from todo_agent.tui.permitting import Permitting
from todo_agent.tui.plan_edits import added, dropped, reworded, with_status
from todo_agent.tui.planning import Planning
from todo_agent.tui.rewinding import Rewinding
from todo_agent.tui.screens.changes import Changes
from todo_agent.tui.screens.picker import Choice, Picker
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.screens.theme_picker import ThemePicker
from todo_agent.tui.text import ago, first_line

if TYPE_CHECKING:
    from todo_agent.session import Session, Workbench

T = TypeVar("T")
_COMMAND = re.compile(r"/[\w-]*(?:\s|\Z)")
TODO_USAGE = (
    "/todo add TEXT · done N · start N · open N · edit N TEXT · drop N · clear · undo · history"
)


class Desk(Protocol):
    """What commands need of the app: its session, and its ways to show, ask and work."""

    # ruff: noqa: D102 -- each is documented at the app
    theme: str
    workbench: Workbench
    session: Session | None
    configuring: Configuring
    permitting: Permitting
    connecting: Connecting
    planning: Planning
    rewinding: Rewinding

    @property
    def plan(self) -> Plan: ...
    @property
    def available_themes(self) -> Mapping[str, object]: ...
    def say(self, text: str, *, level: str = "info") -> None: ...
    def open_sheet(self, sheet: Sheet[T], use: Callable[[T | None], None]) -> None: ...
    def work_on(self, work: Coroutine[object, object, object], *, group: str) -> None: ...
    def copy(self, text: str) -> None: ...
    def go_on(self) -> None: ...
    def set_mode(self, mode: Mode) -> None: ...
    def show_vitals(self) -> None: ...
    def action_help(self) -> None: ...
    def action_toggle_plan(self) -> None: ...
    def action_toggle_details(self) -> None: ...
    async def open_thread(self, thread: str | None) -> bool: ...
    async def action_quit(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `run` gets what stands behind its name."""

    name: str
    arguments: str
    what: str
    run: Callable[[str], None]
    needs_arguments: bool = False

    @property
    def title(self) -> str:
        """Its name in the palette."""
        return self.name.capitalize()

    @property
    def palette(self) -> bool:
        """Whether it can be run from the palette, without arguments."""
        return not self.needs_arguments

    def run_bare(self) -> None:
        """Run it without arguments."""
        self.run("")


class Commands:
    """All commands of an app."""

    def __init__(self, app: Desk) -> None:
        self._app = app
        self.commands = (
            Command("help", "", "Keys and commands", lambda _: app.action_help()),
            Command("plan", "", "Show or hide the plan", lambda _: app.action_toggle_plan()),
            Command(
                "todo",
                "ACTION …",
                "Edit the plan by hand",
                self._todo,
                needs_arguments=True,
            ),
            Command("continue", "", "Go on where the agent stopped", lambda _: app.go_on()),
            Command("model", "[NAME]", "Pick the model", self._model),
            Command("mode", "[NAME]", "Pick the permission mode", self._mode),
            Command("threads", "", "Open another thread", lambda _: self._threads()),
            Command("resume", "[ID]", "Open a thread by its id", self._resume),
            Command(
                "rename", "TITLE", "Give this thread a title", self._rename, needs_arguments=True
            ),
            Command("clear", "", "Start a new thread", lambda _: self._open(None)),
            Command("compact", "[WHAT TO KEEP]", "Sum up the older turns", self._compact),
            Command("rewind", "", "Go back to before a message", lambda _: app.rewinding.open()),
            Command("fork", "", "Go on in a copy of this thread", lambda _: app.rewinding.fork()),
            Command("diff", "", "Show what the agent changed", lambda _: self._work(self._diff)),
            Command("undo", "", "Undo its last changes of files", lambda _: self._work(self._undo)),
            Command("jobs", "", "List the agent's background commands", lambda _: self._jobs()),
            Command("copy", "[code]", "Copy the last answer, or its last code", self._copy),
            Command(
                "details", "", "Open or close all details", lambda _: app.action_toggle_details()
            ),
            Command("theme", "[NAME]", "Pick the colours", self._theme),
            Command(
                "permissions",
                "",
                "See and change the rules",
                lambda _: app.work_on(app.permitting.open(), group="settings"),
            ),
            Command("connect", "", "Set the key or the server", lambda _: app.connecting.open()),
            Command(
                "config", "", "See and change every setting", lambda _: app.configuring.open_form()
            ),
            Command("quit", "", "Save and leave", lambda _: self._quit()),
        )

    @staticmethod
    def looks_like_one(text: str) -> bool:
        """Tell a command from a message that begins with a path."""
        return _COMMAND.match(text) is not None

    def run(self, text: str) -> bool:
        """Run a draft that begins with a slash; return whether there is such a command."""
        name, _, argument = text[1:].partition(" ")
        for command in self.commands:
            if command.name == name.strip():
                command.run(argument.strip())
                return True
        known = ", ".join(f"/{command.name}" for command in self.commands)
        self._app.say(
            f"There is no command /{name.strip()}. The commands are: {known}.", level="warning"
        )
        return False

    def _model(self, name: str) -> None:
        session = self._app.session
        if session is None:
            return
        if name:
            session.set_model(name)
            self._app.show_vitals()
            return
        choices = [Choice(m, m, current=m == session.model) for m in session.models]
        self._pick("Model", choices, self._model)

    def _mode(self, name: str) -> None:
        if not name:
            session = self._app.session
            current = None if session is None else session.mode
            what = {
                Mode.ASK: "reading is free; writes and commands ask",
                Mode.ACCEPT_EDITS: "file edits in the workspace are free too",
                Mode.PLAN: "reading only: explore and plan",
                Mode.AUTO: "nothing asks; deny rules still hold",
            }
            choices = [Choice(m.value, m.value, what[m], current=m is current) for m in Mode]
            self._pick("Permission mode", choices, self._mode)
        elif name in {mode.value for mode in Mode}:
            self._app.set_mode(Mode(name))
        else:
            names = ", ".join(mode.value for mode in Mode)
            self._app.say(f"There is no mode {name!r}. The modes are: {names}.", level="warning")

    def _theme(self, name: str) -> None:
        app = self._app
        if not name:
            names = sorted(app.available_themes, key=lambda n: (not n.startswith("todo-agent"), n))
            choices = [Choice(n, n, current=n == app.theme) for n in names]
            app.open_sheet(ThemePicker("Theme", choices, app.theme), self._wear)
        elif name in app.available_themes:
            self._wear(name)
        else:
            app.say(f"There is no theme {name!r}. /theme shows them all.", level="warning")

    def _wear(self, name: str | None) -> None:
        if name is not None:
            self._app.theme = name
            self._app.work_on(self._app.configuring.keep_theme(name), group="settings")

    def _threads(self) -> None:
        self._app.work_on(self._pick_thread(), group="threads")

    async def _pick_thread(self) -> None:
        app = self._app
        threads = await asyncio.to_thread(app.workbench.threads)
        if not threads:
            app.say("There is no other thread yet.")
            return
        current = "" if app.session is None else app.session.id
        now = time.time()
        choices = []
        for info in threads:
            plan = f"{info.done}/{info.total}  " if info.total else ""
            damaged = "damaged  " if info.damaged else ""
            detail = f"{damaged}{plan}{ago(now - info.updated)}  {info.id}"
            choices.append(Choice(info.id, info.title, detail, current=info.id == current))
        self._pick("Threads", choices, self._open)

    def _resume(self, thread: str) -> None:
        if thread:
            self._open(thread)
        else:
            self._threads()

    def _open(self, thread: str | None) -> None:
        app = self._app
        if app.session is not None and thread == app.session.id:
            app.say("This thread is open already.")
            return
        app.work_on(app.open_thread(thread), group="session")

    def _rename(self, title: str) -> None:
        session = self._app.session
        if session is None or not title:
            self._app.say("Say the title: /rename TITLE.", level="warning")
            return
        session.rename(title)
        self._app.say(f"This thread is called {title!r} now.")

    def _compact(self, focus: str) -> None:
        session = self._app.session
        if session is None:
            return
        try:
            session.compact(focus)
        except TodoAgentError as error:
            self._app.say(str(error), level="warning")

    def _jobs(self) -> None:
        session = self._app.session
        jobs = () if session is None else session.background
        if not jobs:
            self._app.say("The agent has started no commands in the background.")
            return
        rows = (
            f"{name}  {'runs' if code is None else f'ended with {code}'}  {first_line(command)[0]}"
            for name, command, code in jobs
        )
        self._app.say("\n".join(rows))

    def _work(self, work: Callable[[Session], Awaitable[None]]) -> None:
        """Do something with the session that may take a while."""
        session = self._app.session
        if session is not None:
            self._app.work_on(self._said(work(session)), group="files")

    async def _said(self, work: Awaitable[None]) -> None:
        try:
            await work
        except TodoAgentError as error:
            self._app.say(str(error), level="warning")

    async def _diff(self, session: Session) -> None:
        changes = await session.changed_files()
        if changes:
            self._app.open_sheet(Changes(changes), lambda _: None)
        else:
            self._app.say("The agent has changed no files here.")

    async def _undo(self, session: Session) -> None:
        undone = await session.undo_files()
        if undone is None:
            self._app.say("There are no changes to undo.")
            return
        if undone.restored:
            names = ", ".join(path.name for path in undone.restored)
            self._app.say(f"Undone: {names}. The agent is told with your next message.")
        if undone.conflicts:
            names = ", ".join(path.name for path in undone.conflicts)
            self._app.say(
                f"Left as they are, because they were changed since: {names}.", level="warning"
            )

    def _copy(self, what: str) -> None:
        session = self._app.session
        messages = () if session is None else reversed(session.messages)
        answers = (m.text for m in messages if m.role == "assistant" and m.text.strip())
        answer = next(answers, None)
        if what not in ("", "code"):
            self._app.say("Say /copy for the last answer, /copy code for its last code block.")
        elif answer is None:
            self._app.say("There is no answer to copy yet.")
        elif not what:
            self._app.copy(answer)
        elif blocks := code_blocks(answer):
            self._app.copy(blocks[-1])
        else:
            self._app.say("There is no code in the last answer.")

    def _quit(self) -> None:
        self._app.work_on(self._app.action_quit(), group="quit")

    def _pick(self, title: str, choices: list[Choice], use: Callable[[str], None]) -> None:
        def picked(value: str | None) -> None:
            if value is not None:
                use(value)

        self._app.open_sheet(Picker(title, choices), picked)

    def _todo(self, text: str) -> None:
        match text:
            case "undo":
                self._app.planning.undo()
            case "history":
                self._app.planning.show_history()
            case _:
                self._edit_todos(text)

    def _edit_todos(self, text: str) -> None:
        plan = todo_edit(self._app.plan, text)
        if isinstance(plan, str):
            self._app.say(plan, level="warning")
        else:
            self._app.planning.edit(plan)


def todo_edit(plan: Plan, text: str) -> Plan | str:
    """Return the plan that a `/todo` command asks for, or what is wrong with the command."""
    verb, _, rest = text.partition(" ")
    rest = rest.strip()
    if verb == "add" and rest:
        return added(plan, rest)
    if verb == "clear" and not rest:
        return Plan()
    match = re.fullmatch(r"(\d+)(?:\s+(.+))?", rest, re.DOTALL)
    if match is None or verb not in ("done", "start", "open", "drop", "edit"):
        return TODO_USAGE
    index, words = int(match[1]) - 1, match[2]
    if not 0 <= index < len(plan.todos):
        return f"There is no todo {match[1]}; the plan has {len(plan.todos)}."
    match verb:
        case "drop" if not words:
            return dropped(plan, index)
        case "edit" if words:
            return reworded(plan, index, words)
        case "done" if not words:
            return with_status(plan, index, Status.DONE)
        case "start" if not words:
            return with_status(plan, index, Status.ACTIVE)
        case "open" if not words:
            return with_status(plan, index, Status.PENDING)
        case _:
            return TODO_USAGE
