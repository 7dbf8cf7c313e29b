"""A workbench with real tools in a real directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from todo_agent.agent.json import Json
from todo_agent.agent.state import State
from todo_agent.agent.tools import Error, Outcome, Success, ToolCall, ToolContext
from todo_agent.tools.change import Keep, keep_nothing
from todo_agent.tools.coding import coding_tools
from todo_agent.tools.jobs import Jobs
from todo_agent.tools.sandbox import Sandbox
from todo_agent.tools.workspace import Workspace


class Bench:
    """One session's tools; calls go straight to them, with no permissions in between."""

    def __init__(
        self,
        root: Path,
        environ: Mapping[str, str] | None = None,
        *,
        keep: Keep = keep_nothing,
        jobs: Jobs | None = None,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.workspace = Workspace(root)
        self.root = self.workspace.root
        self.tools = {
            tool.name: tool
            for tool in coding_tools(
                self.workspace,
                environ={**os.environ, **(environ or {})},
                keep=keep,
                jobs=jobs,
                sandbox=sandbox,
            )
        }

    async def __call__(
        self,
        name: str,
        /,
        *,
        approved: bool = False,
        output: Callable[[str], None] = lambda _: None,
        **args: Json,
    ) -> Outcome:
        ctx = ToolContext("thread", State(), approved=approved, output=output)
        return await self.tools[name].run(ToolCall("1", name, args), ctx)

    async def text(self, name: str, /, **args: Json) -> str:
        """Return what the model reads of a success."""
        outcome = await self(name, **args)
        assert isinstance(outcome, Success), outcome
        assert isinstance(outcome.content, str)
        return outcome.content

    async def error(self, name: str, /, **args: Json) -> str:
        """Return what the model reads of an error."""
        outcome = await self(name, **args)
        assert isinstance(outcome, Error), outcome
        return outcome.message

    def file(self, name: str, content: bytes | str = b"") -> Path:
        """Make a file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path
