"""Shows the rules in force, and changes the person's own in the file and in the session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from todo_agent.agent.modes import Mode
from todo_agent.config import PROJECT
from todo_agent.errors import TodoAgentError
from todo_agent.middleware.permissions import ALWAYS_ALLOWED
from todo_agent.middleware.rules import Decision, Rule
from todo_agent.settings import SETTINGS, Config
from todo_agent.tui.configuring import Configuring, Desk
from todo_agent.tui.places import short_path
from todo_agent.tui.screens.config_form import Said
from todo_agent.tui.screens.permissions import Origin, PermissionsSheet, RuleRow

if TYPE_CHECKING:
    from todo_agent.session import Session


class Permitting:
    """The way of a rule from the screen into the file and the session."""

    def __init__(self, app: Desk, configuring: Configuring) -> None:
        self._app = app
        self._configuring = configuring

    async def open(self) -> None:
        """Show the rules as they are by now."""
        await self._configuring.refresh()
        self._app.open_sheet(PermissionsSheet(self._rows(), self._mode))

    async def add(self, sheet: PermissionsSheet, rule: Rule) -> None:
        """Add a rule to the person's own, and show what came of it."""
        text = f"{rule.kind} {rule.given or rule.pattern}"
        own = list(self._own(rule.decision))
        if text in own:
            self._show(sheet, Said("This rule is there already."))
            return
        session = self._app.session
        await self._store(sheet, rule.decision, [*own, text], f"Stored: {rule}")
        if (
            session is not None
            and rule in session.granted_rules
            and text in self._own(rule.decision)
        ):
            session.revoke_rule(rule)
            self._show(sheet, Said(f"Stored: {rule}"))

    async def remove(self, sheet: PermissionsSheet, row: RuleRow) -> None:
        """Take a rule back, and show what came of it."""
        rule, session = row.rule, self._app.session
        if row.origin is Origin.SESSION and session is not None:
            session.revoke_rule(rule)
            self._show(sheet, Said(f"No longer: {rule}"))
            return
        left = [
            item for item in self._own(rule.decision) if Rule.parse(rule.decision, item) != rule
        ]
        await self._store(sheet, rule.decision, left or None, f"Removed: {rule}")

    async def _store(
        self, sheet: PermissionsSheet, decision: Decision, rules: list[str] | None, done: str
    ) -> None:
        said = Said(done)
        try:
            await self._configuring.store(_key(decision), rules)
        except TodoAgentError as error:
            said = Said(str(error).removeprefix("This: "), wrong=True)
        self._show(sheet, said)

    def _show(self, sheet: PermissionsSheet, said: Said) -> None:
        if sheet.is_attached:
            sheet.show(self._rows(), self._mode, said)

    @property
    def _mode(self) -> Mode:
        session = self._app.session
        return self._config.mode if session is None else session.mode

    @property
    def _config(self) -> Config:
        preferences = self._configuring.preferences
        return Config() if preferences is None else preferences.config

    def _own(self, decision: Decision) -> tuple[str, ...]:
        value = SETTINGS[_key(decision)].of(self._config)
        return value if isinstance(value, tuple) else ()

    def _rows(self) -> tuple[RuleRow, ...]:
        session = self._app.session
        return tuple(_rows(self._config, session, self._configuring))


def _rows(config: Config, session: Session | None, configuring: Configuring) -> Iterator[RuleRow]:
    """Yield the rules, the person's own first, of each place the most severe first."""
    preferences = configuring.preferences
    file = "" if preferences is None else f"{preferences.file}:"
    for rule in sorted(config.rules, key=lambda rule: -rule.decision):
        source = config.sources.get(_key(rule.decision), "")
        own = bool(file) and source.startswith(file)
        yield RuleRow(rule, Origin.OWN if own else Origin.FIXED, short_path(source))
    for rule in () if session is None else session.granted_rules:
        yield RuleRow(rule, Origin.SESSION, "this session")
    for rule in sorted(config.restrictions.rules, key=lambda rule: -rule.decision):
        project = short_path(config.sources.get(PROJECT, "the project"))
        yield RuleRow(rule, Origin.FIXED, project)
    for text in ALWAYS_ALLOWED:
        yield RuleRow(Rule.parse(Decision.ALLOW, text), Origin.FIXED, "built in")


def _key(decision: Decision) -> str:
    return f"permissions.{decision.name.lower()}"
