"""The pure parts: diffs, plans by hand, progress, search, themes, names."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import subprocess
import sys
import textwrap
from importlib import import_module

import pytest
from textual.color import Color

import todo_agent.tui
from tests.tui.stand_in import DIFF, plan
from todo_agent.plan.plan import Plan
from todo_agent.tui.commands import TODO_USAGE, todo_edit
from todo_agent.tui.diff import Row, rows
from todo_agent.tui.fuzzy import best
from todo_agent.tui.progress import Progress, change
from todo_agent.tui.themes import ASCII, DARK, LIGHT, UNICODE, marks_for

THREE = plan("x read", "> fix", ". test")


def test_a_diff_is_read_with_its_line_numbers():
    shown = [(row.kind, row.number) for row in rows(DIFF)]
    assert shown == [
        ("context", 41),
        ("context", 42),
        ("removed", 43),
        ("removed", 44),
        ("added", 43),
        ("added", 44),
        ("added", 45),
    ]


def test_a_removed_line_may_look_like_a_header():
    text = (
        "--- a\n+++ b\n@@ -1,2 +1,1 @@\n--- sql comment\n x\n"
        "@@ -9 +8 @@\n-old\n\\ No newline at end of file\n"
    )
    assert list(rows(text)) == [
        Row("removed", 1, "-- sql comment"),
        Row("context", 1, "x", old=2),
        Row("gap", None, ""),
        Row("removed", 9, "old"),
        Row("gap", None, "No newline at end of file"),
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("add write docs", plan("x read", "> fix", ". test", ". write docs")),
        ("done 2", plan("x read", "x fix", ". test")),
        ("start 3", plan("x read", "> fix", "> test")),
        ("open 1", plan(". read", "> fix", ". test")),
        ("edit 3 run tests", plan("x read", "> fix", ". run tests")),
        ("drop 1", plan("> fix", ". test")),
        ("clear", Plan()),
        ("done 9", "There is no todo 9; the plan has 3."),
        ("done 0", "There is no todo 0; the plan has 3."),
        ("done", TODO_USAGE),
        ("done 1 please", TODO_USAGE),
        ("add", TODO_USAGE),
        ("", TODO_USAGE),
        ("fly 1", TODO_USAGE),
    ],
)
def test_the_todo_command(command, expected):
    assert todo_edit(THREE, command) == expected


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (THREE, ""),
        (plan("x read", "x fix", "> test"), "1 done"),
        (plan("x read", "> fix", ". test", ". docs", ". ship"), "+2"),
        (plan(". read", "> fix"), "-1, 1 reopened"),
        (Plan(), "-3"),
    ],
)
def test_what_changed_in_few_words(after, words):
    assert change(THREE, after) == words


def test_progress_names_what_is_worked_on_or_comes_next():
    assert Progress.of(THREE) == Progress(1, 3, "fix")
    assert Progress.of(plan("x a", ". b\nmore")) == Progress(1, 2, "b")
    assert Progress.of(Plan()) == Progress(0, 0, "")


def test_search_ranks_beginnings_before_middles():
    names = ["tests/test_app.py", "src/app.py", "docs/readme.md", "app/views.py"]
    assert list(best("app", names, text=str, limit=3)) == [
        "src/app.py",
        "app/views.py",
        "tests/test_app.py",
    ]
    assert list(best("", names, text=str, limit=2)) == names[:2]
    assert list(best("zzz", names, text=str, limit=3)) == []


def test_marks_follow_the_terminal():
    assert marks_for(ascii_only=None, term="xterm-256color", encoding="utf-8") is UNICODE
    assert marks_for(ascii_only=None, term="linux", encoding="utf-8") is ASCII
    assert marks_for(ascii_only=None, term="xterm", encoding="ascii") is ASCII
    assert marks_for(ascii_only=False, term="dumb", encoding="ascii") is UNICODE


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_every_pair_of_colours_can_be_read(theme):
    colours = theme.variables
    grounds = {
        "background": theme.background,
        "surface": theme.surface,
        "panel": theme.panel,
        "plan": colours["plan-background"],
        "chosen": colours["chosen"],
    }
    inks = {
        "foreground": theme.foreground,
        "muted": colours["muted"],
        **{name: getattr(theme, name) for name in ("primary", "secondary", "accent", "success")},
        **{name: getattr(theme, name) for name in ("warning", "error")},
    }
    pairs = {
        (i, g): _contrast(ink, ground) for i, ink in inks.items() for g, ground in grounds.items()
    }
    for sign in ("added", "removed"):
        pairs[sign, "its ground"] = _contrast(colours[sign], colours[f"{sign}-background"])
    assert {pair: round(ratio, 2) for pair, ratio in pairs.items() if ratio < 4.5} == {}


def _contrast(first: str, second: str) -> float:
    dark, light = sorted(_luminance(Color.parse(colour)) for colour in (first, second))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


MEANT = {
    "AskScreen": {"AUTO_FOCUS"},
    "TodoAgentApp": {"TITLE", "CSS_PATH", "ENABLE_COMMAND_PALETTE", "_fatal_error", "action_quit"}
    | {"animation_level", "get_system_commands", "get_theme_variable_defaults", "theme"}
    | {"copy_to_clipboard", "_clipboard", "get_default_screen"},
    "DiffView": {"on_mount"},
    "Fence": {"highlight", "_update_from_block", "_highlighted_code"},
    "MainScreen": {"action_copy_text", "get_selected_text"},
    "ModelMessage": {"BLOCKS", "BULLETS", "get_content_width"},
    "PlanList": {"render_line", "virtual_size"},
    "Prompt": {"cursor_blink", "render_line", "text"},
    "Table": {"_update_from_block"},
    "TextLines": {"get_content_width", "render_line", "virtual_size"},
    "Transcript": {"watch_scroll_y"},
}
USUAL = {"BINDINGS", "compose", "render", "display", "can_focus", "can_focus_children"} | {
    "get_content_height",
    "get_selection",
    "ALLOW_SELECT",
    "FOCUS_ON_CLICK",
}


def test_no_name_of_textual_is_taken_by_accident():
    taken = {}
    for module in pkgutil.walk_packages(todo_agent.tui.__path__, "todo_agent.tui."):
        for name, kind in vars(import_module(module.name)).items():
            if inspect.isclass(kind) and kind.__module__ == module.name:
                both = _written(kind) & _of_textual(kind) - USUAL - MEANT.get(name, set())
                if both:
                    taken[name] = both
    assert taken == {}


def _of_textual(kind: type) -> set[str]:
    bases = [base for base in kind.__mro__ if base.__module__.startswith("textual")]
    return {name for base in bases for name in (*vars(base), *_stored(base)) if name[:2] != "__"}


def _written(kind: type) -> set[str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    named = {node.name for node in tree.body if hasattr(node, "name")}
    for node in tree.body:
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        named |= {target.id for target in targets if isinstance(target, ast.Name)}
    return named | _stored(kind)


def _stored(kind: type) -> set[str]:
    """Return the names a class gives to attributes of `self`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


def test_the_screen_loads_nothing_slow():
    code = "import sys, todo_agent.tui.run; print([n for n in sys.modules if n in %r])"
    slow = ["anthropic", "httpx", "jsonschema", "rapidfuzz"]
    ran = subprocess.run(
        [sys.executable, "-c", code % slow], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
