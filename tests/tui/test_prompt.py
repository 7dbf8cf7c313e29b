from __future__ import annotations

import pytest
from textual import events

from tests.tui.support import screen


@pytest.mark.parametrize(
    ("pasted", "draft"),
    [
        ("line1\rline2\rline3\r", "line1\nline2\nline3\n"),
        ("one\r/clear\r", "one\n/clear\n"),
        ("\rb\rc", "\nb\nc"),
    ],
)
async def test_lines_pasted_as_plain_keys_stay_one_draft(pasted, draft):
    async with screen() as shown:
        shown.burst(pasted)
        await shown.until(lambda: shown.app.prompt.draft == draft)
        await shown.pilot.pause(0.15)
        assert (shown.app.prompt.draft, shown.session.sent) == (draft, [])


async def test_one_line_typed_ahead_is_sent():
    async with screen() as shown:
        shown.burst("hello\r")
        await shown.until(lambda: shown.session.sent == ["hello"])


async def test_a_bracketed_paste_is_one_draft():
    async with screen() as shown:
        shown.app.post_message(events.Paste("a\r\nb\r/clear\nc"))
        await shown.until(lambda: shown.app.prompt.draft == "a\nb\n/clear\nc")
        await shown.pilot.pause(0.1)
        assert shown.session.sent == []


async def test_a_huge_paste_is_folded_and_sent_whole():
    huge = "\n".join(f"row {n}" for n in range(500))
    async with screen() as shown:
        await shown.type("look: ")
        shown.app.post_message(events.Paste(huge))
        await shown.shows("look: [pasted text #1, 500 lines]")
        await shown.press("enter")
        await shown.until(lambda: shown.session.sent == [f"look: {huge}"])


async def test_a_folded_paste_comes_back_from_the_history_and_out_of_the_queue():
    huge = "x" * 5000
    async with screen() as shown:
        shown.session.send("go")
        shown.app.post_message(events.Paste(huge))
        await shown.shows("[pasted text #1, 5,000 characters]")
        await shown.press("enter")
        await shown.until(lambda: shown.session.queued == (huge,))
        await shown.press("escape")
        await shown.until(lambda: shown.app.prompt.draft == huge)


async def test_a_marker_written_by_hand_is_just_text():
    async with screen() as shown:
        await shown.type("[pasted text #7, 3 lines]")
        await shown.press("enter")
        await shown.until(lambda: shown.session.sent == ["[pasted text #7, 3 lines]"])


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter", "ctrl+enter"])
async def test_keys_for_a_new_line(key):
    async with screen() as shown:
        await shown.press("a", key, "b")
        assert shown.app.prompt.draft == "a\nb"


async def test_a_backslash_before_enter_is_a_new_line():
    async with screen() as shown:
        await shown.press("a", "backslash", "enter", "b")
        assert shown.app.prompt.draft == "a\nb"


async def test_typing_anywhere_is_writing():
    async with screen() as shown:
        shown.app.transcript.focus()
        await shown.press("h", "i")
        assert shown.app.prompt.draft == "hi"
        assert shown.app.prompt.has_focus


async def test_the_cursor_moves_by_visible_characters():
    async with screen() as shown:
        await shown.type("a👨‍👩‍👧汉e\u0301\u202eb")
        await shown.press("home", *["right"] * 12, "backspace")
        assert shown.app.prompt.draft.startswith("a👨‍👩‍👧汉")
