"""The keys that work right here: those of what has the focus, then those that work everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from textual.app import App
from textual.dom import DOMNode
from textual.keys import key_to_character
from textual.screen import Screen
from textual.widgets import TextArea

from todo_agent.tui.widgets.plan_list import PlanList
from todo_agent.tui.widgets.prompt import Prompt

Rows: TypeAlias = tuple[tuple[str, str], ...]

WRITING: Rows = (
    ("enter", "send; while the agent works: queue for its next step"),
    ("ctrl+j", "new line (also shift+enter, alt+enter, or \\ before enter)"),
    ("up, down", "earlier texts"),
    ("/", "a command"),
    ("@", "name a file"),
    ("!", "run a command yourself; the agent reads its output with your next message"),
    ("pageup, pagedown", "scroll; end, in an empty draft, goes back to the newest"),
    ("ctrl+d", "quit, when the draft is empty"),
    ("ctrl+_", "undo typing"),
)
"""What the prompt does with keys before any binding sees them."""
SAID = frozenset({"older", "newer", "undo", "app.page(-1)", "app.page(1)", "quit"})
"""Actions of bindings that `WRITING` names already, in better words."""


@dataclass(frozen=True, slots=True)
class KeySection:
    """A heading with keys and what they do."""

    title: str
    rows: Rows


def keys_here(screen: Screen[object]) -> Iterator[KeySection]:
    """Yield the keys of the focused widget, of the dialog if there is one, and of the app.

    They are those a person chose, where that was done.
    """
    by_place: dict[DOMNode, dict[str, tuple[list[str], str]]] = {}
    for key, active in screen.active_bindings.items():
        node, binding = active.node, active.binding
        if not binding.description or binding.system or not _is_ours(node, binding.action):
            continue
        keys, _ = by_place.setdefault(node, {}).setdefault(
            binding.action, ([], binding.description)
        )
        keys.append(key_to_character(key) or key)
    if isinstance(screen.focused, Prompt):
        rows = _rows(by_place.pop(screen.focused, {}))
        yield KeySection("Writing", (*WRITING, *rows))
    for node, bound in by_place.items():
        if rows := _rows(bound):
            yield KeySection(_title(node), rows)


def _rows(bound: dict[str, tuple[list[str], str]]) -> Rows:
    return tuple(
        (", ".join(keys), what) for action, (keys, what) in bound.items() if action not in SAID
    )


def _title(node: DOMNode) -> str:
    match node:
        case App():
            return "Everywhere"
        case Screen():
            return "In this dialog"
        case PlanList():
            return "In the plan"
        case _:
            return "In the conversation"


def _is_ours(node: DOMNode, action: str) -> bool:
    """Leave out what a text area does by itself, and what Textual does for its own screens."""
    if not isinstance(node, TextArea | Screen | App):
        return True
    own = (cls for cls in type(node).__mro__ if cls.__module__.startswith("todo_agent."))
    bound = (binding for cls in own for binding in vars(cls).get("BINDINGS", ()))
    return any(action == (b[1] if isinstance(b, tuple) else b.action) for b in bound)
