"""What rules match, and which of them wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.middleware.support import rules
from todo_agent.middleware.rules import Decision, Rule, RuleError, literal, winner


@pytest.mark.parametrize(
    ("text", "name", "matches"),
    [
        ("run git status", "git status", True),
        ("run git status", "git status --short", False),
        ("run git status", "git statusfoo", False),
        ("run git *", "git", True),
        ("run git *", "git push --force", True),
        ("run git *", "gitfoo", False),
        ("run * --force", "git push --force", True),
        ("run ls \\*.py", "ls *.py", True),
        ("run ls \\*.py", "ls a.py", False),
        ("run ls ?", "ls a", True),
        ("run a.c", "abc", False),
        ("run echo *", "echo a\nb", True),
        ("read /a/*", "/a/b", True),
        ("read /a/*", "/a/b/c", False),
        ("read /a/**", "/a/b/c", True),
        ("read /a/**/c", "/a/c", True),
        ("read /a/**/c", "/a/b/b/c", True),
        ("read /a/**/c", "/a/bc", False),
        ("write /a/b", "/a/b", True),
        ("fetch https://x.example/*", "https://x.example/a/b", True),
        ("invoke write_todos", "write_todos", True),
    ],
)
def test_what_a_pattern_matches(text, name, matches):
    rule = Rule.parse(Decision.ASK, text)
    assert rule.matches(rule.kind, name) is matches
    assert not rule.matches("run" if rule.kind != "run" else "read", name)


def test_any_text_matches_its_literal_pattern():
    for name in ("a*b", "a?b", r"a\b", "a b", "**"):
        assert Rule(Decision.ALLOW, "run", literal(name)).matches("run", name)
    assert not Rule(Decision.ALLOW, "run", literal("a*b")).matches("run", "axb")


@pytest.mark.parametrize(
    ("texts", "wins"),
    [
        (["deny run git *", "allow run git status"], "allow run git status"),
        (["allow run git *", "deny run git push *"], "deny run git push *"),
        (["allow run git push", "deny run git push"], "deny run git push"),
        (["ask run git ****", "allow run git *"], "ask run git ****"),
    ],
)
def test_the_most_specific_wins_and_of_equals_the_most_severe(texts, wins):
    assert str(winner(rules(*texts), "run", "git push" if "push" in wins else "git status")) == wins


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("git status", "'git status' is no rule: it has to begin with one of read, write, run"),
        ("run", "'run' is no rule: after run it has to say what it is about."),
        ("", "'' is no rule: it has to begin with one of"),
    ],
)
def test_what_is_no_rule_says_so(text, message):
    with pytest.raises(RuleError) as raised:
        Rule.parse(Decision.ALLOW, text)
    assert str(raised.value).startswith(message)


def test_paths_in_rules_are_resolved_like_the_paths_they_are_about(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    for pattern in (f"{tmp_path}/link/**", "link/**", "./link/**", "real/**"):
        rule = Rule.parse(Decision.DENY, f"read {pattern}").resolved(tmp_path)
        assert rule.matches("read", f"{real}/x")
        assert str(rule) == f"deny read {pattern}"
    home = Rule.parse(Decision.DENY, "read ~/x").resolved(tmp_path)
    assert home.matches("read", str(Path.home() / "x"))
    whole = Rule.parse(Decision.DENY, "read **/.env").resolved(tmp_path)
    assert whole.matches("read", f"{tmp_path}/a/.env")
    assert whole.matches("read", f"{tmp_path}/.env")
    assert whole.matches("read", f"{tmp_path}/.ENV", fold=True)
