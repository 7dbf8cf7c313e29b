"""An ordered stack of middlewares: built once, checked, and composed into onions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from todo_agent.agent.middleware import Middleware
from todo_agent.agent.outcomes import LimitReached
from todo_agent.agent.provider import ProviderError
from todo_agent.agent.state import Update
from todo_agent.agent.tools import Tool

T = TypeVar("T")


class StackError(ValueError):
    """A stack that cannot be built."""


class MiddlewareError(Exception):
    """A hook raised. The original exception is the cause."""

    def __init__(self, name: str, hook: str, error: Exception) -> None:
        super().__init__(f"{name}.{hook} failed: {type(error).__name__}: {error}")
        self.name = name
        self.error = error


class UndeclaredKeyError(Exception):
    """An update writes a key its author did not declare (S0-85)."""

    def __init__(self, name: str, keys: Iterable[str]) -> None:
        super().__init__(f"{name} wrote state it does not declare: {', '.join(sorted(keys))}")
        self.name = name


@dataclass(frozen=True, slots=True)
class OwnedTool:
    """A tool and the keys it may write."""

    tool: Tool
    owner: str
    keys: frozenset[str]


class Stack:
    """Middlewares in order; the first is the outermost (S0-64).

    Raises:
        StackError: two middlewares of one name, a blank name, one tool name contributed
            twice, or one key declared as two different ones (S0-88).
    """

    def __init__(self, middleware: Sequence[Middleware], tools: Sequence[Tool] = ()) -> None:
        self.middleware = tuple(middleware)
        self._own_tools = tuple(tools)
        _refuse_twice("middleware", [name_of(item) for item in self.middleware])
        keys: dict[str, object] = {}
        for item in self.middleware:
            for key in item.writes:
                if keys.setdefault(key.name, key) is not key:
                    raise StackError(f"two different state keys are named {key.name!r}")
        self.fingerprint = self._structure()
        """A short text that differs for two stacks of different structure (S0-61)."""

    @property
    def keys(self) -> frozenset[str]:
        """The names of all state keys that this stack brings (S0-60)."""
        return frozenset(key.name for item in self.middleware for key in item.writes)

    @property
    def locks(self) -> frozenset[str]:
        """The names of all locks its tools take for themselves (S0-60)."""
        return frozenset().union(*(own.tool.locks.exclusive for own in self.tools().values()))

    def tools(self) -> dict[str, OwnedTool]:
        """Return all tools by name, as they are now.

        Raises:
            StackError: one name is contributed twice, or is blank.
        """
        owned = [OwnedTool(tool, "", frozenset()) for tool in self._own_tools]
        for item in self.middleware:
            keys = frozenset(key.name for key in item.writes)
            owned += [OwnedTool(tool, name_of(item), keys) for tool in item.tools]
        _refuse_twice("tool", [own.tool.name for own in owned])
        return {own.tool.name: own for own in owned}

    def _structure(self) -> str:
        parts = [
            f"{name_of(item)}/{type(item).__qualname__}/{item.fingerprint}"
            for item in self.middleware
        ]
        parts += [f"tool {name}" for name in sorted(self.tools())]
        parts += [f"key {name}" for name in sorted(self.keys)]
        parts += [f"lock {name}" for name in sorted(self.locks)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def name_of(middleware: Middleware) -> str:
    """Return a middleware's name: its own, or its class's."""
    return middleware.name or type(middleware).__name__


def check_update(middleware: Middleware, update: Update, *, besides: frozenset[str]) -> None:
    """Check that a middleware writes only what it declares, besides what it was handed.

    Raises:
        UndeclaredKeyError: it does not.
    """
    declared = frozenset(key.name for key in middleware.writes)
    undeclared = update.names - declared - besides
    if undeclared:
        raise UndeclaredKeyError(name_of(middleware), undeclared)


async def guarded(
    middleware: Middleware, hook: Callable[..., Coroutine[Any, Any, T]], *args: object
) -> T:
    """Await a hook; what it raises comes out with the middleware's name on it (S0-87)."""
    return await guarded_as(name_of(middleware), hook, *args)


async def guarded_as(name: str, hook: Callable[..., Coroutine[Any, Any, T]], *args: object) -> T:
    """Await a hook of whatever has this name, likewise."""
    try:
        return await hook(*args)
    except (MiddlewareError, UndeclaredKeyError, ProviderError, LimitReached):
        raise
    except Exception as error:
        raise MiddlewareError(name, hook.__name__, error) from error


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name in names:
        if not name.strip():
            raise StackError(f"a {what} has a blank name")
        if names.count(name) > 1:
            raise StackError(f"two {what}s are named {name!r}")
