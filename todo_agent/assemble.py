"""Puts a session together: provider, tools, stack, store. The only file that knows them all."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from todo_agent.agent.conversation import Conversation
from todo_agent.agent.loop import Agent
from todo_agent.agent.middleware import Middleware
from todo_agent.agent.provider import Provider
from todo_agent.demo import demo_model, demo_workspace
from todo_agent.errors import ConfigError
from todo_agent.extensions.host import ExtensionHost
from todo_agent.instructions import NAME as INSTRUCTIONS
from todo_agent.middleware.budget import Budget
from todo_agent.middleware.compaction import Compaction
from todo_agent.middleware.instructions import Instructions
from todo_agent.middleware.permissions import Permissions
from todo_agent.middleware.repairs import Repairs
from todo_agent.middleware.repetition import Repetition
from todo_agent.middleware.retries import Retries
from todo_agent.middleware.rules import RuleError
from todo_agent.middleware.secrets import Secrets
from todo_agent.paths import Paths
from todo_agent.plan.disciplines import DISCIPLINES
from todo_agent.plan.extension import TodoWriteExtension
from todo_agent.plan.middleware import TodoListMiddleware, TodoMiddleware
from todo_agent.providers.late import CountingProvider, LateProvider, MissingProvider
from todo_agent.providers.models import DEFAULT_MODEL, context_window, cost, known_models
from todo_agent.session import Parts, PlanOwner, Session
from todo_agent.settings import NO_KEY, Config
from todo_agent.threads.errors import ThreadError
from todo_agent.threads.moments import Moment
from todo_agent.threads.store import OpenMode, ThreadStore
from todo_agent.threads.summary import ThreadInfo
from todo_agent.threads.thread import Thread
from todo_agent.tools.coding import coding_tools
from todo_agent.tools.files import FileError
from todo_agent.tools.jobs import Jobs
from todo_agent.tools.sandbox import Sandbox, find_sandbox
from todo_agent.tools.shell import shell_tool
from todo_agent.tools.snapshots import Snapshots
from todo_agent.tools.walker import walk
from todo_agent.tools.workspace import Workspace

DEMO_MODEL = "scripted"
MAX_FILES = 50_000
"""The most files that `@` completes."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the program was started, and how."""

    cwd: Path
    environ: Mapping[str, str]
    extra_dirs: tuple[Path, ...] = ()
    demo: bool = False
    demo_tempo: float = 0.0
    """How long the demo's model takes; 1 for an eye that follows."""


class Workshop:
    """Opens sessions (see `Workbench`).

    Raises:
        ConfigError: a permission rule cannot be understood.
    """

    def __init__(self, config: Config, paths: Paths, place: Place) -> None:
        self._config = config
        self._paths = paths
        self._place = place
        self._store = ThreadStore(paths.threads_dir)
        self._provider = _provider(config, place)
        self._demo_dir = demo_workspace() if place.demo else None
        self._sandbox, self._sandbox_notices = _sandbox(config, paths, place)
        try:
            self._rules, self._restrictions = config.rules, config.restrictions.rules
        except RuleError as error:
            raise ConfigError(f"permissions: {error}") from error

    @property
    def cwd(self) -> Path:
        """Where new threads work."""
        return self._demo_dir or self._place.cwd

    async def open(self, thread: str | None) -> Session:
        """Open a thread by id or unique prefix, or begin a new one.

        Raises:
            ThreadError: it is unknown, ambiguous, in use or damaged beyond reading.
        """
        model = DEMO_MODEL if self._place.demo else self._config.model or DEFAULT_MODEL
        if thread is None:
            return await self._session(self._new_thread(model), model)
        opened = await asyncio.to_thread(self._store.open, thread)
        return await self._session(opened, self._config.model or opened.model or model)

    async def read(self, thread: str) -> Session:
        """Open a thread for reading only, even where another process works on it.

        Raises:
            ThreadError: it is unknown or damaged beyond reading.
        """
        opened = await asyncio.to_thread(self._store.open, thread, mode=OpenMode.READ_ONLY)
        return await self._session(opened, opened.model or DEFAULT_MODEL)

    async def fork(self, thread: str) -> Session:
        """Open a copy of a thread.

        Raises:
            ThreadError: it is unknown or damaged.
        """
        return await self._copy(thread)

    async def branch(self, thread: str, moment: Moment) -> Session:
        """Open a copy of a thread as it was before a message.

        Raises:
            TodoAgentError: it cannot be copied.
        """
        return await self._copy(thread, moment)

    async def _copy(self, thread: str, moment: Moment | None = None) -> Session:
        before, messages = (moment.seq, moment.index) if moment else (None, None)
        copy = await asyncio.to_thread(self._store.fork, thread, before=before)
        try:
            source, kept = Snapshots(self._kept_files(copy.parent)), self._kept_files(copy.id)
            await asyncio.to_thread(source.copy, kept, messages=messages)
        except FileError as error:
            copy.close()
            await asyncio.to_thread(self._store.remove, copy.id)
            raise ThreadError(str(error)) from error
        return await self._session(copy, self._config.model or copy.model or DEFAULT_MODEL)

    def _kept_files(self, thread_id: str) -> Path:
        return self._paths.threads_dir / thread_id / "files"

    def threads(self) -> Sequence[ThreadInfo]:
        """Return all threads, newest first. Reads the disk."""
        return self._store.list()

    def newest(self) -> str | None:
        """Return the id of this directory's newest thread. Reads the disk."""
        info = self._store.newest(self.cwd)
        return None if info is None else info.id

    def files(self) -> Sequence[str]:
        """Return the workspace's files, relative to it, without ignored ones. Reads the disk."""
        return [path for path, _ in zip(walk(self.cwd), range(MAX_FILES), strict=False)]

    async def warm_up(self) -> None:
        """Load what the first model call needs."""
        if isinstance(self._provider, LateProvider):
            await self._provider.ready()

    def _window_of(self, model: str) -> int:
        return self._config.context_window or context_window(model)

    def _new_thread(self, model: str) -> Thread:
        """Return a thread of this directory, in memory where none can be stored."""
        mode = self._config.mode
        try:
            return self._store.create(self.cwd, model=model, mode=mode)
        except ThreadError as error:
            return Thread.in_memory(self.cwd, model=model, mode=mode, reason=str(error))

    async def _session(self, thread: Thread, model: str) -> Session:
        config, conversation = self._config, thread.conversation
        cwd, notices = _working_directory(thread, self.cwd)
        workspace = Workspace(cwd, self._place.extra_dirs, confined=False)
        permissions = Permissions(
            config.mode,
            self._rules,
            workspace=workspace,
            restrictions=self._restrictions,
            protected=self._paths.own_dirs,
        )
        jobs = Jobs()
        snapshots = Snapshots(self._kept_files(thread.id), lambda: len(conversation.messages))
        tools = coding_tools(
            workspace,
            environ=self._place.environ,
            keep=snapshots.keep,
            jobs=jobs,
            sandbox=self._sandbox,
            may_read=permissions.may_read,
        )
        plan, outermost, carrying = _plan(config, conversation)
        compaction = Compaction(
            self._window_of,
            at=config.compact_at / 100 or None,
            count=self._provider.count_tokens if isinstance(self._provider, LateProvider) else None,
        )
        secrets = Secrets(config.secrets)
        stack: list[Middleware] = [
            *outermost,
            Instructions(config.instructions, source=INSTRUCTIONS),
            permissions,
            secrets,
            compaction,
            carrying,
            Repetition(),
            Retries(),
            Repairs(),
            Budget(cost, max_usd=config.max_cost),
        ]
        agent = Agent(
            self._provider,
            model=model,
            tools=tools,
            middleware=stack,
            system=_system(cwd),
            max_tokens=config.max_tokens,
            max_steps=config.max_turns,
            max_prompt_section_tokens=config.max_prompt_section_tokens,
        )
        changed = () if thread.read_only else await plan.take_over(conversation)
        parts = Parts(
            agent=agent,
            thread=thread,
            cwd=cwd,
            permissions=permissions,
            plan_owner=plan,
            shell=shell_tool(workspace, environ=self._place.environ),
            jobs=jobs,
            snapshots=snapshots,
            models=known_models(),
            context_window=self._window_of,
            compaction=compaction,
            secrets=secrets,
            scripted=self._place.demo,
            notices=(*config.notices, *self._sandbox_notices, *notices, *changed),
        )
        return Session(parts)


def _provider(config: Config, place: Place) -> Provider:
    if place.demo:
        return demo_model(DISCIPLINES[config.discipline], tempo=place.demo_tempo)
    if not config.has_key:
        return MissingProvider(NO_KEY)

    def build() -> CountingProvider:
        module = importlib.import_module("todo_agent.providers.anthropic")
        provider: CountingProvider = module.AnthropicProvider(
            api_key=config.api_key or None,
            auth_token=None if config.api_key else config.auth_token,
            base_url=config.base_url or None,
            effort=config.effort,
        )
        return provider

    return LateProvider(build)


def _plan(
    config: Config, conversation: Conversation
) -> tuple[PlanOwner, tuple[Middleware, ...], Middleware]:
    """Return who holds the plan, what belongs outermost in the stack, and what carries it."""
    match config.discipline:
        case "sequential":
            extension = TodoWriteExtension()
            return extension, (ExtensionHost([extension]),), extension.notes
        case "free":
            free = TodoMiddleware(config.max_todos, config.max_todo_chars)
            return free, (), free
        case _:
            guarded = TodoListMiddleware(
                extra_ref=lambda: conversation.extra,
                stale_threshold=config.stale_threshold,
                stale_interval=config.stale_interval,
                questions_end_turns=True,
            )
            return guarded, (), guarded


def _sandbox(config: Config, paths: Paths, place: Place) -> tuple[Sandbox | None, tuple[str, ...]]:
    """Return what commands run in, and what to tell the person about it.

    Raises:
        ConfigError: there is no sandbox, and the configuration requires one.
    """
    if config.sandbox == "off":
        return None, ()
    found = find_sandbox(
        place.environ, network=config.sandbox_network, hidden=(paths.config_dir, paths.data_dir)
    )
    if isinstance(found, Sandbox):
        return found, ()
    if config.sandbox == "require":
        raise ConfigError(f"sandbox.mode is require, but {found}.")
    if paths.told_no_sandbox.exists():
        return None, ()
    with contextlib.suppress(OSError):
        paths.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        paths.told_no_sandbox.touch(0o600)
    return None, (f"Commands run without a sandbox: {found}.",)


def _working_directory(thread: Thread, fallback: Path) -> tuple[Path, tuple[str, ...]]:
    """Return where a thread's tools work: where it was begun, if that still exists."""
    if not thread.cwd:
        return fallback, ()
    cwd = Path(thread.cwd)
    if cwd.is_dir():
        return cwd, ()
    return fallback, (f"{cwd} is gone; the tools work in {fallback} now.",)


def _system(cwd: Path) -> str:
    text = files("todo_agent").joinpath("system.md").read_text("utf-8")
    return f"{text}\n# Here\n- Directory: {cwd}\n- Date: {time.strftime('%Y-%m-%d')}\n"
