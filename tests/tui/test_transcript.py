from __future__ import annotations

import asyncio

import pytest

from tests.tui.stand_in import StandIn, result
from tests.tui.support import screen
from todo_agent.agent.events import TextDelta, ToolFinished, ToolOutput, ToolStarted
from todo_agent.agent.messages import Display, Text, assistant, user
from todo_agent.tui.entries import Answer
from todo_agent.tui.widgets.transcript import PAGE, WINDOW


def long_thread(turns: int) -> StandIn:
    messages = []
    for number in range(turns):
        messages += [user(f"question {number}"), assistant(Text(f"answer *{number}*"))]
    return StandIn(messages=tuple(messages))


async def test_only_the_end_of_a_long_thread_is_mounted():
    async with screen(long_thread(1500)) as shown:
        await shown.shows("answer 1499")
        assert shown.app.transcript.mounted == range(3000 - WINDOW, 3000)
        assert len(shown.app.transcript.children) == WINDOW + 1


async def test_scrolling_to_the_top_brings_earlier_messages_and_keeps_the_place():
    async with screen(long_thread(200)) as shown:
        await shown.shows("answer 199")
        transcript = shown.app.transcript
        transcript.scroll_to(y=6, animate=False)
        await shown.until(lambda: transcript.scroll_offset.y == 6)
        seen = _rows(shown.text())[:6]
        transcript.scroll_to(y=4, animate=False)
        await shown.until(lambda: transcript.mounted.start == 400 - WINDOW - PAGE)
        await shown.until(lambda: _rows(shown.text())[2:8] == seen)


async def test_one_can_scroll_through_all_of_it_and_back_to_the_end():
    async with screen(long_thread(150)) as shown:
        await shown.shows("answer 149")
        for _ in range(300):
            await shown.press("pageup")
            await shown.settled()
            if "question 0" in shown.text().splitlines()[1:3][0]:
                break
        assert shown.app.transcript.mounted.start == 0
        assert len(shown.app.transcript.children) <= 2 * WINDOW + 1
        await shown.press("end")
        await shown.shows("answer 149")
        assert shown.app.transcript.following


async def test_it_follows_the_end():
    async with screen() as shown:
        shown.session.send("x")
        for number in range(60):
            shown.session.emit(TextDelta(f"line {number}\n\n"))
        await shown.shows("line 59")


async def test_it_stays_where_the_person_scrolled_and_tells_of_what_is_new():
    async with screen(long_thread(30)) as shown:
        await shown.shows("answer 29")
        shown.session.begin("more")
        await shown.settled()
        await shown.press("pageup")
        await shown.settled()
        place = shown.app.transcript.scroll_offset
        for number in range(60):
            shown.session.emit(TextDelta(f"new line {number}\n\n"))
        await shown.shows("new below")
        await shown.settled()
        assert shown.app.transcript.scroll_offset == place
        await shown.press("end")
        await shown.shows("new line 59")
        assert "new below" not in shown.text()


async def test_sending_goes_back_to_the_end():
    async with screen(long_thread(30)) as shown:
        await shown.shows("answer 29")
        await shown.press("pageup", "pageup")
        await shown.type("next")
        await shown.press("enter")
        await shown.until(lambda: shown.app.transcript.following)
        await shown.shows("next")


async def test_what_is_mounted_stays_bounded_while_a_turn_goes_on():
    async with screen() as shown:
        shown.session.send("x")
        for number in range(300):
            shown.session.calls("read", f"file{number}.py", Display("1 line"))
            if number % 20 == 0:
                await shown.settled()
        await shown.shows("file299.py")
        assert len(shown.app.transcript.mounted) <= WINDOW + PAGE


@pytest.mark.parametrize(
    "text",
    [
        "[/]",
        "[/",
        "[b + should reply 3",
        "[/USER]",
        "[#888888]x",
        "[@click=app.quit]x[/]",
        "[link=file:///etc/passwd]x[/link]",
    ],
)
async def test_brackets_are_only_text_everywhere(text):
    session = StandIn(title=text, model=text, notices=(text,))
    async with screen(session) as shown:
        session.send(text)
        session.emit(TextDelta(text + "\n\n"))
        session.calls(text, text, Display(text, text), text=text, is_error=True)
        await shown.press("ctrl+o")
        await shown.settled()
        assert shown.text().count(text) >= 6
        assert not _clickable(shown.app.screen._compositor)


async def test_escape_sequences_never_reach_the_terminal():
    sequences = (
        "\x1b]52;c;ZXZpbA==\x07",
        "\x1b]0;pwned\x07",
        "\x1b]8;;file:///T\x1b\\x\x1b]8;;\x1b\\",
        "\x9b2J",
        "\x1bPdcs\x1b\\",
        "\x1b]9;4;1;50\x07",
        "\x1b]",
    )
    async with screen() as shown:
        shown.session.send("x".join(sequences))
        for character in "y".join(sequences):
            shown.session.emit(TextDelta(character))
            await asyncio.sleep(0)
        for text in sequences:
            shown.session.emit(ToolStarted(text, text, text, {}), ToolOutput(text, text))
        await shown.settled()
        running = shown.text()
        for text in sequences:
            shown.session.emit(ToolFinished(text, text, result(text, text), 0.0))
        await shown.settled()
        assert not set(running + shown.text()) & {"\x1b", "\x07", "\x9b"}


async def test_many_lines_of_changelog_show_at_once():
    line = (
        "- **crypto**: fix ([[ce84aef37d](https://x.example/c)]) [#63111](https://x) [a phrase]\n"
    )
    async with screen() as shown:
        shown.session.send("x")
        shown.session.emit(ToolStarted("c", "shell", "cat", {}), ToolOutput("c", line * 2000))
        shown.session.emit(ToolFinished("c", "shell", result("c", line * 2000), 0.1))
        await shown.press("ctrl+o")
        await shown.settled()
        await shown.shows("… 1,600 more lines")


async def test_a_huge_answer_does_not_hold_up_the_keyboard():
    async with screen() as shown:
        shown.session.send("x")
        block = "```python\n" + "value = 1\n" * 30_000 + "```\n"
        shown.session.emit(TextDelta("intro\n\n"), TextDelta(block))
        await shown.press("h", "i")
        await shown.settled()
        assert shown.app.prompt.draft == "hi"


async def test_a_link_is_shown_and_copied_but_never_opened():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.emit(TextDelta("[docs](https://a.example/x) [file](file:///etc/passwd)"))
        await shown.shows("docs (https://a.example/x) [file](file:///etc/passwd)")
        row = next(y for y, line in enumerate(shown.text().splitlines()) if "docs" in line)
        await shown.pilot.click(offset=(4, row))
        await shown.until(lambda: shown.app.clipboard == "https://a.example/x")
        await shown.shows("Address copied")


async def test_a_message_without_text_shows_nothing():
    async with screen(StandIn(messages=(user(" "), assistant(Text("a"))))) as shown:
        assert shown.app.transcript.entries == (Answer("a"),)


def _rows(text: str) -> list[str]:
    """Return the lines without the column of the scroll bar."""
    return [line[:110].rstrip() for line in text.splitlines()]


def _clickable(compositor) -> list[str]:
    return [
        segment.text
        for strip in compositor.render_strips()
        for segment in strip
        if segment.style and segment.style.meta.get("@click")
    ]
