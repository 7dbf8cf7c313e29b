"""What the file tools share: their locks, their titles, the resources they touch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from todo_agent.agent.json import JsonObject
from todo_agent.agent.tools import Error, Locks, Outcome, Resource
from todo_agent.tools.files import FileError
from todo_agent.tools.workspace import PathError, Workspace, printable

READS = Locks(shared=frozenset({"workspace"}))
CHANGES = Locks(exclusive=frozenset({"workspace"}))
"""Calls that change files run alone, in the order of the message."""


def resources(
    workspace: Workspace, kind: Literal["read", "write"]
) -> Callable[[JsonObject], tuple[Resource, ...]]:
    """Return a tool's `resources`: the resolved path of a call."""

    def touched(args: JsonObject) -> tuple[Resource, ...]:
        path = path_of(args)
        try:
            return (Resource(kind, str(workspace.resolve(path))),)
        except PathError:
            return (Resource(kind, path),)

    return touched


def title(workspace: Workspace) -> Callable[[JsonObject], str]:
    """Return a tool's `title`: the path of a call as people read it."""

    def shown(args: JsonObject) -> str:
        path = path_of(args)
        try:
            return workspace.shown(workspace.resolve(path))
        except PathError:
            return printable(path)

    return shown


def path_of(args: JsonObject) -> str:
    """Return a call's path; the root where it has none."""
    return str(args.get("path", "."))


async def in_thread(work: Callable[[], Outcome]) -> Outcome:
    """Do work that blocks on the disk, off the event loop; what cannot be done is an error."""
    try:
        return await asyncio.to_thread(work)
    except (FileError, PathError) as error:
        return Error(str(error))
