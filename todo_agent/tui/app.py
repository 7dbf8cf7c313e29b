"""The terminal app: lays out the screen and carries words between the person and the session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from textual import events, on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static
from textual.worker import WorkerFailed

from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import Answered, Question, RunEnd
from todo_agent.errors import TodoAgentError
from todo_agent.plan.plan import Plan
from todo_agent.threads.errors import ThreadBusy
from todo_agent.tui.asking import Asking
from todo_agent.tui.clipboard import TERMINAL_ONLY, Clipboard
from todo_agent.tui.commands import Commands
from todo_agent.tui.completing import Completing
from todo_agent.tui.configuring import Configuring
from todo_agent.tui.connecting import Connecting
from todo_agent.tui.entries import Notice, entries_of
from todo_agent.tui.keymap import bindings
from todo_agent.tui.keys_here import KeySection, keys_here
from todo_agent.tui.layout import arrange, beside
from todo_agent.tui.permitting import Permitting
from todo_agent.tui.planning import Planning
from todo_agent.tui.progress import Progress
from todo_agent.tui.rewinding import Rewinding
from todo_agent.tui.router import Router
from todo_agent.tui.screens.approval import Stray
from todo_agent.tui.screens.config_form import ConfigForm
from todo_agent.tui.screens.help import Help
from todo_agent.tui.screens.main import MainScreen
from todo_agent.tui.screens.permissions import PermissionsSheet
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.settings import TuiSettings
from todo_agent.tui.sharing import Sharing
from todo_agent.tui.themes import ASCII, DARK, LIGHT, Marks, colours_for
from todo_agent.tui.widgets.banner import Place
from todo_agent.tui.widgets.completions import Completions
from todo_agent.tui.widgets.plan_list import PlanList
from todo_agent.tui.widgets.plan_pane import PlanPane
from todo_agent.tui.widgets.plan_strip import PlanStrip
from todo_agent.tui.widgets.prompt import Prompt
from todo_agent.tui.widgets.queue import Queue
from todo_agent.tui.widgets.search_bar import SearchBar
from todo_agent.tui.widgets.status_bar import StatusBar, Vitals
from todo_agent.tui.widgets.transcript import Transcript
from todo_agent.tui.window import Window

if TYPE_CHECKING:
    from todo_agent.session import Session, Workbench

T = TypeVar("T")
Armed = Literal["quit", "rewind"]
"""What the same key does when it comes again soon."""

TURNS_PER_SECOND = 8
HINT_SECONDS = 2.0
"""So long a second Ctrl+C or Esc counts as one."""
OPENING = "opening"
THEME_HINT = "/theme shows them all."


class TodoAgentApp(App[int]):
    """One screen for one session at a time.

    Args:
        workbench: opens sessions and lists threads.
        thread: the thread to open; None for a new one.
        prompt: sent as soon as the session is open.
        settings: what the person has set.
        marks: the signs this terminal can draw.
        clock: seconds that only grow.
        clipboard: how copied text leaves the program.
    """

    CSS_PATH = "todo_agent.tcss"
    ENABLE_COMMAND_PALETTE = True
    TITLE = "todo-agent"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(
            "toggle_plan",
            "toggle_details",
            "focus_plan",
            "command_palette",
            "help",
            "repaint",
            "quit",
        ),
        Binding("escape", "escape", "Close, unqueue or interrupt"),
        Binding("ctrl+c", "cancel", "Clear or interrupt; twice: quit", show=False),
        Binding("ctrl+d", "quit", "Quit", show=False),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False),
        Binding("question_mark", "help", "Keys and commands", show=False),
        Binding("end", "scroll_end", "Newest", show=False),
        Binding("ctrl+f", "search", "Search the conversation", priority=True),
        Binding("alt+up,ctrl+up", "turn(-1)", "Previous message", show=False, priority=True),
        Binding("alt+down,ctrl+down", "turn(1)", "Next message", show=False, priority=True),
    ]

    def __init__(
        self,
        workbench: Workbench,
        *,
        thread: str | None,
        prompt: str,
        settings: TuiSettings,
        marks: Marks,
        clock: Callable[[], float] = time.monotonic,
        clipboard: Clipboard = TERMINAL_ONLY,
    ) -> None:
        super().__init__()
        self.workbench = workbench
        self.settings = settings
        self.session: Session | None = None
        self._thread = thread
        self._marks = marks
        self._clock = clock
        self._system_clipboard = clipboard
        self._drag_explained = False
        self._early = [prompt] if prompt.strip() else []
        self._plan_wanted: bool | None = None
        self._last_end: RunEnd | None = None
        self._running_since = 0.0
        self._frame = self._ticks = 0
        self._ticker: Timer | None = None
        self._armed: Armed | None = None
        self._disarming: Timer | None = None
        self._free = {"left": 0, "right": 0}
        self.planning = Planning(self, marks)
        self.rewinding = Rewinding(self, marks)
        self._asking = Asking(self)
        self._window = Window(self)
        self._completing = Completing(self, settings.files)
        self.configuring = Configuring(self)
        self.permitting = Permitting(self, self.configuring)
        self.connecting = Connecting(self, self.configuring)
        self.sharing = Sharing(self)
        self.commands = Commands(self)
        self.crash: BaseException | None = None
        """What ended the app, if an error did."""
        self.animation_level = "none"
        self._wear_theme()
        self.transcript = Transcript(marks, clock=clock)
        self.plan_pane = PlanPane(marks, clock=clock)
        self.plan_strip = PlanStrip(marks)
        self.news = Static(id="news", markup=False)
        self.search = SearchBar(self.transcript)
        self.queue = Queue()
        self.completions = Completions()
        self.prompt = Prompt("What should be done?")
        self.status = StatusBar(marks)

    def get_default_screen(self) -> Screen[None]:
        """Return the screen on which everything stands."""
        return MainScreen(id="_default")

    def compose(self) -> ComposeResult:
        """Lay out the conversation, the plan, and what is below them."""
        yield self.transcript
        yield self.plan_pane
        with Vertical(id="below"):
            yield self.news
            yield self.search
            yield self.plan_strip
            yield self.queue
            yield self.completions
            yield self.prompt
        yield self.status

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return our own colours for themes that do not name them."""
        return colours_for(self.current_theme)

    def _wear_theme(self) -> None:
        """Put the theme on before the styles are read, which is slow enough for once."""
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        wanted = self.settings.theme
        name = wanted if wanted in self.available_themes else DARK.name
        self.set_reactive(TodoAgentApp.theme, name)
        self.stylesheet.set_variables(self.get_css_variables())

    def on_mount(self) -> None:
        """Show the empty frame at once; everything slow comes after it."""
        self._ticker = self.set_interval(1 / TURNS_PER_SECOND, self._tick, pause=True)
        self.wear(self.settings)
        self.set_class(self._marks == ASCII, "-ascii")
        self.watch(self.transcript, "news", self._show_news)
        self._window.open()
        self.prompt.focus()
        self.status.activity = OPENING
        self.show_queue(())
        self.call_after_refresh(self._start)

    async def _start(self) -> None:
        self.run_worker(self._load_history(), group="start")
        self.run_worker(self._open_first(), group="session")

    async def _load_history(self) -> None:
        self.prompt.set_history(await asyncio.to_thread(self.settings.history.load))

    def wear(self, settings: TuiSettings) -> None:
        """Look and behave as settings say, at once."""
        self.settings = settings
        if settings.theme in self.available_themes:
            self.theme = settings.theme
        self.set_class(settings.density == "compact", "-compact")
        self.set_keymap(dict(settings.keys))
        self._show_layout(self.size.width, self.size.height)

    async def _open_first(self) -> None:
        if not self.settings.connected:
            self._give_back_early()
        await self.open_thread(self._thread)
        if not self.settings.connected and self._thread is None:
            self.connecting.open()
        if self.settings.theme not in self.available_themes:
            self.say(f"There is no theme {self.settings.theme!r}. {THEME_HINT}", level="warning")
        await self.workbench.warm_up()

    async def open_thread(
        self, thread: str | None, opening: Awaitable[Session] | None = None
    ) -> bool:
        """Open a thread, or a new one, in the place of the one that is open.

        Where that fails the screen says why, and everything stays as it is.

        Args:
            thread: its id, or None for a new one.
            opening: opens it in another way than to work on it.
        """
        try:
            session = await (opening or self.workbench.open(thread))
        except ThreadBusy as error:
            self.status.activity = ""
            self._give_back_early()
            self.sharing.offer(thread or "", str(error))
            return False
        except TodoAgentError as error:
            self.status.activity = ""
            hint = "/threads shows the others, /clear starts a new one."
            self.transcript.add(Notice(str(error), hint, "error"))
            self._give_back_early()
            return False
        await self.close_session()
        self.session = session
        self._last_end = None
        self._asking.clear()
        self.show_running(running=False)
        place = Place(self.place, session.model, scripted=session.scripted)
        self.transcript.place(place)
        await self.transcript.show(entries_of(session.messages))
        for notice in session.notices:
            self.transcript.add(Notice(notice, level="warning"))
        self.show_plan(session.plan)
        self.show_queue(session.queued)
        self.show_vitals()
        self.run_worker(self._pump(session), group="pump", exclusive=True)
        early, self._early = self._early, []
        for text in early:
            if self.commands.looks_like_one(text):
                self.commands.run(text)
            else:
                self.submit(text)
        return True

    async def close_session(self) -> None:
        """Interrupt and save what runs."""
        session, self.session = self.session, None
        if session is not None:
            await session.close()

    async def _pump(self, session: Session) -> None:
        router = Router(session, self.transcript, self)
        async for event in session.events():
            await router.route(event)

    def _show_news(self, news: bool) -> None:  # noqa: FBT001 -- a watcher's signature
        self.news.set_class(news, "-some")
        text = f"{self._marks.more} new below  end goes there" if news else ""
        self.news.update(Content.styled(text, "$accent"))

    @property
    def place(self) -> str:
        """The directory the tools work in, as people write it."""
        if self.session is None:
            return ""
        home, cwd = Path.home(), self.session.cwd
        return f"~/{cwd.relative_to(home)}" if cwd.is_relative_to(home) else str(cwd)

    def _give_back_early(self) -> None:
        early, self._early = self._early, []
        self.show_queue(())
        if early and not self.prompt.draft:
            self.prompt.put("\n".join(early))

    def show_plan(self, plan: Plan) -> None:
        """Show the committed plan, in the frame in which it is known."""
        self.plan_pane.plan = plan
        self.plan_strip.plan = plan
        self._show_layout(self.size.width, self.size.height)
        self._window.show(self.plan)

    def show_vitals(self) -> None:
        """Show the session's numbers."""
        session = self.session
        if session is None:
            return
        self.status.vitals = Vitals(
            mode=session.mode,
            model=session.model,
            context_tokens=session.context_tokens,
            context_window=session.context_window,
            cost_usd=session.cost_usd,
            thread=session.id,
            scripted=session.scripted,
            read_only=session.read_only,
            unsaved=bool(session.unsaved_reason),
            background=sum(code is None for _, _, code in session.background),
        )
        self.prompt.set_classes(f"-{session.mode.value}")

    def show_queue(self, texts: tuple[str, ...]) -> None:
        """Show what waits: before a session is open, what will be sent then."""
        self.queue.texts = (*self._early, *texts)

    def show_running(self, *, running: bool) -> None:
        """Show whether the agent works."""
        if self._ticker is None:
            return
        if running:
            self._running_since = self._clock()
            self._ticker.resume()
        else:
            self._ticker.pause()
        self.plan_pane.show_paused(paused=not running)
        self.plan_strip.paused = not running
        self.status.activity = "working" if running else ""
        self.status.stoppable = running
        self.prompt.placeholder = (
            "Type to steer; Enter queues" if running else "What should be done?"
        )
        self._window.show(self.plan)

    def show_activity(self, what: str) -> None:
        """Show what the agent is at, while it works."""
        self.status.activity = what

    def ask(self, question: Question) -> None:
        """Put a question to the person, after those that wait already."""
        self._asking.ask(question)
        self._window.notify("waits for your answer")

    def close_question(self, question_id: str) -> None:
        """Take a question away, answered or not."""
        self._asking.close(question_id)

    def run_ended(self, end: RunEnd, undone: str) -> None:
        """Give back what did not get into the thread, and say that it is over."""
        self._last_end = end
        if undone and not self.prompt.draft:
            self.prompt.put(undone)
        self.show_vitals()
        self._window.notify("finished")

    def _tick(self) -> None:
        self._ticks += 1
        if not self.settings.animate and self._ticks % TURNS_PER_SECOND:
            return
        self._frame += self.settings.animate
        seconds = self._clock() - self._running_since
        self.status.turn(self._frame, seconds)
        self.transcript.turn(self._frame)
        self.plan_pane.tick()

    def on_app_focus(self) -> None:
        """Know that the terminal tells who has the focus, and that it is us."""
        self._window.focused = True

    def on_app_blur(self) -> None:
        """Know that the person looks elsewhere."""
        self._window.focused = False

    def write(self, sequence: str) -> None:
        """Send the terminal something beside what is drawn."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    @on(Prompt.Submitted)
    def submit_draft(self) -> None:
        """Send the draft, run it as a command, or go on when there is none."""
        text = self.prompt.draft
        if not text.strip():
            self.go_on()
            return
        if not self.commands.looks_like_one(text):
            self.prompt.take()
            self.submit(text)
        elif self.commands.run(text):
            self.prompt.take()
        else:
            return
        self._remember(text)

    def submit(self, text: str) -> None:
        """Send a text, or run it where it begins with `!`; give it back where that fails."""
        if self.session is None:
            self._early.append(text)
            self.show_queue(())
            return
        if self.session.read_only:
            self.put_draft(text)
            self.sharing.offer_copy(self.session.id)
            return
        try:
            if text.startswith("!") and text[1:].strip():
                self.session.run_command(text[1:].strip())
            else:
                self.session.send(text)
        except TodoAgentError as error:
            self.say(str(error), level="error")
            if not self.prompt.draft:
                self.prompt.put(text)
        self.transcript.follow()

    def go_on(self) -> None:
        """Continue a run that failed or was interrupted, or the open todos."""
        session = self.session
        if session is None or session.running:
            return
        progress = Progress.of(session.plan)
        stopped = self._last_end is not None and not isinstance(self._last_end, Answered)
        if not stopped and progress.done == progress.total:
            return
        try:
            session.retry()
        except TodoAgentError as error:
            self.say(str(error), level="error")

    @property
    def plan(self) -> Plan:
        """The plan that is shown."""
        return self.plan_pane.plan

    def work_on(self, work: Coroutine[object, object, object], *, group: str) -> None:
        """Do something beside the screen; it ends what its group did before."""
        self.run_worker(work, group=group, exclusive=True)

    def say(self, text: str, *, level: str = "info") -> None:
        """Tell the person something in the transcript."""
        self.transcript.add(Notice(text, level=level))

    def work_in_turn(self, work: Coroutine[object, object, object], *, group: str) -> None:
        """Do something beside the screen, and let what its group began go on."""
        self.run_worker(work, group=group)

    def warn(self, text: str, *, title: str = "") -> None:
        """Tell the person for a moment why something is not done."""
        self.notify(text, title=title, severity="warning", markup=False)

    def _remember(self, text: str) -> None:
        self.prompt.remember(text)
        self.run_worker(asyncio.to_thread(self.settings.history.add, text), group="history")

    @on(Prompt.Changed)
    def complete(self) -> None:
        """Offer what fits behind the cursor."""
        self._completing.offer()

    @on(Prompt.CompletionKey)
    def use_completion(self, event: Prompt.CompletionKey) -> None:
        """Move in the list, take an offer, or close the list."""
        self._completing.use(event.key)

    @on(PlanList.Edited)
    def plan_edited(self, event: PlanList.Edited) -> None:
        """Commit an edit of the pane."""
        self.planning.edit(event.plan)

    @on(PlanList.EditRequested)
    def plan_edit_requested(self, event: PlanList.EditRequested) -> None:
        """Open the field for a todo's text."""
        if event.new:
            self.planning.write_new(event.index)
        else:
            self.planning.rewrite(event.index)

    @on(PlanList.UndoRequested)
    def undo_plan(self) -> None:
        """Bring back the plan as it was before its last change."""
        self.planning.undo()

    @on(PlanList.HistoryRequested)
    def show_plan_history(self) -> None:
        """Show the versions of the plan, to bring one back."""
        self.planning.show_history()

    def action_toggle_plan(self) -> None:
        """Show or hide the plan."""
        self._plan_wanted = not self.plan_pane.display
        self._show_layout(self.size.width, self.size.height)
        if not self.plan_pane.display and self.plan_pane.todos.has_focus:
            self.prompt.focus()

    def action_focus_plan(self) -> None:
        """Show the plan and give it the keys."""
        self._plan_wanted = True
        self._show_layout(self.size.width, self.size.height)
        self.plan_pane.todos.focus()

    def action_next_place(self) -> None:
        """Give the keys to the plan, the conversation, or the prompt."""
        if self.prompt.has_focus and self.plan_pane.display:
            self.plan_pane.todos.focus()
        elif self.prompt.has_focus or self.plan_pane.todos.has_focus:
            self.transcript.focus()
        else:
            self.prompt.focus()

    def action_toggle_details(self) -> None:
        """Open or close the details of all calls."""
        self.transcript.details = not self.transcript.details

    def action_next_mode(self) -> None:
        """Switch to the next permission mode."""
        if self.session is None:
            return
        modes = list(Mode)
        self.set_mode(modes[(modes.index(self.session.mode) + 1) % len(modes)])

    def set_mode(self, mode: Mode) -> None:
        """Switch the permission mode."""
        if self.session is not None:
            self.session.set_mode(mode)
            self.show_vitals()

    async def action_escape(self) -> None:
        """Close what is open, take back what is queued, interrupt; twice when idle: go back."""
        if not self.prompt.has_focus:
            self.prompt.focus()
            return
        session = self.session
        if session is None or self._unqueue(session):
            return
        if session.running:
            self.status.activity = "stopping"
            self.run_worker(session.interrupt(), group="interrupt")
        elif self._armed == "rewind":
            self._disarm()
            self.rewinding.open()
        elif session.messages and not self.prompt.draft:
            self._arm("rewind", "esc again goes back to an earlier message")

    def _unqueue(self, session: Session) -> bool:
        if not session.queued or self.prompt.draft:
            return False
        text = session.unqueue()
        if text is not None:
            self.prompt.put(text)
        return True

    async def action_cancel(self) -> None:
        """Copy a selection; clear the draft; interrupt; the second time, quit."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy(selected)
            self.screen.clear_selection()
        elif self._armed == "quit":
            await self.action_quit()
        elif self.prompt.draft:
            self._remember(self.prompt.take())
            self._arm("quit", "draft cleared, Up brings it back; ctrl+c again quits")
        elif self.session is not None and self.session.running:
            self._arm("quit", "interrupted; ctrl+c again quits")
            self.run_worker(self.session.interrupt(), group="interrupt")
        else:
            self._arm("quit", "ctrl+c again quits")

    def _arm(self, what: Armed, hint: str) -> None:
        self._disarm()
        self.status.hint = hint
        self._armed = what
        self._disarming = self.set_timer(HINT_SECONDS, self._disarm)

    def _disarm(self) -> None:
        if self._disarming is not None:
            self._disarming.stop()
        self._armed = self._disarming = None
        self.status.hint = ""

    async def action_quit(self) -> None:
        """Save, restore the terminal and leave."""
        await self.leave(0)

    async def leave(self, code: int) -> None:
        """Leave with an exit code."""
        self.status.activity = "closing"
        await self.close_session()
        self.exit(code)

    def action_repaint(self) -> None:
        """Paint every cell afresh."""
        self.refresh(repaint=True, layout=True)

    def action_help(self) -> None:
        """Show the keys that work here, and the commands; close them again."""
        if isinstance(self.screen, Help):
            self.screen.action_close()
            return
        rows = ((f"/{c.name} {c.arguments}".rstrip(), c.what) for c in self.commands.commands)
        commands = KeySection("Commands", tuple(rows))
        main = not isinstance(self.screen, Sheet)
        self.open_sheet(Help([*keys_here(self.screen), *([commands] if main else [])]))

    def action_page(self, by: int) -> None:
        """Scroll the conversation by pages."""
        self.transcript.page(by)

    async def action_scroll_home(self) -> None:
        """Go to the oldest that is mounted."""
        self.transcript.to_start()

    async def action_scroll_end(self) -> None:
        """Go to the newest and follow it."""
        await self.transcript.to_end()

    @on(ConfigForm.Store)
    def store_setting(self, event: ConfigForm.Store) -> None:
        """Store what a form asks for."""
        form = self.screen
        if isinstance(form, ConfigForm):
            work = self.configuring.change(form, event.key, event.value)
            self.run_worker(work, group="settings")

    @on(PermissionsSheet.Add)
    @on(PermissionsSheet.Remove)
    def change_rules(self, event: PermissionsSheet.Add | PermissionsSheet.Remove) -> None:
        """Add a rule or take one back."""
        sheet = self.screen
        if not isinstance(sheet, PermissionsSheet):
            return
        if isinstance(event, PermissionsSheet.Add):
            work = self.permitting.add(sheet, event.rule)
        else:
            work = self.permitting.remove(sheet, event.row)
        self.run_worker(work, group="settings")

    @on(PermissionsSheet.ChangeMode)
    def pick_mode(self) -> None:
        """Pick the mode in the place of the rules."""
        self.pop_screen()
        self.commands.run("/mode")

    def take_draft(self) -> str:
        """Return what was typed and not sent, and clear it."""
        return self.prompt.take()

    def put_draft(self, text: str) -> None:
        """Give back what was typed and not sent."""
        if text:
            self.prompt.put(text)

    def action_search(self) -> None:
        """Search the conversation."""
        if len(self.screen_stack) == 1:
            self.search.open()

    def action_turn(self, by: int) -> None:
        """Go to the previous or the next message of the person."""
        if len(self.screen_stack) == 1:
            self.transcript.to_turn(by)

    @on(SearchBar.Left)
    def end_search(self) -> None:
        """Give the keys back to the prompt."""
        self.prompt.focus()

    @on(events.Click, "#news")
    def go_to_news(self) -> None:
        """Go to what is new below."""
        self.transcript.follow()

    @on(MainScreen.Selected)
    def explain_drag(self) -> None:
        """Say once how a selection is copied."""
        if not self._drag_explained:
            self._drag_explained = True
            text = "ctrl+c copies the selection. With shift held, the terminal itself selects."
            self.notify(text, timeout=HINT_SECONDS * 2, markup=False)

    def copy(self, text: str) -> None:
        """Put a text on the clipboard of the terminal, and say so."""
        self.copy_to_clipboard(text)
        self.notify("Copied.", timeout=1.5, markup=False)

    def copy_to_clipboard(self, text: str) -> None:
        """Put a text on the clipboard: the terminal's, and the system's where that is ours."""
        self._clipboard = text
        self.write(self._system_clipboard.sequences(text))
        self.run_worker(self._system_clipboard.run(text), group="clipboard", exclusive=True)

    @on(Transcript.Copied)
    def copy_entry(self, event: Transcript.Copied) -> None:
        """Copy what the person asked for in the conversation."""
        self.copy(event.text)

    @on(Transcript.LinkChosen)
    def copy_link(self, event: Transcript.LinkChosen) -> None:
        """Copy a link's address, and show it: links are not followed."""
        self.copy_to_clipboard(event.href)
        self.notify(event.href, title="Address copied", markup=False)

    @on(Stray)
    def keep_stray(self, event: Stray) -> None:
        """Put a character where it was meant to go."""
        self.prompt.insert(event.character)

    def on_key(self, event: events.Key) -> None:
        """Typing anywhere is writing."""
        main = len(self.screen_stack) == 1 and not self.prompt.has_focus
        if main and not self.plan_pane.todos.has_focus and event.is_printable and event.character:
            self.prompt.focus()
            self.prompt.insert(event.character)
            event.prevent_default()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer our commands in the palette."""
        for command in self.commands.commands:
            if command.palette:
                yield SystemCommand(command.title, command.what, command.run_bare)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange for another size."""
        self._show_layout(event.size.width, event.size.height)

    def _show_layout(self, width: int, height: int) -> None:
        layout = arrange(
            width,
            height,
            todos=len(self.plan),
            wanted=self._plan_wanted,
            unasked=self.settings.plan_visible,
        )
        self.set_class(layout.narrow, "-narrow")
        self.set_class(layout.low, "-low")
        self.plan_pane.display = layout.pane
        self.plan_strip.display = layout.strip
        side, columns = self.settings.plan_side, self.settings.plan_width
        self.plan_pane.styles.width = "100%" if layout.narrow else columns
        self.plan_pane.styles.dock = "none" if layout.narrow else side
        self.plan_pane.styles.height = layout.pane_rows or "100%"
        self._free = beside(layout, side, columns)
        for screen in self.screen_stack:
            if isinstance(screen, Sheet):
                screen.leave_free(**self._free)

    def open_sheet(self, sheet: Sheet[T], use: Callable[[T | None], None] | None = None) -> None:
        """Open a dialog beside the plan."""
        sheet.leave_free(**self._free)
        self.push_screen(sheet, use)

    def on_unmount(self) -> None:
        """Give the window its title back."""
        self._window.close()

    def _fatal_error(self) -> None:
        """Leave after an error without printing: the traceback belongs into the log."""
        error = self._exception
        self.crash = error.error if isinstance(error, WorkerFailed) else error
        self._close_messages_no_wait()
