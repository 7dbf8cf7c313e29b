from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from todo_agent.tui.pieces import FENCE_CHARS, LAST_RESORT_CHARS, PIECE_CHARS, pieces

LINES = st.sampled_from(
    ["", "word " * 60, "- item", "```python", "```", "~~~~", "~~~~~", "    code", "``` x ``` y"]
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join)


def test_a_short_text_is_one_piece():
    assert pieces("") == [""]
    assert pieces("a\n\nb") == ["a\n\nb"]


def test_it_is_cut_between_blocks():
    block = "x" * PIECE_CHARS + "\n\n"
    assert pieces(block + block + "end") == [block, block, "end"]


def test_a_code_block_stays_whole_while_it_is_not_huge():
    text = f"intro {'x' * PIECE_CHARS}\n```py\n\nx = 1\n\n```\n\nend"
    assert pieces(text) == [text.removesuffix("end"), "end"]


def test_a_huge_code_block_is_fenced_in_every_piece():
    code = "value = 1\n" * (FENCE_CHARS // 4)
    found = pieces(f"~~~py\n{code}~~~\n")
    assert len(found) > 2
    assert all(part.startswith("~~~py\n") and part.endswith("~~~\n") for part in found)
    assert "".join(part.removeprefix("~~~py\n").removesuffix("~~~\n") for part in found) == code


def test_a_line_beyond_all_measure_is_cut_at_a_space():
    text = "word " * LAST_RESORT_CHARS
    found = pieces(text)
    assert "".join(found) == text
    assert all(len(part) <= LAST_RESORT_CHARS and part.endswith(" ") for part in found)


@given(TEXTS, st.integers(0, 20_000))
@settings(max_examples=200, deadline=None)
def test_pieces_never_change_while_the_text_grows(text, length):
    before, after = pieces(text[:length]), pieces(text)
    assert after[: len(before) - 1] == before[:-1]


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_growing_piece_by_piece_comes_out_the_same(text):
    shown, tail = [], ""
    for start in range(0, len(text), 333):
        *whole, tail = pieces(tail + text[start : start + 333])
        shown += whole
    assert [*shown, tail] == pieces(text)
