"""What leaves the conversation: selections, messages, code blocks."""

from __future__ import annotations

import base64
import shutil

import pytest

from tests.tui.stand_in import DIFF, StandIn
from tests.tui.support import Screen, screen
from todo_agent.agent.events import TextDelta
from todo_agent.agent.messages import Display, Text, assistant, user
from todo_agent.tui.clipboard import Clipboard
from todo_agent.tui.markdown import code_blocks
from todo_agent.tui.pieces import block_at, join, pieces
from todo_agent.tui.widgets.markdown_blocks import CopySign
from todo_agent.tui.widgets.text_lines import TextLines

LONG = "word " * 60
CODE = "```python\nfor i in range(3):\n    print(i)\n```"


def answered(text: str) -> StandIn:
    return StandIn(messages=(user("q"), assistant(Text(text))))


async def drag(shown: Screen, start: tuple[int, int], end: tuple[int, int]) -> None:
    await shown.pilot.mouse_down(offset=start)
    await shown.pilot.hover(offset=end)
    await shown.pilot.mouse_up(offset=end)


def row_of(shown: Screen, text: str) -> int:
    return next(y for y, line in enumerate(shown.text().splitlines()) if text in line)


async def test_a_wrapped_line_is_copied_as_one_and_the_prompt_keeps_its_draft():
    async with screen(answered(LONG)) as shown:
        await shown.shows("word")
        await shown.type("draft")
        first = row_of(shown, "word")
        await drag(shown, (2, first), (100, first + 2))
        await shown.shows("ctrl+c copies")
        await shown.press("ctrl+c")
        assert shown.app.clipboard == LONG.strip()
        assert shown.app.prompt.draft == "draft"


async def test_a_selection_is_copied_before_a_run_is_interrupted():
    async with screen() as shown:
        shown.session.begin("question")
        shown.session.emit(TextDelta("an answer"))
        await shown.shows("an answer")
        await drag(shown, (2, row_of(shown, "an answer")), (12, row_of(shown, "an answer")))
        await shown.press("ctrl+c")
        assert shown.app.clipboard == "an answer"
        assert shown.session.running
        await shown.press("ctrl+c")
        await shown.until(lambda: not shown.session.running)


async def test_the_hint_comes_only_once():
    async with screen(answered("one two three")) as shown:
        await shown.shows("one two")
        row = row_of(shown, "one two")
        await drag(shown, (2, row), (8, row))
        await drag(shown, (2, row), (10, row))
        await shown.shows("ctrl+c copies")
        assert shown.text().count("ctrl+c copies") == 1


async def test_nothing_that_only_frames_code_is_copied():
    async with screen(answered(f"before\n\n{CODE}\n\nafter")) as shown:
        await shown.shows("after")
        await drag(shown, (2, row_of(shown, "before")), (12, row_of(shown, "after")))
        await shown.press("ctrl+c")
        copied = shown.app.clipboard.replace("\n\n", "\n")
        assert copied == "before\nfor i in range(3):\n    print(i)\nafter"


async def test_of_a_change_the_lines_of_one_side_are_copied():
    async with screen(size=(160, 40)) as shown:
        shown.session.begin("x")
        change = Display("+3 -2", DIFF, "diff", "shop/cart.py")
        shown.session.calls("edit", "shop/cart.py", change)
        await shown.press("ctrl+o")
        await shown.shows("# the discount belongs")
        row = row_of(shown, "discounted = apply")
        await drag(shown, (100, row), (120, row_of(shown, "# the discount")))
        await shown.press("ctrl+c")
        first, second = shown.app.clipboard.splitlines()
        assert "discounted = apply_discount(subtotal, self.code)".endswith(first)
        assert "        # the discount belongs to the order".startswith(second)


async def test_a_wrapped_line_of_output_is_copied_as_one():
    async with screen(size=(60, 30)) as shown:
        shown.session.begin("x")
        shown.session.calls("shell", "seq", Display("exit 0", "12345" * 30, "output"))
        await shown.press("ctrl+o")
        await shown.settled()
        output = shown.app.transcript.query_one(TextLines).region
        await drag(shown, (output.x, output.y), (output.right - 2, output.y + 2))
        await shown.press("ctrl+c")
        assert shown.app.clipboard == "12345" * 30


async def test_of_several_rows_of_a_table_the_cells_are_copied():
    table = "| a | b |\n|---|---|\n| one | two |\n| three | four |"
    async with screen(answered(table)) as shown:
        await shown.shows("three")
        await drag(shown, (2, row_of(shown, "one")), (8, row_of(shown, "three")))
        await shown.press("ctrl+c")
        assert shown.app.clipboard == "one\ttwo\nthree\tfour"


async def test_c_copies_the_message_that_has_the_focus():
    text = f"# Title\n\n{CODE}\n\n" + "A paragraph.\n\n" * 200
    async with screen(answered(text)) as shown:
        await shown.shows("A paragraph.")
        shown.app.transcript.focus()
        await shown.press("up", "c")
        await shown.until(lambda: shown.app.clipboard)
        assert shown.app.clipboard.strip() == text.strip()
        assert shown.app.prompt.draft == ""


async def test_the_sign_of_a_code_block_copies_it():
    async with screen(answered(f"{CODE}\n\ntext\n\n```\nother\n```")) as shown:
        await shown.shows("other")
        await shown.pilot.click(CopySign)
        await shown.shows("Copied.")
        assert shown.app.clipboard == "for i in range(3):\n    print(i)"


async def test_a_block_that_is_cut_for_the_screen_is_copied_whole():
    code = "\n".join(f"value_{n} = {n}" for n in range(2000))
    async with screen(answered(f"intro\n\n```python\n{code}\n```")) as shown:
        await shown.shows("value_1999")
        shown.app.transcript.query(CopySign).last().scroll_visible(animate=False)
        await shown.settled()
        sign = shown.app.transcript.query(CopySign).last()
        await shown.pilot.click(sign)
        await shown.until(lambda: shown.app.clipboard)
        assert shown.app.clipboard == code


async def test_the_commands_copy_the_last_answer_and_its_last_code():
    async with screen(answered(f"text\n\n```\nfirst\n```\n\n{CODE}")) as shown:
        await shown.type("/copy code")
        await shown.press("enter")
        await shown.until(lambda: shown.app.clipboard == "for i in range(3):\n    print(i)")
        await shown.type("/copy")
        await shown.press("enter")
        await shown.until(lambda: shown.app.clipboard == f"text\n\n```\nfirst\n```\n\n{CODE}")


async def test_there_may_be_no_code_to_copy():
    async with screen(answered("only text")) as shown:
        await shown.type("/copy code")
        await shown.press("enter")
        await shown.shows("There is no code in the last answer.")


@pytest.mark.parametrize(
    "text",
    [
        "plain\n\n" * 500,
        "```py\n" + "x = 1\n" * 5000 + "```\n\nend",
        "~~~\n" + "y\n" * 9000,
        "a\n\n```\none\n```\n```\ntwo\n```\n" * 300,
        "- item\n  ```sh\n" + "  ls\n" * 4000 + "  ```\n",
    ],
)
def test_pieces_join_to_what_was_cut(text):
    cut = pieces(text)
    assert len(cut) > 1
    assert code_blocks(join(cut)) == code_blocks(text)


def test_a_block_is_found_by_the_piece_that_shows_a_part_of_it():
    text = "a\n\n```\none\n```\n\n```py\n" + "x = 1\n" * 5000 + "```\n\n```\nlast\n```\n"
    cut = pieces(text)
    assert block_at(cut, 0, 0) == "one"
    assert block_at(cut, 0, 1) == ("x = 1\n" * 5000).rstrip()
    assert block_at(cut, 2, 0) == ("x = 1\n" * 5000).rstrip()
    assert block_at(cut, len(cut) - 1, len(code_blocks(cut[-1])) - 1) == "last"


DATA = base64.b64encode("añ".encode()).decode()


def test_the_sequence_is_wrapped_for_what_it_must_go_through():
    plain = f"\x1b]52;c;{DATA}\x07"
    assert Clipboard().sequences("añ") == plain
    assert Clipboard("tmux").sequences("añ") == f"{plain}\x1bPtmux;\x1b{plain}\x1b\\"
    assert Clipboard("screen").sequences("añ") == f"\x1bP{plain}\x1b\\"
    assert Clipboard().sequences("\ud800") == "\x1b]52;c;Pw==\x07"


def test_the_environment_says_how_text_gets_to_the_clipboard(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert Clipboard.of({"TMUX": "/tmp/x", "SSH_TTY": "/dev/pts/1"}) == Clipboard(
        "tmux", ("tmux", "load-buffer", "-w", "-")
    )
    assert Clipboard.of({"SSH_CONNECTION": "1", "DISPLAY": ":0"}) == Clipboard()
    assert Clipboard.of({"TERM": "screen-256color"}).wrap == "screen"


async def test_a_program_gets_the_text_and_may_be_missing(tmp_path):
    target = tmp_path / "copied"
    await Clipboard(program=("sh", "-c", f"cat > {target}")).run("añ\n")
    assert target.read_text() == "añ\n"
    await Clipboard(program=(str(tmp_path / "missing"),)).run("x")
