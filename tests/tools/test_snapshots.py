"""What the agent changed can be taken back, and nobody else's work with it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.tools.support import Bench
from todo_agent.agent.messages import Display
from todo_agent.tools.files import FileError
from todo_agent.tools.snapshots import Snapshots, Undone


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "kept")


@pytest.fixture
def bench(tmp_path: Path, snapshots: Snapshots) -> Bench:
    root = tmp_path / "workspace"
    root.mkdir()
    return Bench(root, keep=snapshots.keep)


async def replace(bench: Bench, name: str, old: str, new: str) -> None:
    await bench.text("edit", path=name, old_string=old, new_string=new)


async def test_a_turn_is_undone_whole(bench, snapshots):
    run = bench.file("run.sh", b"echo one\r\n")
    run.chmod(0o755)
    turn = snapshots.begin_turn()
    await replace(bench, "run.sh", "one", "two")
    await replace(bench, "run.sh", "two", "three")
    await bench.text("write", path="sub/new.txt", content="x")
    assert snapshots.undo(turn) == Undone((run, bench.root / "sub/new.txt"), ())
    assert run.read_bytes() == b"echo one\r\n"
    assert stat.S_IMODE(run.stat().st_mode) == 0o755
    assert not (bench.root / "sub/new.txt").exists()


async def test_each_turn_goes_back_to_where_it_began(bench, snapshots):
    path = bench.file("f", "1")
    for number in "234":
        snapshots.begin_turn()
        await replace(bench, "f", path.read_text(), number)
    assert snapshots.undo(3).restored == (path,)
    assert path.read_text() == "3"
    assert snapshots.undo(2).restored == (path,)
    assert path.read_text() == "2"
    assert snapshots.undo(2) == Undone((), ())


async def test_what_the_person_changed_since_is_a_conflict_and_stays(bench, snapshots):
    mine, theirs = bench.file("mine", "a"), bench.file("theirs", "a")
    turn = snapshots.begin_turn()
    await replace(bench, "mine", "a", "b")
    await replace(bench, "theirs", "a", "b")
    theirs.write_text("b and mine")
    assert snapshots.undo(turn) == Undone((mine,), (theirs,))
    assert theirs.read_text() == "b and mine"


async def test_the_way_from_then_to_now_can_be_shown(bench, snapshots):
    path = bench.file("f", "a\n")
    snapshots.begin_turn()
    await replace(bench, "f", "a", "b")
    snapshots.begin_turn()
    await replace(bench, "f", "b", "c")
    body = f"--- {path}\n+++ {path}\n@@ -1,1 +1,1 @@\n-{{}}\n+c"
    shown = Display("+1 -1", body.format("a"), kind="diff", path=str(path))
    assert snapshots.diff() == [shown]
    assert snapshots.diff(2) == [Display("+1 -1", body.format("b"), kind="diff", path=str(path))]


async def test_it_all_outlives_the_program_and_a_torn_line(bench, snapshots, tmp_path):
    path = bench.file("f", "a")
    turn = snapshots.begin_turn()
    await replace(bench, "f", "a", "b")
    with (tmp_path / "kept/changes.jsonl").open("ab") as journal:
        journal.write(b'\n{"turn": 9, "pa')
    again = Snapshots(tmp_path / "kept")
    assert again.turn == turn
    again.begin_turn()
    again.keep(path, b"b", b"c")
    assert [change.path for change in Snapshots(tmp_path / "kept").changes(2)] == [path]
    assert again.undo(turn).restored == (path,)


async def test_only_the_owner_can_read_what_is_kept(bench, snapshots, tmp_path):
    bench.file("f", "secret")
    await replace(bench, "f", "secret", "public")
    kept = [tmp_path / "kept/changes.jsonl", *(tmp_path / "kept/contents").iterdir()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


async def test_what_cannot_be_kept_is_not_changed(tmp_path):
    (tmp_path / "kept").write_text("in the way")
    bench = Bench(tmp_path, keep=Snapshots(tmp_path / "kept").keep)
    path = bench.file("f", "a")
    assert "could not be kept for undo" in await bench.error(
        "edit", path="f", old_string="a", new_string="b"
    )
    assert path.read_text() == "a"


def test_a_lost_content_is_said(snapshots, tmp_path):
    path = tmp_path / "f"
    path.write_text("b")
    snapshots.keep(path, b"a", b"b")
    for content in (tmp_path / "kept/contents").iterdir():
        content.unlink()
    with pytest.raises(FileError, match="What was kept for undo is gone"):
        snapshots.undo(0)
