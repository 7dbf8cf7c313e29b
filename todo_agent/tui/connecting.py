"""From no model to one: the demo, a key, or a server, without leaving the screen."""

from __future__ import annotations

from todo_agent.demo import PROMPT as DEMO_PROMPT
from todo_agent.errors import TodoAgentError
from todo_agent.kinds import Address, Kind, Secret
from todo_agent.tui.configuring import Configuring, Desk
from todo_agent.tui.screens.edit_setting import EditSetting, New
from todo_agent.tui.screens.welcome import Start, Welcome

NO_KEY_NEEDED = "none"
"""The key that is sent to a server that wants none."""
VARIABLE = (
    "In your shell: export ANTHROPIC_API_KEY=... (or ANTHROPIC_AUTH_TOKEN), for a server of your "
    "own also ANTHROPIC_BASE_URL. Then start todo-agent again; what you typed is in the history."
)


class Connecting:
    """What follows from the ways that the welcome offers."""

    def __init__(self, app: Desk, configuring: Configuring) -> None:
        self._app = app
        self._configuring = configuring

    def open(self) -> None:
        """Show the ways to begin."""
        self._app.open_sheet(Welcome(), self._begin)

    def _begin(self, way: Start | None) -> None:
        match way:
            case None:
                return
            case Start.DEMO:
                self._app.work_on(self._play_demo(), group="connect")
            case Start.KEY:
                what = "It is kept in your configuration file, for your eyes only."
                self._ask("api_key", what, Secret())
            case Start.SERVER:
                what = "Its address; a local server is often http://localhost with a port."
                self._ask("base_url", what, Address())
            case Start.VARIABLE:
                self._app.say(VARIABLE)

    def _ask(self, key: str, what: str, kind: Kind) -> None:
        def typed(new: New | None) -> None:
            if new is None or not new.value:
                self.open()
            elif key == "base_url":
                self._app.work_on(self._use_server(new.value), group="connect")
            else:
                self._app.work_on(self._use_key(new.value), group="connect")

        self._app.open_sheet(EditSetting(key, what, kind, ""), typed)

    async def _play_demo(self) -> None:
        app, preferences = self._app, self._configuring.preferences
        if preferences is None:
            return
        draft = app.take_draft()
        try:
            await app.workbench.reconfigure(preferences.config, demo=True)
        except (TodoAgentError, OSError) as error:
            app.say(f"The demo cannot be played: {error}", level="error")
            return
        if await app.open_thread(None):
            app.submit(DEMO_PROMPT)
        app.put_draft(draft)

    async def _use_key(self, value: object) -> None:
        try:
            await self._configuring.store("api_key", value)
        except TodoAgentError as error:
            self._app.say(str(error).removeprefix("This: "), level="error")
            return
        self._app.say("Connected. The key is in your configuration file.")

    async def _use_server(self, address: object) -> None:
        preferences = self._configuring.preferences
        try:
            await self._configuring.store("base_url", address)
            if preferences is not None and not preferences.config.has_key:
                await self._configuring.store("api_key", NO_KEY_NEEDED)
        except TodoAgentError as error:
            self._app.say(str(error).removeprefix("This: "), level="error")
            return
        self._app.say(f"Requests go to {address} now. If it wants a key, /connect takes one.")
