"""Moving through a conversation, opening what is folded, and staying where one is."""

from __future__ import annotations

from textual import events

from tests.tui.stand_in import DIFF, StandIn, result
from tests.tui.support import Screen, screen
from todo_agent.agent.events import TextDelta, ThinkingDelta, ToolFinished, ToolOutput, ToolStarted
from todo_agent.agent.messages import Display, Message, Text, ToolUse, assistant, user
from todo_agent.tui.entries import Thought
from todo_agent.tui.widgets.text_lines import TextLines
from todo_agent.tui.widgets.tool_call import CHANGE_LINES, DETAIL_ROWS, CallHead, MoreLine

OUTPUT = "\n".join(f"line {n}" for n in range(500))


def thread(turns: int) -> StandIn:
    messages: list[Message] = []
    for number in range(turns):
        call = ToolUse(f"t{number}", "shell", {"command": f"make part{number}"})
        messages += [
            user(f"question {number}"),
            assistant(Text(f"answer {number}\n\n" + "More.\n\n" * 10), call),
            Message("user", (result(call.id, "", Display("exit 0", OUTPUT, "output")),)),
        ]
    return StandIn(messages=tuple(messages))


async def test_one_jumps_from_question_to_question_and_back():
    async with screen(thread(80)) as shown:
        await shown.shows("part79")
        await shown.press("alt+up")
        await shown.until(lambda: "question 79" in shown.text())
        for number in (78, 77):
            await shown.press("alt+up")
            await shown.until(lambda n=number: _top(shown) == f"▌ question {n}")
        await shown.press("ctrl+down")
        await shown.until(lambda: _top(shown) == "▌ question 78")
        await shown.press("alt+down", "alt+down")
        await shown.until(lambda: shown.app.transcript.following)


async def test_one_jumps_to_questions_that_are_not_mounted():
    async with screen(thread(80)) as shown:
        await shown.shows("part79")
        await shown.press("alt+up")
        for number in range(78, 29, -1):
            await shown.settled()
            await shown.press("alt+up")
            await shown.until(lambda n=number: _top(shown) == f"▌ question {n}")
            await shown.settled()


async def test_jumping_begins_where_one_scrolled_to():
    async with screen(thread(20)) as shown:
        await shown.shows("part19")
        await shown.press("alt+up", "alt+up", "pageup", "pageup", "pageup", "pageup")
        await shown.settled()
        seen = int(next(line for line in _lines(shown) if "question" in line).split()[-1])
        await shown.press("alt+up")
        await shown.until(lambda: _top(shown) == f"▌ question {seen - 1}")


async def test_the_keys_go_from_entry_to_entry_and_open_a_call():
    async with screen(thread(3)) as shown:
        await shown.shows("part2")
        shown.app.transcript.focus()
        await shown.press("up", "enter")
        await shown.shows("line 3 ")
        await shown.press("enter")
        await shown.until(lambda: "line 3 " not in shown.text())


async def test_an_open_output_scrolls_inside_and_hands_over_at_its_end():
    async with screen(thread(3)) as shown:
        await shown.shows("part2")
        shown.app.transcript.focus()
        await shown.press("up", "enter")
        await shown.shows("line 3 ")
        output = shown.app.transcript.query_one(TextLines)
        assert output.size.height == DETAIL_ROWS
        await shown.press("down")
        await shown.until(lambda: output.scroll_offset.y == 3)
        await shown.press("up", "up")
        await shown.until(lambda: "answer 2" in shown.text())
        outer = shown.app.transcript.scroll_offset.y
        await shown.pilot._post_mouse_events(
            [events.MouseScrollUp], output, offset=(3, 3), button=0
        )
        await shown.until(lambda: shown.app.transcript.scroll_offset.y < outer)
        assert output.scroll_offset.y == 0


async def test_a_click_opens_a_call_and_leaves_the_prompt_its_keys():
    async with screen(thread(1)) as shown:
        await shown.shows("part0")
        await shown.pilot.click(CallHead)
        await shown.shows("line 3 ")
        await shown.press("c", "m")
        assert shown.app.prompt.draft == "cm"


async def test_hidden_lines_show_when_they_are_asked_for():
    change = "--- a\n+++ b\n@@ -0,0 +1,300 @@\n" + "\n".join(f"+new {n}" for n in range(300))
    async with screen() as shown:
        shown.session.begin("x")
        shown.session.calls("write", "new.py", Display("+300 -0", change, "diff", "new.py"))
        await shown.settled()
        await shown.press("ctrl+o")
        await shown.shows(f"… {300 - CHANGE_LINES} more lines  m shows all")
        await shown.pilot.click(MoreLine)
        await shown.shows("300 + new 299")


async def test_what_is_open_stays_open_out_of_sight():
    async with screen(thread(60)) as shown:
        await shown.shows("part59")
        await shown.pilot.click(shown.app.transcript.query(CallHead).last())
        await shown.until(lambda: len(shown.app.transcript.query(TextLines)) == 1)
        for _ in range(45):
            await shown.press("alt+up")
            await shown.settled()
        await shown.until(lambda: not shown.app.transcript.query(TextLines))
        await shown.press("end")
        await shown.until(lambda: len(shown.app.transcript.query(TextLines)) == 1)


async def test_the_view_stays_while_hundreds_of_pieces_stream_in():
    async with screen(thread(20)) as shown:
        await shown.shows("part19")
        shown.session.begin("go")
        places = []
        for number in range(500):
            shown.session.emit(TextDelta(f"word {number} " + ("\n\n" if number % 9 == 0 else "")))
            if number == 100:
                await shown.settled()
                await shown.press("pageup")
            if number >= 100 and number % 20 == 0:
                await shown.pilot.pause()
                places.append(shown.app.transcript.scroll_offset)
        await shown.settled()
        assert set(places) == {shown.app.transcript.scroll_offset}
        await shown.shows("new below")


async def test_a_click_on_what_is_new_goes_there():
    async with screen(thread(20)) as shown:
        await shown.shows("part19")
        shown.session.begin("go")
        await shown.settled()
        await shown.press("pageup")
        shown.session.emit(TextDelta("the newest"))
        await shown.shows("new below")
        await shown.pilot.click("#news")
        await shown.shows("the newest")


async def test_one_can_still_scroll_after_hundreds_of_entries_and_other_panes():
    async with screen() as shown:
        shown.session.begin("go")
        for number in range(100):
            shown.session.emit(TextDelta(f"text {number}\n"))
            shown.session.calls("read", f"a{number}.py", Display("1 line", "x"))
            shown.session.calls("edit", f"b{number}.py", Display("+3 -2", DIFF, "diff", "b.py"))
            if number % 10 == 0:
                await shown.press("ctrl+t")
                await shown.settled()
        await shown.settled()
        for _ in range(50):
            await shown.press("pageup")
            await shown.settled()
        assert "▌ go" in shown.text()
        await shown.press("end")
        await shown.shows("b99.py")


async def test_thinking_says_how_long_it_took():
    now = 100.0
    async with screen(clock=lambda: now) as shown:
        shown.session.begin("x")
        shown.session.emit(ThinkingDelta("First this.\n\nThen that"))
        await shown.shows("▸ thinking  Then that")
        now += 4
        shown.session.emit(ThinkingDelta("."))
        await shown.shows("▸ thinking 4s  Then that.")
        shown.session.emit(TextDelta("Done."))
        await shown.shows("▸ thought for 4s")
        shown.session.says("Done.")
        await shown.settled()
        assert shown.app.transcript.entries[1] == Thought("First this.\n\nThen that.", 4.0)
        assert "Then that" not in shown.text()
        await shown.press("ctrl+o")
        await shown.shows("▾ thought for 4s")
        await shown.shows("First this.")


async def test_a_running_call_says_for_how_long_it_runs():
    now = 100.0
    async with screen(clock=lambda: now) as shown:
        shown.session.begin("x")
        shown.session.emit(ToolStarted("c", "shell", "sleep 60", {}))
        await shown.shows("shell  sleep 60")
        now += 12
        await shown.shows("sleep 60  12s")
        shown.session.emit(ToolOutput("c", "\n".join(f"row {n}" for n in range(40))))
        await shown.shows("row 39")
        assert "row 31" not in shown.text()
        assert "row 32" in shown.text()
        shown.session.emit(ToolFinished("c", "shell", result("c", "", FAILED, is_error=True), 12))
        await shown.shows("✗ shell  sleep 60  exit 1 · 12.0 s · 3 lines  No such file")


FAILED = Display("exit 1 · 12.0 s", "one\ntwo\nNo such file\n", "output")


async def test_a_failure_has_a_row_of_its_own_where_there_is_no_room():
    async with screen(size=(40, 20)) as shown:
        shown.session.begin("x")
        shown.session.calls("shell", "make everything", FAILED, is_error=True)
        await shown.shows("No such file")
        lines = [line.strip() for line in shown.text().splitlines()]
        assert "✗ shell  make everything  exit 1" in lines


def _lines(shown: Screen) -> list[str]:
    return [line.strip(" ▁▂▃▄▅▆▇█▔▌").strip() for line in shown.text().splitlines()]


def _top(shown: Screen) -> str:
    width = shown.app.transcript.size.width
    return shown.text().splitlines()[0][:width].strip()
