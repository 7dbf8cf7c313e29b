"""What the model sees of a file."""

from __future__ import annotations

import os
import socket
import struct
import zlib

import pytest

from todo_agent.agent.messages import Display, Image, Text
from todo_agent.agent.tools import Success


async def test_lines_carry_their_numbers_and_a_summary_for_the_screen(bench):
    bench.file("a.py", "def f():\n\treturn 1\n")
    assert await bench("read", path="a.py") == Success(
        "1→def f():\n2→\treturn 1",
        display=Display("2 lines", "def f():\n\treturn 1", path="a.py"),
    )


async def test_a_part_says_how_to_get_the_rest(bench):
    bench.file("a", "".join(f"line {n}\n" for n in range(1, 21)))
    assert await bench.text("read", path="a", offset=9, limit=2) == (
        " 9→line 9\n10→line 10\n[lines 9-10 of 20; read on with offset=11]"
    )
    assert await bench.error("read", path="a", offset=21) == "a has only 20 lines."


async def test_two_thousand_lines_come_at_once_and_no_more(bench):
    bench.file("a", "x\n" * 5_000)
    text = await bench.text("read", path="a")
    assert text.endswith("2000→x\n[lines 1-2000 of 5000; read on with offset=2001]")


async def test_long_lines_are_cut_and_many_long_ones_are_paged(bench):
    bench.file("a", "y" * 5_000_000)
    assert await bench.text("read", path="a") == (
        f"1→{'y' * 2_000}… [4,998,000 more characters; see them with cut -c in the shell]"
    )
    bench.file("b", ("z" * 1_999 + "\n") * 100)
    text = await bench.text("read", path="b")
    assert text.endswith("[lines 1-30 of 100; read on with offset=31]")


async def test_an_empty_file_and_missing_ones_say_so(bench):
    bench.file("empty")
    bench.file("src/server.py", "x")
    assert await bench.text("read", path="empty") == "[empty is empty]"
    assert await bench.error("read", path="src/sever.py") == (
        "src/sever.py does not exist. Like it: src/server.py."
    )
    assert await bench.error("read", path="no/where") == (
        "no/where does not exist, nor does its directory. Find files with glob."
    )


async def test_whatever_is_no_regular_file_is_refused_at_once(bench):
    os.mkfifo(bench.root / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(bench.root / "socket"))
    try:
        assert await bench.error("read", path="pipe") == (
            "pipe is a named pipe, not a file with a content."
        )
        assert await bench.error("read", path="socket") == (
            "socket is a socket, not a file with a content."
        )
    finally:
        listener.close()
    assert await bench.error("read", path=".") == (
        ". is a directory; use list or glob to see what is in it."
    )
    outcome = await bench("read", path="/dev/zero", approved=True)
    assert outcome.message == "/dev/zero is a device, not a file with a content."


async def test_binary_and_huge_files_are_not_poured_out(bench):
    bench.file("a.bin", b"\x00\x01" * 10)
    assert await bench.error("read", path="a.bin") == (
        "a.bin is binary (20 bytes). Look into it with a shell command."
    )
    with (bench.root / "sparse").open("wb") as file:
        file.truncate(300_000_000)
    assert await bench.error("read", path="sparse") == (
        "sparse has 300,000,000 bytes; files above 64,000,000 are not read or edited here. "
        "Use a shell command."
    )


async def test_encodings_are_named(bench):
    bench.file("bom", b"\xef\xbb\xbfhello\n")
    assert await bench.text("read", path="bom") == "1→hello"
    bench.file("wide", "\ufeffgrün\n".encode("utf-16-le"))
    assert await bench.text("read", path="wide") == (
        "1→grün\n[stored as utf-16-le; edits keep that]"
    )
    bench.file("cut", b"ok \xf0\x9f\x98")
    text = await bench.text("read", path="cut")
    assert "[not valid utf-8 at byte 3: " in text
    text.encode()  # No half characters reach the conversation.


async def test_line_endings_are_named_and_lone_carriage_returns_kept(bench):
    bench.file("dos", b"a\r\nb\r\n")
    assert await bench.text("read", path="dos") == (
        "1→a\n2→b\n[lines end in CRLF; write plain line breaks, edits keep the file's own]"
    )
    bench.file("progress", b"10%\r50%\r100%\nend\n")
    assert await bench.text("read", path="progress") == "1→10%\r50%\r100%\n2→end"


def png(width: int, height: int, padding: int = 0) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"tEXt", b"x" * padding)
    return data + chunk(b"IEND", b"")


async def test_images_come_as_images(bench):
    bench.file("a.png", png(20, 10))
    outcome = await bench("read", path="a.png")
    assert isinstance(outcome, Success)
    assert outcome.content[0] == Text("a.png: PNG · 20×10 · 57 bytes")
    assert isinstance(outcome.content[1], Image)
    assert outcome.content[1].media_type == "image/png"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (png(9000, 10), "an image may have 8000 pixels a side, this one has 9000×10"),
        (png(10, 10, 6_000_000), "an image may have 3,750,000 bytes, this one has 6,000,057"),
        (b"\x89PNG\r\n\x1a\n", "the image is damaged: it has no readable size"),
        (b"%PDF-1.7" + b"/Type /Page " * 101, "a PDF may have 100 pages, this one has 101"),
    ],
    ids=["wide", "large", "damaged", "pages"],
)
async def test_what_the_api_would_refuse_never_enters_the_conversation(bench, data, why):
    bench.file("a", data)
    assert await bench.error("read", path="a") == (
        f"a was not read: {why}. Make a smaller copy and read that."
    )


async def test_a_pdf_comes_as_a_document(bench):
    bench.file("a.pdf", b"%PDF-1.7 /Type /Page")
    outcome = await bench("read", path="a.pdf")
    assert isinstance(outcome, Success)
    assert outcome.content[1].type == "document"


async def test_outside_the_workspace_only_an_approved_call_reads(bench, tmp_path):
    (tmp_path / "secret").write_text("s")
    (bench.root / "link").symlink_to(tmp_path / "secret")
    assert await bench.error("read", path="link") == (
        f"{tmp_path}/secret is outside the workspace ({bench.root}). "
        "Work inside it, or ask the person to allow this path."
    )
    assert (await bench("read", path="link", approved=True)).content == "1→s"
