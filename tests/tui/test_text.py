from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from todo_agent.tui.text import (
    ago,
    breaks,
    cost,
    count,
    duration,
    first_line,
    fit,
    fit_left,
    literal,
    plain,
    prose,
    suspicions,
    tokens,
    wrap,
)

ANY = st.text(st.characters(exclude_categories=()), max_size=80)


@given(ANY)
@settings(max_examples=300, deadline=None)
def test_nothing_that_acts_on_a_terminal_is_left(text):
    for shown in (plain(text), prose(text), literal(text, lines=True)):
        acts = {c for c in shown if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160}
        assert not acts
        assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")


@given(ANY, st.integers(0, 40))
@settings(max_examples=300, deadline=None)
def test_cut_text_fits(text, width):
    text = literal(text)
    assert cell_len(fit(text, width)) <= width
    assert cell_len(fit_left(text, width)) <= width


@given(ANY, st.integers(2, 40))
@settings(max_examples=300, deadline=None)
def test_wrapped_lines_fit_and_lose_no_word(text, width):
    text = literal(text)
    lines = wrap(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(ANY, st.integers(2, 40))
@settings(max_examples=300, deadline=None)
def test_broken_lines_fit_and_lose_nothing(text, width):
    text = literal(text)
    cuts = [0, *breaks(text, width), len(text)]
    parts = [text[a:b] for a, b in pairwise(cuts)]
    assert all(cell_len(part) <= width for part in parts)
    assert "".join(parts) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("50%\r100%\r\nnext", "100%\nnext"),
        ("a\tb", "a   b"),
        ("\x1b]unterminated\nnext line", "\nnext line"),
        ("bell\x07", "bell\\x07"),
        ("\u202eabc", "\\u202eabc"),
        ("👨‍👩‍👧 é 汉", "👨‍👩‍👧 é 汉"),
    ],
)
def test_output_is_shown_as_a_person_would_write_it_down(text, shown):
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm\u200b -rf", "rm\\u200b -rf"),
        ("a\u00a0b", "a\\u00a0b"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("a\u200db", "a\\u200db"),
        ("\U000e0041", "\\U000e0041"),
        ("a\nb", "a\\x0ab"),
        ("\ud800", "\\ud800"),
    ],
)
def test_nothing_invisible_stays_invisible(text, shown):
    assert literal(text) == shown


def test_emoji_and_scripts_raise_no_suspicion():
    assert suspicions("🏳️‍🌈 ⭐️ naïve привет Ωμέγα 汉字 العربية") == ()


def test_deceptions_are_named():
    assert suspicions("p\u0430y \u202e") == (
        "invisible characters: \\u202e",
        "letters that look like Latin ones: \u0430 (U+0430)",
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb", ("a", True)), ("\n\n a ", ("a", False)), ("", ("", False)), ("a\r\nb", ("a", True))],
)
def test_the_first_line_stands_for_all(text, line):
    assert first_line(text) == line


def test_numbers_for_people():
    assert [duration(s) for s in (0, 0.25, 9.97, 61, 3725)] == [
        "0s",
        "0.2s",
        "10s",
        "1m 01s",
        "1h 02m",
    ]
    assert [tokens(n) for n in (0, 999, 12_345, 200_000, 1_500_000)] == [
        "0",
        "999",
        "12.3k",
        "200k",
        "1.5M",
    ]
    assert [cost(c) for c in (0.0, 0.004, 1.5)] == ["$0.00", "$0.0040", "$1.50"]
    assert [ago(s) for s in (5, 120, 7200, 200_000)] == ["just now", "2m ago", "2h ago", "2d ago"]
    assert [count(n, "line") for n in (1, 1500)] == ["1 line", "1,500 lines"]
