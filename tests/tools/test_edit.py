"""Edits change exactly the bytes they name."""

from __future__ import annotations

import asyncio
import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.support import Bench
from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.state import State
from todo_agent.agent.tools import Error, Success, ToolCall, ToolContext
from todo_agent.tools.edit import edit_tool
from todo_agent.tools.editing import Edit, Edited, replace_text


async def edited(bench, content: bytes, old: str, new: str, **args) -> bytes:
    path = bench.file("f", content)
    await bench.text("edit", path="f", old_string=old, new_string=new, **args)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("content", "old", "new", "result"),
    [
        (b"a = 1\r\nb = 2\r\nc = 3\r\n", "b = 2\nc = 3", "b = 22\nc = 3",
         b"a = 1\r\nb = 22\r\nc = 3\r\n"),
        (b"a = 1\r\nb = 2\r\n", "a = 1\n", "a = 1\nx = 0\n", b"a = 1\r\nx = 0\r\nb = 2\r\n"),
        (b"a\r\nb\nc\r\n", "b\nc", "b\nx\nc", b"a\r\nb\nx\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", "a\nb\nc", "A\nb\nC", b"A\r\nb\nC\r\n"),
        (b"a\r\nb\n", "a\r\nb", "a\r\nB", b"a\r\nB\n"),
        (b"10%\r50%\r100%\nend\n", "end", "END", b"10%\r50%\r100%\nEND\n"),
        (b"\xef\xbb\xbfhello\n\xe4\xb8\xad\xe6\x96\x87\n", "hello", "hello2",
         b"\xef\xbb\xbfhello2\n\xe4\xb8\xad\xe6\x96\x87\n"),
        ("\ufeffgrün\n".encode("utf-16-le"), "grün", "blau", "\ufeffblau\n".encode("utf-16-le")),
        (b"all:\n\techo hi\n", "hi", "ho", b"all:\n\techo ho\n"),
        (b"no newline", "no", "yes, no", b"yes, no newline"),
        (b"gone\nstays\n", "gone\n", "", b"stays\n"),
        (rb"a \1 $& $1 \n b", r"\1 $&", r"\g<0> \\ $$", rb"a \g<0> \\ $$ $1 \n b"),
        ("a\u2028b\x0cc\n".encode(), "b", "B", "a\u2028B\x0cc\n".encode()),
    ],
)  # fmt: skip
async def test_only_the_named_bytes_change(bench, content, old, new, result):
    assert await edited(bench, content, old, new) == result


async def test_every_occurrence_is_replaced_on_demand(bench):
    assert await edited(bench, b"x x\r\nx", "x", "y", replace_all=True) == b"y y\r\ny"


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o644])
async def test_the_mode_stays(bench, mode):
    path = bench.file("run.sh", "echo hi\n")
    path.chmod(mode)
    await bench.text("edit", path="run.sh", old_string="hi", new_string="ho")
    assert stat.S_IMODE(path.stat().st_mode) == mode


async def test_a_read_only_file_is_left_alone(bench):
    path = bench.file("f", "a\n")
    path.chmod(0o444)
    assert await bench.error("edit", path="f", old_string="a", new_string="b") == (
        "f is read-only (mode 0444); it was left alone."
    )
    assert path.read_bytes() == b"a\n"


async def test_an_edit_through_links_reaches_the_file_and_the_links_stay(bench):
    real = bench.file("real.md", "a\n")
    (bench.root / "two.md").symlink_to("real.md")
    (bench.root / "one.md").symlink_to("two.md")
    await bench.text("edit", path="one.md", old_string="a", new_string="b")
    assert real.read_bytes() == b"b\n"
    assert (bench.root / "one.md").is_symlink()
    assert (bench.root / "two.md").is_symlink()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"caf\xe9 = 1\n", "f is not valid utf-8 (byte 3 is 0xe9"),
        ("变量 = 1\n".encode("gbk"), "f is not valid utf-8 (byte 0 is 0xb1"),
        (b"ok = 1 \xf0\x9f\x98", "f is not valid utf-8 (byte 7 is 0xf0"),
        (b"a\0b = 1", "f is binary; only text files can be changed here."),
    ],
)
async def test_what_cannot_round_trip_is_refused_by_name(bench, content, named):
    path = bench.file("f", content)
    assert (await bench.error("edit", path="f", old_string="1", new_string="2")).startswith(named)
    assert path.read_bytes() == content


async def test_text_that_is_not_unique_names_its_lines(bench):
    bench.file("f", "x\na\nx\nx\n")
    assert await bench.error("edit", path="f", old_string="x", new_string="y") == (
        "f: old_string stands in 3 places (lines 1, 3, 4). Add lines around the one you mean "
        "until it is unique, or set replace_all to change every one."
    )


async def test_overlapping_places_are_not_unique_either(bench):
    bench.file("f", "aaa")
    message = await bench.error("edit", path="f", old_string="aa", new_string="b")
    assert "stands in 2 places" in message


async def test_text_that_is_not_there_shows_the_closest_lines_with_their_white_space(bench):
    bench.file("f", "def f():\n\t\t\treturn 1\n")
    message = await bench.error(
        "edit", path="f", old_string="def f():\n    return 1", new_string="x"
    )
    assert message == (
        "f: old_string was not found. The closest is lines 1-2; what differs "
        "(→ is a tab, · a space):\n"
        "line 2 of the file: →→→return 1\n"
        "line 2 you sent:     ····return 1"
    )


async def test_invisible_differences_are_written_out(bench):
    bench.file("f", "a\u00a0b\u200b = 1\n")
    message = await bench.error("edit", path="f", old_string="a b = 1", new_string="x")
    assert "line 1 of the file: a\\xa0b\\u200b = 1" in message


async def test_line_numbers_in_the_text_are_pointed_out(bench):
    bench.file("f", "a\nb\n")
    message = await bench.error("edit", path="f", old_string="1→a\n2→b", new_string="x")
    assert message == (
        "f: old_string was not found. It carries the line numbers that read shows; "
        "leave out everything up to and including the → of each line."
    )


async def test_what_read_shows_is_what_edit_matches(bench):
    path = bench.file("f", "\t\t\t<A>\n\t\t\t\t<B/>\n\t\t\t</A>\n")
    shown = await bench.text("read", path="f")
    old = "\n".join(line.partition("→")[2] for line in shown.split("\n"))
    await bench.text("edit", path="f", old_string=old, new_string="<C/>")
    assert path.read_bytes() == b"<C/>\n"


async def test_edits_that_cannot_mean_anything_are_refused(bench):
    bench.file("f", "a\n")
    assert await bench.error("edit", path="f", old_string="", new_string="b") == (
        "f: old_string is empty; to make a new file or replace a whole one, use write."
    )
    assert await bench.error("edit", path="f", old_string="a", new_string="a") == (
        "f: old_string and new_string are the same, so there is nothing to change."
    )
    assert await bench.error("edit", path="none", old_string="a", new_string="b") == (
        "none: the file does not exist. Create it with write."
    )
    assert "half a character" in await bench.error(
        "edit", path="f", old_string="a", new_string="\ud83d"
    )


async def test_a_file_changed_meanwhile_is_edited_only_where_the_text_is_still_unique(bench):
    path = bench.file("f", "one\ntwo\n")
    await bench.text("read", path="f")
    path.write_bytes(b"one\ntwo\nuser line\none more\n")
    await bench.text("edit", path="f", old_string="two", new_string="TWO")
    assert path.read_bytes() == b"one\nTWO\nuser line\none more\n"
    message = await bench.error("edit", path="f", old_string="one", new_string="1")
    assert message.endswith(" (The file changed since it was read.)")
    assert await bench.error(
        "edit", path="f", old_string="one", new_string="1", replace_all=True
    ) == (
        "f: the file changed since it was read. Read it again before you replace every occurrence."
    )


async def test_an_edit_of_a_changed_file_does_not_make_the_change_known(bench):
    path = bench.file("f", "one\ntwo\n")
    await bench.text("read", path="f")
    path.write_bytes(b"one\ntwo\nuser line\n")
    await bench.text("edit", path="f", old_string="two", new_string="TWO")
    message = await bench.error("write", path="f", content="one\nTWO\n")
    assert message == "f: it changed since it was read. Read it again, then decide anew."
    assert path.read_bytes() == b"one\nTWO\nuser line\n"


async def test_own_edits_and_touched_time_stamps_are_no_change(bench):
    path = bench.file("f", "one\n")
    await bench.text("read", path="f")
    await bench.text("edit", path="f", old_string="one", new_string="two")
    os.utime(path, (0, 0))
    await bench.text("write", path="f", content="three\n")
    assert path.read_bytes() == b"three\n"


async def test_the_diff_is_for_the_screen_and_the_preview_for_the_question(bench):
    bench.file("f.py", "".join(f"{n}\n" for n in range(1, 11)))
    args = {"path": "f.py", "old_string": "5\n", "new_string": "five\n5.5\n"}
    diff = "\n".join(
        ["--- f.py", "+++ f.py", "@@ -2,7 +2,8 @@", " 2", " 3", " 4", "-5", "+five", "+5.5",
         " 6", " 7", " 8"]
    )  # fmt: skip
    display = Display("+2 -1", diff, kind="diff", path="f.py")
    assert bench.tools["edit"].preview(args) == display
    assert await bench("edit", **args) == Success("Edited f.py (+2 -1).", display=display)


async def test_several_edits_of_one_file_build_on_each_other(bench):
    path = bench.file("f", "a\nb\n")
    edits = [{"old_string": "a", "new_string": "x"}, {"old_string": "x\nb", "new_string": "y"}]
    await bench.text("multi_edit", path="f", edits=edits)
    assert path.read_bytes() == b"y\n"


async def test_of_several_edits_all_are_made_or_none(bench):
    path = bench.file("f", "a\nb\n")
    edits = [{"old_string": "a", "new_string": "x"}, {"old_string": "zzz", "new_string": "y"}]
    message = await bench.error("multi_edit", path="f", edits=edits)
    assert message.startswith("f: edits[1]: old_string was not found.")
    assert path.read_bytes() == b"a\nb\n"


async def test_nothing_is_left_beside_the_file(bench):
    bench.file("f", "a")
    await bench.text("edit", path="f", old_string="a", new_string="b")
    assert [path.name for path in bench.root.iterdir()] == ["f"]


async def test_edits_wait_for_each_other(bench):
    assert bench.tools["edit"].locks.conflicts(bench.tools["write"].locks)
    assert bench.tools["edit"].locks.conflicts(bench.tools["read"].locks)
    assert not bench.tools["read"].locks.conflicts(bench.tools["grep"].locks)


async def test_a_file_that_changes_under_the_edit_is_not_overwritten(bench):
    path = bench.file("f", "a\n")

    def change_now(target, before, after):
        target.write_bytes(b"user\n")

    edit = edit_tool(bench.workspace, keep=change_now)
    call = ToolCall("1", "edit", {"path": "f", "old_string": "a", "new_string": "b"})
    assert await edit.run(call, ToolContext("thread", State())) == Error(
        "f changed while it was being written; read it again."
    )
    assert path.read_bytes() == b"user\n"


TEXT = st.lists(st.sampled_from([*"ab \tä中😀\ufeff\n", "\r\n"])).map("".join)


@settings(max_examples=300, deadline=None)
@given(before=TEXT, old=TEXT, after=TEXT, new=TEXT)
def test_whatever_the_text_everything_around_the_edit_stays(before, old, after, new):
    result = replace_text(before + old + after, Edit(old, new))
    if isinstance(result, Edited):
        middle = result.text.removeprefix(before).removesuffix(after)
        assert result.text == before + middle + after
        assert middle.replace("\r\n", "\n") == new.replace("\r\n", "\n")


@settings(max_examples=200, deadline=None)
@given(lines=st.lists(st.sampled_from(["a\n", "b\r\n", "c\n", "\r\n"]), min_size=1), data=st.data())
def test_lines_that_stay_keep_their_endings(lines, data):
    at = data.draw(st.integers(0, len(lines) - 1))
    text = "".join([*lines[:at], "unique\r\n", *lines[at:]])
    old = ("".join(lines[:at]) + "unique\n").replace("\r\n", "\n")
    result = replace_text(text, Edit(old, old.replace("unique", "new")))
    assert result == Edited(text.replace("unique", "new"), 1)


@settings(max_examples=100, deadline=None)
@given(before=st.binary(max_size=40), after=st.binary(max_size=40))
def test_whatever_the_bytes_an_edit_changes_its_own_or_none(tmp_path_factory, before, after):
    bench = Bench(tmp_path_factory.getbasetemp())
    path = bench.file("random", before + b"needle" + after)
    args: JsonObject = {"path": "random", "old_string": "needle", "new_string": "pin"}
    outcome = asyncio.run(bench("edit", **args))
    changed = isinstance(outcome, Success)
    assert path.read_bytes() == before + (b"pin" if changed else b"needle") + after


ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le"])


@settings(max_examples=100, deadline=None)
@given(before=TEXT, after=TEXT, encoding=ENCODINGS)
def test_whatever_the_encoding_it_is_kept(tmp_path_factory, before, after, encoding):
    bench = Bench(tmp_path_factory.getbasetemp())
    mark = "\ufeff" if encoding.startswith(("utf-16", "utf-32")) else ""
    path = bench.file("encoded", f"{mark}{before}needle{after}".encode(encoding))
    asyncio.run(bench.text("edit", path="encoded", old_string="needle", new_string="grün 😀"))
    assert path.read_bytes() == f"{mark}{before}grün 😀{after}".encode(encoding)
