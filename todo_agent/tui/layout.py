"""Where the plan stands at a size of the screen, and how much room it gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NARROW = 100
"""Below so many columns the plan is a strip above the prompt."""
PLAN_AIR = 5
"""Rows of an opened plan on a narrow screen besides its todos."""
LOW = 20
"""Below so many rows everything that is only air goes."""
SLIM = 50
"""Below so many columns too."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What follows from the size of the screen and the length of the plan."""

    narrow: bool
    low: bool
    pane: bool
    """Whether the plan's pane is there."""
    strip: bool
    """Whether one line tells of the plan instead."""
    pane_rows: int | None
    """The pane's height; None for all there is."""


def arrange(width: int, height: int, *, todos: int, wanted: bool | None, unasked: bool) -> Layout:
    """Return the layout for a screen of so many cells.

    Args:
        width: columns of the screen.
        height: rows of the screen.
        todos: the length of the plan.
        wanted: whether the person asked for the pane, or to be without; None: neither.
        unasked: whether a wide screen shows the pane by itself.
    """
    narrow = width < NARROW
    pane = bool(todos) and not narrow and unasked if wanted is None else wanted
    return Layout(
        narrow=narrow,
        low=height < LOW or width < SLIM,
        pane=pane,
        strip=bool(todos) and narrow and not pane,
        pane_rows=min(todos + PLAN_AIR, max(height * 2 // 5, 2)) if narrow else None,
    )


def beside(layout: Layout, side: Literal["left", "right"], width: int) -> dict[str, int]:
    """Return the columns that dialogs leave to the pane, at the left and at the right."""
    taken = width if layout.pane and not layout.narrow else 0
    return {"left": 0, "right": 0, side: taken}
