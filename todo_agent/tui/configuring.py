"""Shows the settings and applies what a person changes, to the screen and to the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Protocol, TypeVar

from todo_agent.errors import TodoAgentError
from todo_agent.preferences import Preferences
from todo_agent.settings import Config
from todo_agent.tui.places import short_path
from todo_agent.tui.screens.config_form import ConfigForm, Said, effect
from todo_agent.tui.screens.sheet import Sheet
from todo_agent.tui.settings import TuiSettings

if TYPE_CHECKING:
    from todo_agent.session import Session, Workbench

T = TypeVar("T")
CONNECTION = ("api_key", "auth_token", "base_url")
"""What a session's provider is made of."""


class Desk(Protocol):
    """What configuring needs of the app."""

    # ruff: noqa: D102 -- each is documented at the app
    settings: TuiSettings
    workbench: Workbench
    session: Session | None

    def say(self, text: str, *, level: str = "info") -> None: ...
    def wear(self, settings: TuiSettings) -> None: ...
    def show_vitals(self) -> None: ...
    def open_sheet(
        self, sheet: Sheet[T], use: Callable[[T | None], None] | None = None
    ) -> None: ...
    def work_on(self, work: Coroutine[object, object, object], *, group: str) -> None: ...
    def submit(self, text: str) -> None: ...
    def take_draft(self) -> str: ...
    def put_draft(self, text: str) -> None: ...
    async def open_thread(self, thread: str | None) -> bool: ...


class Configuring:
    """The way of a setting from the screen into the file, and from there to where it counts."""

    def __init__(self, app: Desk) -> None:
        self._app = app

    @property
    def preferences(self) -> Preferences | None:
        """The configuration, where there is one."""
        return self._app.settings.preferences

    def open_form(self) -> None:
        """Show all settings as they are by now."""
        preferences = self.preferences
        if preferences is None:
            self._app.say("There is no configuration to show here.", level="warning")
            return
        self._app.work_on(self._open_form(preferences), group="settings")

    async def _open_form(self, preferences: Preferences) -> None:
        await self.refresh()
        form = ConfigForm(await asyncio.to_thread(preferences.rows), str(preferences.file))
        self._app.open_sheet(form)

    async def refresh(self) -> None:
        """Read the files anew: somebody may have edited them since."""
        preferences = self.preferences
        if preferences is None:
            return
        before = preferences.config
        try:
            await self.apply(before, await asyncio.to_thread(preferences.refresh))
        except TodoAgentError as error:
            self._app.say(f"{error} What held before goes on to hold.", level="warning")

    async def change(self, form: ConfigForm, key: str, value: object) -> None:
        """Store what the form asks for, and show there what came of it."""
        preferences = self.preferences
        if preferences is None:
            return
        try:
            await self.store(key, value)
            row = await asyncio.to_thread(preferences.row, key)
            what = "Back to the default" if value is None else "Stored"
            said = Said(f"{what}; {effect(key).value}.")
            if row.overrules:
                said = Said(f"{what}, but {short_path(row.source)} decides here.", wrong=True)
        except TodoAgentError as error:
            said = Said(str(error).removeprefix("This: "), wrong=True)
        if form.is_attached:
            form.show(await asyncio.to_thread(preferences.rows), said)

    async def store(self, key: str, value: object) -> None:
        """Store a setting and apply it; None takes it out of the file.

        Raises:
            TodoAgentError: the value is wrong, or it cannot be stored or applied.
        """
        preferences = self.preferences
        if preferences is None:
            raise TodoAgentError("There is no configuration file here.")
        before = preferences.config
        await self.apply(before, await asyncio.to_thread(preferences.store, key, value))

    async def keep_theme(self, name: str) -> None:
        """Wear a theme from now on, at the next start too, where there is a configuration."""
        if self.preferences is None:
            return
        try:
            await self.store("ui.theme", name)
        except TodoAgentError as error:
            self._app.say(f"The theme holds until you leave: {error}", level="warning")

    async def apply(self, before: Config, config: Config) -> None:
        """Let another configuration count, as far as it can while the program runs.

        Raises:
            TodoAgentError: no session can be opened with it.
        """
        if config == before:
            return
        app = self._app
        app.wear(app.settings.following(config))
        await app.workbench.reconfigure(
            config, demo=app.session is not None and app.session.scripted
        )
        session = app.session
        if session is None:
            return
        if config.rules != before.rules:
            session.use_rules(config.rules)
        if config.mode is not before.mode:
            session.set_mode(config.mode)
        if config.model and config.model != before.model and not session.scripted:
            session.set_model(config.model)
        app.show_vitals()
        if any(getattr(config, name) != getattr(before, name) for name in CONNECTION):
            await self._connect_again(session)

    async def _connect_again(self, session: Session) -> None:
        """Go on in the same thread, asking another server or with another key."""
        if session.scripted:
            return
        if session.running or session.unsaved_reason:
            self._app.say("The next thread uses the new connection; this one goes on as it is.")
            return
        await session.close()
        await self._app.open_thread(session.id if session.messages else None)
