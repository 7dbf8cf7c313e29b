"""The bindings of the actions whose keys a person may choose."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding

from todo_agent.key_names import KEY_ACTIONS


def bindings(*names: str) -> Iterator[Binding]:
    """Yield the bindings of some actions; they work wherever the focus is on the main screen."""
    known = {action.name: action for action in KEY_ACTIONS}
    for name in names:
        action = known[name]
        yield Binding(action.keys, name, action.what, id=name, show=False, priority=True)
