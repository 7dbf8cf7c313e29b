"""The actions whose keys a person may choose, and the names that keys have."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "meta", "hyper"})
TYPED = frozenset({"space", "slash", "backslash", "at", "minus", "plus", "underscore"})
"""Names of keys that write something."""
NAMED = (
    TYPED
    | {"up", "down", "left", "right", "home", "end", "pageup", "pagedown"}
    | {"insert", "delete", "backspace", "tab", "enter", "escape"}
    | {f"f{number}" for number in range(1, 25)}
)
TAKEN = {
    "enter": "sends the draft",
    "ctrl+m": "is Enter in most terminals",
    "ctrl+i": "is Tab in most terminals",
    "ctrl+j": "begins a new line",
    "ctrl+c": "clears, interrupts and quits",
    "ctrl+d": "quits",
    "ctrl+z": "suspends the program",
    "escape": "closes and interrupts",
    "up": "moves in the draft",
    "down": "moves in the draft",
    "left": "moves in the draft",
    "right": "moves in the draft",
    "home": "moves in the draft",
    "end": "moves in the draft and to the newest",
    "pageup": "scrolls",
    "pagedown": "scrolls",
    "backspace": "deletes",
    "delete": "deletes",
}
"""Keys that keep their meaning, with what it is."""


@dataclass(frozen=True, slots=True)
class KeyAction:
    """Something a key does everywhere on the main screen."""

    name: str
    keys: str
    """The default, separated by commas."""
    what: str


KEY_ACTIONS = (
    KeyAction("toggle_plan", "ctrl+t,f2", "Show or hide the plan"),
    KeyAction("focus_plan", "f3", "Edit the plan"),
    KeyAction("toggle_details", "ctrl+o", "Open or close all details"),
    KeyAction("next_mode", "shift+tab", "Next permission mode"),
    KeyAction("next_place", "tab", "Plan, conversation, prompt"),
    KeyAction("command_palette", "ctrl+p", "All commands"),
    KeyAction("help", "f1", "The keys that work here"),
    KeyAction("repaint", "ctrl+l", "Paint the screen afresh"),
    KeyAction("quit", "ctrl+q", "Save and leave"),
)


def key_problem(name: str) -> str:
    """Return why a key cannot be chosen for an action; empty where it can be."""
    if not name:
        return "one of the names is missing"
    if name in TAKEN:
        return f"{name} {TAKEN[name]}"
    *modifiers, base = name.split("+")
    if not base or not set(modifiers) <= MODIFIERS or not _is_key(base):
        return f"there is no key {name!r}"
    if _writes(base) and not set(modifiers) - {"shift"}:
        return f"{name!r} is for writing; use it with ctrl or alt, or take a key such as f5"
    return ""


def key_conflict(chosen: Mapping[str, str]) -> str:
    """Return which key would do two things; empty where each does one.

    Args:
        chosen: the keys that differ from the defaults, by action.
    """
    owner: dict[str, str] = {}
    for action in KEY_ACTIONS:
        for key in chosen.get(action.name, action.keys).split(","):
            other = owner.setdefault(key, action.name)
            if other != action.name:
                return f"{key} is chosen for {other} and for {action.name}; give one another key"
    return ""


def _is_key(base: str) -> bool:
    if base in NAMED or (len(base) == 1 and base.isprintable()):
        return True
    try:
        unicodedata.lookup(base.replace("_", " "))
    except KeyError:
        return False
    return True


def _writes(base: str) -> bool:
    return base in TYPED or base not in NAMED
