"""Every text on our screens can be read on its background, in both of our themes."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet
from textual.strip import Strip

from tests.tui.scenes import SCENES
from tests.tui.stand_in import StandIn
from tests.tui.support import Screen
from tests.tui.test_config_form import configured
from todo_agent.tui.themes import DARK, LIGHT

ENOUGH = 4.5
SYSTEMS = {"truecolor": None, "256 colours": ColorSystem.EIGHT_BIT}


def luminance(color: ColorTriplet) -> float:
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def is_text(text: str) -> bool:
    """Tell text from space and from what only draws lines and bars."""
    drawing = ("BOX DRAWINGS", "BLOCK", "UPPER", "LOWER", "LEFT", "RIGHT", "FULL BLOCK")
    return any(not c.isspace() and not unicodedata.name(c, "").startswith(drawing) for c in text)


def seen(color: Color, system: ColorSystem | None) -> ColorTriplet:
    return (color if system is None else color.downgrade(system)).get_truecolor()


def unreadable(strips: list[Strip], system: ColorSystem | None) -> Iterator[str]:
    for strip in strips:
        for segment in strip:
            style = segment.style
            if not is_text(segment.text) or style is None:
                continue
            assert style.color is not None, segment
            assert style.bgcolor is not None, segment
            ink, ground = seen(style.color, system), seen(style.bgcolor, system)
            if style.reverse:
                ink, ground = ground, ink
            if style.dim or contrast(ink, ground) < ENOUGH:
                ratio = f"{contrast(ink, ground):.1f}"
                yield f"{segment.text.strip()!r}: {ink.hex} on {ground.hex}: {ratio}"


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_every_text_can_be_read(tmp_path: Path, theme: Any, scene: Any):
    async with configured(
        tmp_path / "c.toml", session=StandIn(cost_usd=0.04), theme=theme.name
    ) as shown:
        await played(shown, scene)
        strips = shown.app.screen._compositor.render_strips()
    found = {
        f"{name}: {problem}"
        for name, system in SYSTEMS.items()
        for problem in unreadable(strips, system)
    }
    assert found == set()


async def played(shown: Screen, scene: Callable[[Screen], Awaitable[None]]) -> None:
    await scene(shown)
    await shown.settled()
    await shown.pilot.pause(0.05)
