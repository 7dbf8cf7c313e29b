"""The two themes of our own, and the marks that carry meaning without colour."""

from __future__ import annotations

from dataclasses import dataclass

from textual.color import Color
from textual.theme import Theme

DARK = Theme(
    name="todo-agent-dark",
    dark=True,
    primary="#7aa2d8",
    secondary="#a79ad8",
    accent="#e0a458",
    success="#83b97c",
    warning="#d9a441",
    error="#ea807c",
    foreground="#d6d9de",
    background="#14161a",
    surface="#1b1e24",
    panel="#23272f",
    variables={
        "muted": "#9aa1ac",
        "chosen": "#303338",
        "plan-background": "#181b20",
        "added": "#95c98c",
        "added-background": "#1a2a1f",
        "removed": "#ec8f8b",
        "removed-background": "#301d20",
        "rule": "#2e333c",
        "block-cursor-foreground": "#d6d9de",
        "block-cursor-background": "#303338",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": "#d6d9de",
        "block-cursor-blurred-background": "#303338",
        "input-cursor-background": "#d6d9de",
        "input-cursor-foreground": "#14161a",
        "input-selection-background": "#34465f",
        "screen-selection-background": "#34465f",
        "scrollbar": "#2e333c",
        "scrollbar-hover": "#454c58",
        "scrollbar-active": "#5a6270",
        "scrollbar-background": "#14161a",
        "scrollbar-background-hover": "#14161a",
        "scrollbar-background-active": "#14161a",
        "scrollbar-corner-color": "#14161a",
        "footer-key-foreground": "#7aa2d8",
    },
)
LIGHT = Theme(
    name="todo-agent-light",
    dark=False,
    primary="#2a5ea0",
    secondary="#5a3d96",
    accent="#8a4e00",
    success="#2a6527",
    warning="#7f5300",
    error="#b32d29",
    foreground="#24282e",
    background="#fbfbf9",
    surface="#f1f1ee",
    panel="#e8e8e4",
    variables={
        "muted": "#4f5660",
        "chosen": "#dcdeda",
        "plan-background": "#f5f5f2",
        "added": "#22601f",
        "added-background": "#e2f0de",
        "removed": "#9c2723",
        "removed-background": "#f8e3e1",
        "rule": "#d8d9d4",
        "block-cursor-foreground": "#24282e",
        "block-cursor-background": "#dcdeda",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": "#24282e",
        "block-cursor-blurred-background": "#dcdeda",
        "input-cursor-background": "#24282e",
        "input-cursor-foreground": "#fbfbf9",
        "input-selection-background": "#c5d6ec",
        "screen-selection-background": "#c5d6ec",
        "scrollbar": "#d3d4cf",
        "scrollbar-hover": "#b4b6b0",
        "scrollbar-active": "#93968f",
        "scrollbar-background": "#fbfbf9",
        "scrollbar-background-hover": "#fbfbf9",
        "scrollbar-background-active": "#fbfbf9",
        "scrollbar-corner-color": "#fbfbf9",
        "footer-key-foreground": "#2a5ea0",
    },
)


def colours_for(theme: Theme) -> dict[str, str]:
    """Return our own colours for a theme that does not name them."""
    ground = Color.parse(theme.background or ("#121212" if theme.dark else "#efefef"))
    ink = Color.parse(theme.foreground or ("#e0e0e0" if theme.dark else "#1f1f1f"))
    green, red = Color.parse(theme.success or "#4ebf71"), Color.parse(theme.error or "#ba3c5b")
    return {
        "muted": ground.blend(ink, 0.68).hex,
        "chosen": ground.blend(ink, 0.12).hex,
        "rule": ground.blend(ink, 0.18).hex,
        "plan-background": ground.blend(ink, 0.03).hex,
        "added": green.blend(ink, 0.4).hex,
        "added-background": ground.blend(green, 0.12).hex,
        "removed": red.blend(ink, 0.4).hex,
        "removed-background": ground.blend(red, 0.12).hex,
    }


@dataclass(frozen=True, slots=True)
class Marks:
    """The signs of the screen. Every state has its own, so none depends on colour."""

    done: str = "✓"
    active: str = "▶"
    pending: str = "○"
    paused: str = "‖"
    call: str = "●"
    failed: str = "✗"
    waiting: str = "◌"
    bar_full: str = "━"
    bar_empty: str = "─"
    more: str = "↓"
    dot: str = "·"
    opened: str = "▾"
    closed: str = "▸"
    prompt: str = "❯"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧"


UNICODE = Marks()
ASCII = Marks(
    done="[x]",
    active="[>]",
    pending="[ ]",
    paused="[=]",
    call="*",
    failed="!",
    waiting=".",
    bar_full="=",
    bar_empty="-",
    more="v",
    dot="-",
    opened="v",
    closed=">",
    prompt=">",
    spinner="|/-\\",
)


def marks_for(*, ascii_only: bool | None, term: str, encoding: str) -> Marks:
    """Return the marks that a terminal can draw, unless the choice is made already."""
    if ascii_only is None:
        ascii_only = term in ("linux", "vt100", "vt220", "dumb") or "utf" not in encoding.lower()
    return ASCII if ascii_only else UNICODE
