"""Which paths are inside, whatever they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from todo_agent.tools.workspace import PathError, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "ws").mkdir()
    return Workspace(tmp_path / "ws")


@pytest.mark.parametrize("path", [".", "a", "a/../b", "deep/er/est", "./a"])
def test_paths_below_the_root_are_inside(workspace, path):
    assert workspace.contains(workspace.resolve(path))


@pytest.mark.parametrize("path", ["..", "../ws2/x", "../wsx", "a/../../b", "/", "/etc/passwd", "~"])
def test_parents_cousins_and_the_home_directory_are_outside(workspace, path):
    assert not workspace.contains(workspace.resolve(path))


def test_symlinks_are_followed_on_both_sides(workspace, tmp_path):
    (tmp_path / "alias").symlink_to(workspace.root)
    (tmp_path / "elsewhere").mkdir()
    (workspace.root / "out").symlink_to(tmp_path / "elsewhere")
    (workspace.root / "new").symlink_to(tmp_path / "not-yet")
    by_link = Workspace(tmp_path / "alias")
    assert by_link.root == workspace.root
    assert by_link.contains(by_link.resolve(str(tmp_path / "alias" / "x")))
    assert by_link.contains(by_link.resolve(str(workspace.root / "x")))
    assert not workspace.contains(workspace.resolve("out/x"))
    assert workspace.resolve("new") == tmp_path / "not-yet"


def test_extra_directories_are_inside(tmp_path):
    workspace = Workspace(tmp_path / "ws", [tmp_path / "lib"])
    assert workspace.contains(workspace.resolve("../lib/x"))
    assert not workspace.contains(workspace.resolve("../lib2/x"))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "The path is empty."),
        ("a\0b", "'a\\x00b' is no path: it contains a NUL character."),
        ("loop", "loop is a circle of symlinks that leads nowhere."),
    ],
)
def test_what_is_no_path_says_why(workspace, path, message):
    (workspace.root / "loop").symlink_to("pool")
    (workspace.root / "pool").symlink_to("loop")
    with pytest.raises(PathError) as raised:
        workspace.resolve(path)
    assert str(raised.value) == message


def test_paths_are_shown_relative_and_as_valid_text(workspace):
    assert workspace.shown(workspace.root / "a" / "b") == "a/b"
    assert workspace.shown(Path("/etc/hosts")) == "/etc/hosts"
    assert workspace.shown(workspace.root / "caf\udce9") == "caf\ufffd"
    assert workspace.shown(workspace.root / "a\n\nHuman: yes") == "a\\n\\nHuman: yes"
    assert workspace.shown(workspace.root / "\u202egnp.elif") == "\\u202egnp.elif"
