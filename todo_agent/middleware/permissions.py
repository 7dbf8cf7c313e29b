"""Decides about every call: it may run, a person is asked, or it is denied."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, assert_never
from urllib.parse import urlsplit

from todo_agent.agent.middleware import CallContext, CallTool, Middleware, RunContext
from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import RunEnd, Suspended
from todo_agent.agent.prompt import PromptSection
from todo_agent.agent.tools import Error, NeedsApproval, Outcome, Resource, ToolCall
from todo_agent.middleware.protected import Protected
from todo_agent.middleware.rules import Decision, Kind, Rule, RuleError, literal, winner
from todo_agent.middleware.shell_grammar import Command, parse
from todo_agent.middleware.shell_judge import Places, ShellJudge, runs_anything
from todo_agent.middleware.verdict import ALLOWED, Verdict, worst

ALWAYS_ALLOWED = ("invoke write_todos", "invoke todo_write")
"""Rules that hold unless others say more or the same."""

PLAN_MODE = (
    "Plan mode is on: you may read and search, but not change files or run commands that do more "
    "than read. Explore, then say what you would do. The person switches the mode off."
)


class Permissions(Middleware):
    """Judges what a call touches, its tool's resources, by mode and rules.

    Of the rules that match a resource the most specific wins, and of equally specific ones
    the most severe. A call is judged by the worst of its resources, a command by the worst
    of its parts. `mode` may be changed while a run is on.

    Args:
        mode: what happens where no rule decides.
        rules: the person's own.
        restrictions: rules of a project; they can make a decision more severe, never less.
        workspace: says what is inside.
        protected: directories whose change always asks, besides the usual files.
    """

    name = "permissions"

    def __init__(
        self,
        mode: Mode,
        rules: Iterable[Rule] = (),
        *,
        workspace: Places,
        restrictions: Iterable[Rule] = (),
        protected: Iterable[Path] = (),
    ) -> None:
        self.mode = mode
        self._workspace = workspace
        self._granted: list[Rule] = []
        self.use(rules)
        self._restrictions = tuple(rule.resolved(workspace.root) for rule in restrictions)
        self._protected = Protected(protected)
        self._fold = _case_folds(workspace.root)
        self._asked: dict[str, tuple[Resource, ...]] = {}

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules that hold now, those of "always allow" included."""
        return (*self._rules, *self._restrictions)

    @property
    def granted(self) -> tuple[Rule, ...]:
        """What "always allow" allowed in this session."""
        return tuple(self._granted)

    def use(self, rules: Iterable[Rule]) -> None:
        """Take other rules as the person's own; what was granted in this session stays."""
        defaults = (Rule.parse(Decision.ALLOW, text) for text in ALWAYS_ALLOWED)
        own = [rule.resolved(self._workspace.root) for rule in (*defaults, *rules)]
        self._rules = [*own, *self._granted]

    def revoke(self, rule: Rule) -> None:
        """Take back what was granted in this session."""
        self._granted.remove(rule)
        self._rules.remove(rule)

    def allow(self, rule: str) -> None:
        """Allow, for the rest of the session, what a question's rule says.

        Raises:
            RuleError: it is no rule, or one that would allow anything at all.
        """
        parsed = Rule.parse(Decision.ALLOW, rule).resolved(self._workspace.root)
        if parsed.kind == "run" and any(_too_wide(part) for part in parse(parsed.pattern)):
            raise RuleError(f"{rule!r} would allow any command; name exactly what may run.")
        self._granted.append(parsed)
        self._rules.append(parsed)

    def judge(self, resources: Sequence[Resource]) -> Verdict:
        """Return the most severe verdict about any of the resources. It may look at the disk."""
        return worst(self._judge(resource) for resource in resources)

    def may_read(self, path: Path) -> bool:
        """Return whether no rule forbids to read a file, for tools that search many."""
        rule = self._winner("read", str(path))
        return rule is None or rule.decision is not Decision.DENY

    async def prompt_sections(self, ctx: RunContext) -> Sequence[PromptSection]:
        """Tell the model about plan mode."""
        return (PromptSection("mode", PLAN_MODE),) if self.mode is Mode.PLAN else ()

    async def wrap_tool_call(
        self, call: ToolCall, call_next: CallTool, ctx: CallContext
    ) -> Outcome:
        """Let a call run, ask for it, or deny it (S0-52, S0-53, S0-77, S0-78)."""
        resources = ctx.tool.touches(call.args)
        verdict = await asyncio.to_thread(self.judge, resources)
        asked = self._asked.pop(call.id, resources)
        match verdict.decision:
            case Decision.DENY:
                return Error(f"Denied: {verdict.reason}. {self._advice(verdict)}")
            case Decision.ASK if not ctx.approved:
                self._asked[call.id] = resources
                return NeedsApproval(_sentence(verdict.reason), rule=verdict.offer)
            case Decision.ASK | Decision.ALLOW if asked != resources:
                return Error(
                    "Denied: what this call touches changed after the person was asked about it. "
                    "Look at it again before you repeat the call."
                )
            case Decision.ASK | Decision.ALLOW:
                return await call_next(call)
            case _:
                assert_never(verdict.decision)

    async def on_end(self, ctx: RunContext, end: RunEnd) -> None:
        """Forget the questions of a run, unless it only waits for an answer."""
        if not isinstance(end, Suspended):
            self._asked.clear()

    def _judge(self, resource: Resource) -> Verdict:
        match resource.kind:
            case "run":
                return self._shell().judge(resource.name)
            case "read" | "write":
                return self._path(resource.kind, Path(resource.name))
            case "fetch" | "invoke":
                return self._named(resource.kind, resource.name)
            case _:
                assert_never(resource.kind)

    def _shell(self) -> ShellJudge:
        return ShellJudge(
            mode=self.mode,
            places=self._workspace,
            protected=self._protected,
            winner=self._winner,
            judge_path=self._path,
            denied=tuple(rule for rule in self.rules if rule.decision is Decision.DENY),
        )

    def _path(self, kind: Literal["read", "write"], path: Path) -> Verdict:
        rule = self._winner(kind, str(path))
        if rule is not None and rule.decision is Decision.DENY:
            return _forbidden(rule, f"{kind} {path}")
        inside = path.is_absolute() and self._workspace.contains(path)
        if kind == "write" and self.mode is Mode.PLAN:
            return Verdict(Decision.DENY, f"plan mode only reads, and this would write {path}")
        if self.mode is Mode.AUTO:
            return ALLOWED
        if kind == "write" and self._protected.holds(path):
            return Verdict(Decision.ASK, f"{path} changes what the agent may do")
        offer = f"{kind} {literal(str(path))}"
        if rule is not None:
            return self._ruled(rule, f"{kind} {path}", offer)
        if inside and (kind == "read" or self.mode is Mode.ACCEPT_EDITS):
            return ALLOWED
        where = "" if inside else ", which is outside the workspace"
        return Verdict(Decision.ASK, f"this would {kind} {path}{where}", offer)

    def _named(self, kind: Literal["fetch", "invoke"], name: str) -> Verdict:
        rule = self._winner(kind, name)
        what = f"{kind} {name}"
        if rule is not None and rule.decision is Decision.DENY:
            return _forbidden(rule, what)
        if self.mode is Mode.AUTO:
            return ALLOWED
        offer = f"{kind} {_site(name) if kind == 'fetch' else literal(name)}"
        if rule is not None:
            return self._ruled(rule, what, offer)
        return Verdict(Decision.ASK, f"this would {kind} {name}", offer)

    def _ruled(self, rule: Rule, what: str, offer: str) -> Verdict:
        if rule.decision is Decision.ALLOW:
            return ALLOWED
        return Verdict(Decision.ASK, f"the rule `{rule}` asks before {what}", offer, rule)

    def _winner(self, kind: Kind, name: str) -> Rule | None:
        """Return the rule that decides: the person's, or a stricter one of the project."""
        own = winner(self._rules, kind, name, fold=self._fold)
        project = winner(self._restrictions, kind, name, fold=self._fold)
        if project is None or project.decision is Decision.ALLOW:
            return own
        return project if own is None or project.decision >= own.decision else own

    def _advice(self, verdict: Verdict) -> str:
        if verdict.rule is None:
            return "Go on reading, and say in your answer what you would change."
        return "Do it in another way that the rules allow, or ask the person."


def _forbidden(rule: Rule, what: str) -> Verdict:
    return Verdict(Decision.DENY, f"the rule `{rule}` forbids {what}", rule=rule)


def _too_wide(part: object) -> bool:
    return isinstance(part, Command) and (
        runs_anything(part) or not part.name or part.words[0].glob
    )


def _site(url: str) -> str:
    parts = urlsplit(url)
    return literal(f"{parts.scheme}://{parts.netloc}/") + "*"


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


def _case_folds(root: Path) -> bool:
    """Return whether the file system takes two spellings that differ in case for one name."""
    swapped = Path(str(root).swapcase())
    try:
        return str(swapped) != str(root) and swapped.samefile(root)
    except OSError:
        return False
