"""Output as a person would have seen it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from todo_agent.tools.output import HEAD_CHARS, TAIL_CHARS, Capture, as_seen


def captured(*pieces: bytes) -> str:
    capture = Capture(lambda _: None)
    for piece in pieces:
        capture.feed(piece)
    capture.finish()
    return capture.take()


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[H\x1b[?1049lX", "X"),
        ("\x1b]52;c;ZXZpbA==\x07a", "a"),
        ("\x1b]0;title\x1b\\a", "a"),
        ("\x1b]8;;file:///x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\a", "a"),
        ("\x9b2Ja", "a"),
        ("a\x1b]unterminated", "a"),
        ("10%\r50%\r100%\nend", "100%\nend"),
        ("dos\r\nline\r\r\n", "dos\nline\n"),
        ("ab\rX", "X"),
        ("done\r", "done"),
        ("bo\x08old", "bold"),
        ("a\x00\x07b\tc\x7f", "ab\tc"),
        ("plain ä中😀", "plain ä中😀"),
    ],
)
def test_control_codes_have_had_their_effect(raw, seen):
    assert as_seen(raw) == seen


def test_bad_bytes_are_replaced_and_split_characters_joined():
    assert captured(b"ok \xff\xed\xa0\x80") == "ok \ufffd\ufffd\ufffd\ufffd"
    assert captured("a😀b".encode()[:3], "a😀b".encode()[3:]) == "a😀b"


def test_of_a_flood_head_and_tail_are_kept_with_the_count_of_the_rest():
    lines = [b"%07d\n" % n for n in range(100_000)]
    text = captured(*lines)
    left_out = 8 * 100_000 - HEAD_CHARS - TAIL_CHARS
    assert text.startswith("0000000\n0000001\n")
    assert text.endswith("0099998\n0099999\n")
    assert f"\n[… {left_out:,} characters ({left_out // 8:,} lines) left out …]\n" in text
    assert len(text) < HEAD_CHARS + TAIL_CHARS + 100


def test_one_endless_line_needs_no_memory_either():
    text = captured(*[b"x" * 65_536] * 100)
    assert "(0 lines) left out" in text
    assert len(text) < HEAD_CHARS + TAIL_CHARS + 100


def test_what_was_taken_is_not_given_again():
    capture = Capture(lambda _: None)
    capture.feed(b"one\ntw")
    assert capture.take() == "one\n"
    capture.feed(b"o\n")
    assert capture.take() == "two\n"


def test_lines_are_shown_as_they_end():
    shown: list[str] = []
    capture = Capture(shown.append)
    capture.feed(b"10%\r20%\r")
    capture.feed(b"100%\nne")
    capture.feed(b"xt")
    capture.finish()
    assert shown == ["100%\n", "next"]


PIECES = st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\x1b[3", b"1m", "ä".encode()[:1], b"b"]))


@settings(max_examples=300, deadline=None)
@given(PIECES)
def test_how_the_output_is_cut_into_pieces_does_not_matter(pieces):
    assert captured(*pieces) == captured(b"".join(pieces))
    assert not set(captured(*pieces)) & set("\x1b\r")
