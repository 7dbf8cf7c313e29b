"""grep, glob and list, with ripgrep and without: the same results."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.tools.support import Bench
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Success
from todo_agent.tools.globs import Glob, GlobError


@pytest.fixture(params=["ripgrep", "python"])
def bench(request, tmp_path: Path) -> Bench:
    tools = tmp_path / "bin"
    tools.mkdir()
    if request.param == "ripgrep":
        ripgrep = shutil.which("rg")
        if ripgrep is None:
            pytest.skip("ripgrep is not installed on this machine")
        (tools / "rg").symlink_to(ripgrep)
    root = tmp_path / "workspace"
    root.mkdir()
    return Bench(root, {"PATH": str(tools)})


async def test_matches_are_sorted_and_counted(bench):
    bench.file("b.py", "x = 1\ny = 2\nx = 3\n")
    bench.file("a/c.py", "x = 4\r\n")
    assert await bench("grep", pattern=r"x = \d") == Success(
        "a/c.py:1:x = 4\nb.py:1:x = 1\nb.py:3:x = 3",
        display=Display("3 matches in 2 files", "a/c.py:1:x = 4\nb.py:1:x = 1\nb.py:3:x = 3"),
    )
    assert await bench.text("grep", pattern="x", path="a") == "a/c.py:1:x = 4"
    assert await bench.text("grep", pattern="y", path="b.py") == "b.py:2:y = 2"
    assert await bench.text("grep", pattern="nowhere") == "[no matches]"


async def test_ignored_hidden_binary_and_linked_files(bench, tmp_path):
    (tmp_path / "secret").write_text("needle outside")
    bench.file(".gitignore", "*.log\nbuild/\n!keep.log\n")
    bench.file("sub/.gitignore", "/local\n")
    for name in ("a.log", "keep.log", "build/x", "sub/local", "sub/deep/local", ".hidden"):
        bench.file(name, "needle\n")
    bench.file(".git/config", "needle\n")
    bench.file("binary", b"needle\0\n")
    (bench.root / "link").symlink_to(tmp_path / "secret")
    (bench.root / "loop").symlink_to(".")
    assert (await bench.text("grep", pattern="needle")).split("\n") == [
        ".hidden:1:needle",
        "keep.log:1:needle",
        "sub/deep/local:1:needle",
    ]
    found = await bench.text("glob", pattern="*")
    assert sorted(found.split("\n")) == sorted(
        [".gitignore", ".hidden", "binary", "keep.log", "sub/.gitignore", "sub/deep/local"]
    )


async def test_what_is_ignored_above_is_ignored_below(bench):
    bench.file(".gitignore", "*.log\n/sub/only-here\n")
    bench.file("sub/a.log", "x")
    bench.file("sub/only-here", "x")
    bench.file("sub/b.txt", "x")
    assert await bench.text("glob", pattern="*", path="sub") == "sub/b.txt"


@pytest.mark.parametrize(
    ("glob", "files"),
    [
        ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("src/**/*.py", ["src/b.py", "src/deep/c.py"]),
        ("/a.py", ["a.py"]),
        ("*.{py,ts}", ["a.py", "src/b.py", "src/d.ts", "src/deep/c.py"]),
        ("!*.py", ["src/d.ts"]),
        ("src/deep/", ["src/deep/c.py"]),
    ],
)
async def test_globs_mean_the_same_for_grep_and_glob(bench, glob, files):
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.ts"):
        bench.file(name, "x\n")
    bench.file(".gitignore", "ignored.py\n.gitignore\n")
    bench.file("ignored.py", "x\n")
    found = await bench.text("glob", pattern=glob)
    assert sorted(found.split("\n")) == files
    matched = await bench.text("grep", pattern="x", glob=glob)
    assert [line.partition(":")[0] for line in matched.split("\n")] == files


async def test_the_newest_file_comes_first(bench):
    for age, name in enumerate(["new", "middle", "old"]):
        os.utime(bench.file(name), (1_000_000 - age, 1_000_000 - age))
    assert await bench.text("glob", pattern="*") == "new\nmiddle\nold"


async def test_long_results_are_capped_with_their_count(bench):
    for n in range(210):
        bench.file(f"{n:03}", "x\n")
    text = await bench.text("grep", pattern="x")
    assert text.split("\n")[199:] == [
        "199:1:x",
        "[210 matches in 210 files; the first 200 are shown, narrow it with path or glob]",
    ]
    text = await bench.text("glob", pattern="*")
    assert text.split("\n")[200:] == ["[210 files; the 200 newest are shown]"]


async def test_long_lines_are_cut(bench):
    bench.file("min.js", "x" * 1_000_000)
    assert await bench.text("grep", pattern="x") == f"min.js:1:{'x' * 300}"


async def test_odd_names_and_contents_reach_the_model_as_text(bench):
    (bench.root / os.fsdecode(b"caf\xe9 : 1:x")).write_bytes(b"needle \xff\n")
    assert await bench.text("grep", pattern="needle") == "caf\ufffd : 1:x:1:needle \ufffd"


async def test_bad_patterns_are_explained(bench):
    bench.file("a", "x")
    assert "parse error" in await bench.error("grep", pattern="(")
    assert await bench.error("grep", pattern="a\nb") == (
        "A pattern matches within one line; it cannot contain a line break."
    )
    assert await bench.error("glob", pattern=" ") == "The glob is blank."
    assert await bench.error("grep", pattern="x", path="none") == "none is not there."
    assert await bench.error("glob", pattern="x", path="a") == "a is not a directory."
    assert "outside the workspace" in await bench.error("grep", pattern="x", path="/etc")


async def test_patterns_that_look_like_options_are_patterns(bench):
    bench.file("a", "--pre=evil\n")
    assert await bench.text("grep", pattern="--pre=evil") == "a:1:--pre=evil"


def test_a_glob_of_endless_alternatives_is_refused():
    with pytest.raises(GlobError, match="stands for too many patterns"):
        Glob("{a,b}" * 20)


async def test_a_directory_is_listed_with_sizes_and_targets(bench):
    bench.file("src/a.py", "12345")
    bench.file("b.txt", "1")
    (bench.root / "link").symlink_to("b.txt")
    (bench.root / "gone").symlink_to("nowhere")
    assert await bench.text("list") == ("src/\nb.txt (1 bytes)\ngone -> nowhere\nlink -> b.txt")
    (bench.root / "empty").mkdir()
    assert await bench.text("list", path="empty") == "[empty is empty]"
    assert await bench.error("list", path="b.txt") == "b.txt is not a directory; read it instead."
    assert await bench.error("list", path="x") == ("x cannot be listed: No such file or directory.")
