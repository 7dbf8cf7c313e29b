"""Whole files, written without losing anybody's work."""

from __future__ import annotations

import os
import stat

from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Success


async def test_a_new_file_comes_with_its_directories(bench):
    assert await bench("write", path="a/b/c.txt", content="x\ny") == Success(
        "Created a/b/c.txt (+2 -0).",
        display=Display(
            "+2 -0",
            "--- a/b/c.txt\n+++ a/b/c.txt\n@@ -1,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file",
            kind="diff",
            path="a/b/c.txt",
        ),
    )
    assert (bench.root / "a/b/c.txt").read_bytes() == b"x\ny"


async def test_a_new_file_has_the_mode_of_new_files(bench):
    await bench.text("write", path="f", content="x")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((bench.root / "f").stat().st_mode) == 0o666 & ~umask


async def test_an_existing_file_has_to_be_read_first(bench):
    path = bench.file("f", "precious\n")
    assert await bench.error("write", path="f", content="x") == (
        "f: it exists and was not read yet. Read it first, or change a part with edit."
    )
    await bench.text("read", path="f")
    await bench.text("write", path="f", content="x\n")
    await bench.text("write", path="f", content="y\n")
    assert path.read_bytes() == b"y\n"


async def test_a_file_changed_since_it_was_read_is_not_overwritten(bench):
    path = bench.file("f", "a\n")
    await bench.text("read", path="f")
    path.write_bytes(b"a\nuser line\n")
    assert await bench.error("write", path="f", content="b\n") == (
        "f: it changed since it was read. Read it again, then decide anew."
    )
    path.write_bytes(b"a\n")
    await bench.text("write", path="f", content="b\n")
    assert path.read_bytes() == b"b\n"


async def test_an_empty_file_may_be_filled_unread(bench):
    bench.file("f")
    await bench.text("write", path="f", content="x")


async def test_mark_endings_and_links_of_the_old_file_stay(bench):
    path = bench.file("f", b"\xef\xbb\xbfa\r\nb\r\n")
    (bench.root / "link").symlink_to("f")
    await bench.text("read", path="link")
    await bench.text("write", path="link", content="a\nc\n")
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\nc\r\n"
    assert (bench.root / "link").is_symlink()


async def test_endings_that_are_spelt_out_are_taken_as_they_are(bench):
    path = bench.file("f", b"a\n")
    await bench.text("read", path="f")
    await bench.text("write", path="f", content="a\r\n")
    assert path.read_bytes() == b"a\r\n"


async def test_lines_that_stay_keep_their_endings_in_a_mixed_file(bench):
    path = bench.file("f", b"a\r\nb\nc\r\n")
    await bench.text("read", path="f")
    await bench.text("write", path="f", content="a\nb\nx\nc\n")
    assert path.read_bytes() == b"a\r\nb\nx\r\nc\r\n"


async def test_a_dangling_link_is_written_at_its_target(bench):
    (bench.root / "link").symlink_to("sub/target")
    await bench.text("write", path="link", content="x")
    assert (bench.root / "sub/target").read_bytes() == b"x"
    assert (bench.root / "link").is_symlink()


async def test_no_way_leads_outside(bench, tmp_path):
    outside = tmp_path / "workspace2"
    outside.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("v")
    (bench.root / "outbox").symlink_to(outside)
    (bench.root / "notes.md").symlink_to(victim)
    (bench.root / "new").symlink_to(tmp_path / "not-yet")
    for path in ("outbox/x", "notes.md", "new", "../x", "../workspace/../workspace2/x", "~/x"):
        assert "is outside the workspace" in await bench.error("write", path=path, content="x")
    assert victim.read_text() == "v"
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "not-yet").exists()


async def test_directories_and_loops_are_refused(bench):
    (bench.root / "loop").symlink_to("loop")
    assert await bench.error("write", path=".", content="x") == (
        ". is a directory; use list or glob to see what is in it."
    )
    assert await bench.error("write", path="loop", content="x") == (
        "loop is a circle of symlinks that leads nowhere."
    )
    bench.file("f")
    assert "cannot be opened: Not a directory" in await bench.error(
        "write", path="f/x", content="x"
    )
