from __future__ import annotations

import pytest

from tests.tui.stand_in import DIFF, StandIn, result
from tests.tui.support import Screen, screen
from todo_agent.agent.events import TextDelta, ToolFinished, ToolStarted
from todo_agent.agent.messages import Display, Message, Text, Thinking, ToolUse, assistant, user
from todo_agent.tui.entries import Answer, Call, CallState, Notice, Said, Thought, Turn
from todo_agent.tui.searching import Place, Query, hits, parts
from todo_agent.tui.widgets.text_lines import TextLines


def thread(turns: int) -> StandIn:
    messages: list[Message] = []
    for number in range(turns):
        call = ToolUse(f"t{number}", "shell", {"command": f"make part{number}"})
        printed = "\n".join(f"out {number}.{line}" for line in range(50))
        messages += [
            user(f"question {number}"),
            assistant(Thinking(f"pondering {number}", "s"), Text(f"answer *{number}*"), call),
            Message("user", (result(call.id, "", Display("exit 0", printed, "output")),)),
        ]
    return StandIn(messages=tuple(messages))


async def find(shown: Screen, words: str) -> None:
    await shown.press("ctrl+f")
    for character in words:
        await shown.press(
            {" ": "space", ".": "full_stop", "*": "asterisk"}.get(character, character)
        )


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("error", "Error, ERROR", [(0, 5), (7, 12)]),
        ("Error", "Error, ERROR", [(0, 5)]),
        ("a.b", "a.b axb", [(0, 3)]),
        ("[", "[/x]", [(0, 1)]),
        ("ß", "SS ß", [(3, 4)]),
        ("", "x", []),
    ],
)
def test_a_query_is_literal_and_capitals_count_once_there_is_one(query, text, found):
    assert list(Query(query).starts(text)) == found


def test_everything_that_can_be_seen_of_an_entry_can_be_found():
    output = Display("exit 1", "first\nsecond", "output")
    call = Call("c", "shell", "make", CallState.FAILED, result=result("c", "", output))
    change = Display("+3 -2", DIFF, "diff", "shop/cart.py")
    edit = Call("e", "edit", "shop/cart.py", CallState.DONE, result=result("e", "", change))
    assert parts(call) == ("shell  make  exit 1 · 2 lines", "first", "second")
    assert parts(edit)[3] == "        subtotal = apply_discount(subtotal, self.code)"
    assert parts(Said("a\nb")) == ("a\nb",)
    assert parts(Thought(" hm ")) == ("hm",)
    assert parts(Notice("what", "next")) == ("what", "next")
    assert parts(Turn("12s")) == ("12s",)


def test_an_answer_is_searched_as_it_is_shown_not_as_it_is_written():
    answer = Answer(
        "Some **bold** text.\n\n| a | b |\n|---|---|\n| one | two |\n\n```py\nx = 1\n```"
    )
    assert parts(answer) == ("Some bold text.", "a", "b", "one", "two", "x = 1")
    assert hits(answer, Query("bold text")) == [Place(0, 5)]
    assert hits(answer, Query("**")) == []


async def test_it_begins_at_the_newest_place_and_goes_round():
    async with screen(thread(3)) as shown:
        await find(shown, "question")
        await shown.shows("3/3")
        await shown.press("enter")
        await shown.shows("2/3")
        await shown.press("down", "down")
        await shown.shows("1/3")
        await shown.press("up")
        await shown.shows("3/3")


async def test_what_is_not_mounted_is_found_and_brought_into_view():
    async with screen(thread(200)) as shown:
        await shown.shows("answer 199")
        await find(shown, "question 7")
        await shown.shows("/11")
        for _ in range(10):
            await shown.press("up")
        await shown.shows("1/11")
        await shown.until(lambda: "question 7 " in _main(shown))
        assert not shown.app.transcript.following
        await shown.press("escape", "end")
        await shown.shows("part199")
        assert shown.app.transcript.following


async def test_a_folded_call_opens_at_the_place_and_folds_again_behind_it():
    async with screen(thread(3)) as shown:
        await find(shown, "out 1.40")
        await shown.until(lambda: "out 1.40" in _main(shown))
        assert "out 1.0 " not in _main(shown)
        for _ in "1.40":
            await shown.press("backspace")
        await shown.press("2")
        for _ in range(3):
            await shown.press("up")
        await shown.settled()
        await shown.press("escape")
        await shown.until(lambda: shown.app.prompt.has_focus)
        assert len(shown.app.transcript.query(TextLines)) == 1


async def test_the_place_found_stays_when_the_search_is_left():
    async with screen(thread(60)) as shown:
        await find(shown, "pondering 3")
        await shown.shows("/11")
        await shown.press("up", "up")
        await shown.settled()
        seen = _main(shown)
        assert "pondering 37" in seen
        await shown.press("escape")
        await shown.settled()
        assert "pondering 37" in _main(shown)
        assert shown.app.prompt.has_focus
        assert "find" not in shown.text()


async def test_what_is_not_there_is_said_and_moves_nothing():
    async with screen(thread(60)) as shown:
        await shown.shows("answer 59")
        await find(shown, "zzz")
        await shown.shows("not found")
        await shown.press("enter", "up")
        assert shown.app.transcript.following


async def test_what_comes_while_one_searches_is_found_with_the_next_step():
    async with screen(thread(2)) as shown:
        await find(shown, "answer")
        await shown.shows("2/2")
        shown.session.begin("more")
        shown.session.emit(TextDelta("another answer"))
        await shown.settled()
        await shown.press("down")
        await shown.shows("/3")


async def test_a_row_of_a_change_is_found_in_one_column_and_in_two():
    for width in (160, 90):
        async with screen(size=(width, 40)) as shown:
            shown.session.begin("x")
            change = Display("+3 -2", DIFF, "diff", "shop/cart.py")
            shown.session.calls("edit", "shop/cart.py", change)
            await shown.settled()
            await find(shown, "belongs to")
            await shown.shows("# the discount belongs to the order")
            await shown.shows("1/1")


async def test_hidden_lines_of_a_long_output_are_found():
    printed = "\n".join(f"row {n}" for n in range(3000))
    async with screen() as shown:
        shown.session.begin("x")
        shown.session.emit(ToolStarted("c", "shell", "seq", {}))
        display = Display("exit 0", printed, "output")
        shown.session.emit(ToolFinished("c", "shell", result("c", "", display), 0.1))
        await shown.settled()
        await find(shown, "row 2345")
        await shown.until(lambda: "row 2345" in _main(shown))


@pytest.mark.parametrize("words", ["[/", "[@click=app.quit]x[/]", "\\["])
async def test_brackets_are_only_text_in_a_search(words):
    async with screen() as shown:
        shown.session.begin(f"say {words} now")
        await shown.settled()
        await shown.press("ctrl+f")
        shown.app.search.query_one("Input").value = words
        await shown.shows("1/1")


def _main(shown: Screen) -> str:
    """Return the conversation, without what stands below it."""
    height = shown.app.transcript.size.height
    return "\n".join(shown.text().splitlines()[:height])
