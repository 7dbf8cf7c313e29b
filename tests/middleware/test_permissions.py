"""Who decides about a call: the mode, a rule, or a person."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.middleware.support import rules
from todo_agent.agent.conversation import Conversation
from todo_agent.agent.events import ApprovalRequested, Event
from todo_agent.agent.loop import Agent
from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import Answer, Question
from todo_agent.agent.tools import NeedsApproval, Outcome, Resource, Success, Tool, ToolCall
from todo_agent.middleware.permissions import PLAN_MODE, Permissions
from todo_agent.middleware.rules import Decision, RuleError
from todo_agent.providers.scripted import ScriptedProvider
from todo_agent.tools.coding import coding_tools
from todo_agent.tools.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    return Workspace(root, confined=False)


def decisions(permissions: Permissions, *resources: str) -> list[str]:
    split = (text.partition(" ") for text in resources)
    return [
        permissions.judge([Resource(kind, name)]).decision.name.lower()  # type: ignore[arg-type]
        for kind, _, name in split
    ]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Mode.ASK, "allow ask ask allow ask ask ask allow ask"),
        (Mode.ACCEPT_EDITS, "allow allow ask allow ask ask ask allow ask"),
        (Mode.PLAN, "allow deny deny allow deny ask ask allow ask"),
        (Mode.AUTO, "allow allow allow allow allow allow allow allow allow"),
    ],
)
def test_what_each_mode_decides_without_rules(workspace, mode, expected):
    permissions = Permissions(mode, workspace=workspace)
    root = workspace.root
    assert (
        decisions(
            permissions,
            f"read {root}/a.txt",
            f"write {root}/a.txt",
            "write /tmp/x",
            "run ls",
            "run make",
            "read /etc/passwd",
            "fetch https://x.example/",
            "invoke write_todos",
            "invoke anything_else",
        )
        == expected.split()
    )


def test_deny_rules_hold_in_every_mode(workspace):
    for mode in Mode:
        permissions = Permissions(
            mode,
            rules("deny run rm *", "deny read **/a.txt", "deny invoke x", "deny fetch *"),
            workspace=workspace,
        )
        found = decisions(
            permissions, "run rm x", f"read {workspace.root}/a.txt", "invoke x", "fetch http://x"
        )
        assert found == ["deny"] * 4


def test_deny_rules_hold_for_commands_in_auto_too(workspace):
    permissions = permissions_in(Mode.AUTO, workspace, "deny write **/.env", "deny read **/key")
    assert decisions(
        permissions,
        "run cp a.txt .env",
        "run echo x > .env",
        "run echo x > $FILE",
        "run cat key",
        "run cat $FILE",
        "run make",
    ) == ["deny", "deny", "ask", "deny", "ask", "allow"]


def test_files_that_change_what_the_agent_may_do_always_ask_but_in_auto(workspace, tmp_path):
    names = [
        ".git/hooks/pre-commit", ".git/config", ".envrc", ".todo-agent/config.toml", ".GIT/config",
        "sub/.bashrc", "sub/.git/config",
    ]  # fmt: skip
    paths = [f"write {workspace.root}/{name}" for name in names]
    paths += [f"write {tmp_path}/config/config.toml", f"write {Path.home()}/.bashrc"]
    for mode, decision in ((Mode.ASK, "ask"), (Mode.ACCEPT_EDITS, "ask"), (Mode.AUTO, "allow")):
        permissions = Permissions(
            mode,
            rules("allow write **", "allow write /**"),
            workspace=workspace,
            protected=[tmp_path / "config"],
        )
        assert decisions(permissions, *paths) == [decision] * len(paths)
    verdict = permissions_in(Mode.ACCEPT_EDITS, workspace).judge(
        [Resource("write", f"{workspace.root}/.envrc")]
    )
    assert verdict.reason == f"{workspace.root}/.envrc changes what the agent may do"
    assert verdict.offer == ""


def permissions_in(mode: Mode, workspace: Workspace, *texts: str) -> Permissions:
    return Permissions(mode, rules(*texts), workspace=workspace)


def test_a_project_can_only_restrict(workspace):
    permissions = Permissions(
        Mode.ASK,
        rules("allow run make test", "deny run make clean"),
        workspace=workspace,
        restrictions=rules("ask run make *", "allow run make clean", "allow run evil"),
    )
    assert decisions(permissions, "run make test", "run make clean", "run evil") == [
        "ask", "deny", "ask",
    ]  # fmt: skip


def test_a_file_is_denied_under_every_name_it_has(workspace, tmp_path):
    secret = workspace.root / "secret"
    secret.mkdir()
    (workspace.root / "alias").symlink_to(secret)
    (tmp_path / "ws-link").symlink_to(workspace.root)
    for rule in ("secret/**", "alias/**", f"{tmp_path}/ws-link/secret/**"):
        permissions = permissions_in(Mode.AUTO, workspace, f"deny read {rule}")
        for path in ("secret/x", "alias/x", f"{tmp_path}/ws-link/alias/x"):
            resolved = workspace.resolve(path)
            assert decisions(permissions, f"read {resolved}") == ["deny"]
            assert decisions(permissions, f"run cat {path}") == ["deny"]


def test_a_hard_link_is_no_way_around(workspace):
    (workspace.root / ".envrc").write_text("x")
    os.link(workspace.root / ".envrc", workspace.root / "innocent")
    permissions = permissions_in(Mode.ACCEPT_EDITS, workspace)
    assert decisions(permissions, "run echo x > innocent", "run echo x > other") == ["ask", "allow"]


def test_commands_start_where_the_shell_stands(workspace):
    (workspace.root / "sub").mkdir()
    workspace.cwd = workspace.root / "sub"
    permissions = permissions_in(Mode.ASK, workspace)
    assert decisions(permissions, "run cat ../a.txt", "run cat ../../x") == ["allow", "ask"]


@pytest.mark.parametrize(
    ("command", "offer"),
    [
        ("make test", "run make test"),
        ("cd . && make test", "run make test"),
        ("make 'a b'", "run make 'a b'"),
        ("make 'a*'", "run make 'a\\*'"),
        ("make *", ""),
        ("make $X", ""),
        ("A=1 make", ""),
        ("make && npm test", ""),
        ("python x.py", ""),
        ("python3.12 x.py", ""),
        ("bash x.sh", ""),
        ("sudo make", ""),
        ("npx x", ""),
        ("./x", ""),
        ("ssh host", ""),
        ("git config a b", ""),
    ],
)
def test_always_allow_offers_a_narrow_rule_and_none_for_interpreters(workspace, command, offer):
    permissions = permissions_in(Mode.ASK, workspace)
    verdict = permissions.judge([Resource("run", command)])
    assert (verdict.decision, verdict.offer) == (Decision.ASK, offer)
    if offer:
        permissions.allow(offer)
        assert permissions.judge([Resource("run", command)]).decision is Decision.ALLOW
        assert decisions(permissions, f"run {command} more", f"run {command}; make x") == [
            "ask", "ask",
        ]  # fmt: skip


@pytest.mark.parametrize(
    "rule", ["run python *", "run *", "run bash -c 'ls'", "run $X", "nonsense"]
)
def test_what_would_allow_anything_cannot_be_allowed(workspace, rule):
    with pytest.raises(RuleError):
        permissions_in(Mode.ASK, workspace).allow(rule)


def test_a_rule_for_a_command_says_nothing_of_what_it_runs_or_of_denied_files(workspace):
    permissions = permissions_in(
        Mode.ASK,
        workspace,
        "allow run env *",
        "allow run bash *",
        "allow run cat *",
        "deny read **/secret",
    )
    assert decisions(
        permissions,
        "run env make",
        "run bash -c 'make'",
        "run bash x.sh",
        "run cat /etc/hostname",
        "run cat secret",
    ) == ["ask", "ask", "allow", "allow", "deny"]


def test_other_questions_offer_rules_too(workspace):
    permissions = permissions_in(Mode.ASK, workspace)
    for resource, offer in (
        (Resource("fetch", "https://x.example/a?b=1"), "fetch https://x.example/*"),
        (Resource("invoke", "deploy"), "invoke deploy"),
        (Resource("write", f"{workspace.root}/a*"), f"write {workspace.root}/a\\*"),
    ):
        assert permissions.judge([resource]).offer == offer
        permissions.allow(offer)
        assert permissions.judge([resource]).decision is Decision.ALLOW


def test_the_worst_of_several_resources_counts(workspace):
    permissions = permissions_in(Mode.ASK, workspace, "deny invoke x")
    inside, outside = Resource("read", str(workspace.root)), Resource("read", "/etc/passwd")
    assert permissions.judge([]).decision is Decision.ALLOW
    assert permissions.judge([inside, outside]).decision is Decision.ASK
    assert permissions.judge([outside, Resource("invoke", "x")]).decision is Decision.DENY


def test_searches_ask_where_some_files_are_hidden(workspace):
    permissions = permissions_in(Mode.ASK, workspace, "deny read **/.env")
    commands = ["rg KEY", "grep -rn KEY .", "git grep KEY", "git show HEAD:.env", "cat .env"]
    assert decisions(permissions, *(f"run {command}" for command in commands)) == [
        "ask", "ask", "ask", "ask", "deny",
    ]  # fmt: skip
    assert decisions(permissions, "run grep KEY a.txt", "run ls") == ["allow", "allow"]


# With the real loop and the real tools.


class Story:
    def __init__(self, permissions: Permissions, workspace: Workspace, *more: Tool) -> None:
        self.permissions = permissions
        self.tools = (
            *coding_tools(workspace, environ=os.environ, may_read=permissions.may_read),
            *more,
        )
        self.questions: list[Question] = []
        self.events: list[Event] = []

    async def __call__(self, name: str, answer: Answer | None = None, **args: object) -> str:
        """Let the model make one call; return what it reads of the result."""
        script = [{"calls": [{"name": name, "input": args}]}, {"text": "done"}]

        async def ask(question: Question) -> Answer:
            self.questions.append(question)
            assert answer is not None, question
            return answer

        conversation = Conversation()
        agent = Agent(
            ScriptedProvider(script),
            tools=self.tools,
            middleware=[self.permissions],
            model="scripted",
        )
        await agent.run("go", self.events.append, conversation=conversation, ask=ask)
        return next(m for m in conversation.messages if m.results).results[0].text


@pytest.fixture
def story(workspace):
    return Story(permissions_in(Mode.ASK, workspace), workspace)


async def test_reading_needs_no_question(story):
    assert await story("read", path="a.txt") == "1→a"
    assert (await story("shell", command="cat a.txt")).startswith("a\n")
    assert story.questions == []


async def test_a_write_waits_for_a_person_who_sees_the_diff(story, workspace):
    result = await story(
        "edit", Answer(approved=True), path="a.txt", old_string="a", new_string="b"
    )
    assert result == "Edited a.txt (+1 -1)."
    (question,) = story.questions
    assert question.text == f"This would write {workspace.root}/a.txt."
    assert question.rule == f"write {workspace.root}/a.txt"
    assert question.preview is not None
    assert question.preview.kind == "diff"
    assert any(isinstance(event, ApprovalRequested) for event in story.events)


async def test_what_is_refused_does_not_happen(story, workspace):
    result = await story("edit", Answer(text="use c"), path="a.txt", old_string="a", new_string="b")
    assert result.startswith("Denied")
    assert "use c" in result
    assert (workspace.root / "a.txt").read_text() == "a\n"


async def test_a_denied_call_says_why_and_what_else_to_do(workspace):
    story = Story(permissions_in(Mode.AUTO, workspace, "deny run rm *"), workspace)
    assert await story("shell", command="ls; rm a.txt") == (
        "Denied: the rule `deny run rm *` forbids rm a.txt. "
        "Do it in another way that the rules allow, or ask the person."
    )
    assert (workspace.root / "a.txt").exists()


async def test_plan_mode_tells_the_model_and_changes_nothing(workspace):
    story = Story(permissions_in(Mode.PLAN, workspace), workspace)
    assert await story("write", path="b.txt", content="x") == (
        f"Denied: plan mode only reads, and this would write {workspace.root}/b.txt. "
        "Go on reading, and say in your answer what you would change."
    )
    assert (await story("shell", command="make")).startswith("Denied: plan mode only reads")
    assert await story("read", path="a.txt") == "1→a"
    sections = await story.permissions.prompt_sections(None)  # type: ignore[arg-type]
    assert [section.text for section in sections] == [PLAN_MODE]


async def test_a_search_leaves_denied_files_out(workspace):
    (workspace.root / ".env").write_text("KEY=secret\n")
    (workspace.root / "a.txt").write_text("KEY\n")
    story = Story(permissions_in(Mode.AUTO, workspace, "deny read **/.env"), workspace)
    assert await story("grep", pattern="KEY") == (
        "a.txt:1:KEY\n[1 more files match that may not be read]"
    )


async def test_the_mode_may_change_while_it_runs(story, workspace):
    story.permissions.mode = Mode.ACCEPT_EDITS
    assert await story("write", path="b.txt", content="x\n") == "Created b.txt (+1 -0)."
    story.permissions.mode = Mode.PLAN
    assert (await story("write", path="c.txt", content="x")).startswith("Denied")


async def test_always_allow_stops_the_questions(story, workspace):
    await story("shell", Answer(approved=True), command="touch b")
    story.permissions.allow(story.questions[0].rule)
    await story("shell", command="touch b")
    assert len(story.questions) == 1


async def test_a_path_that_leads_elsewhere_after_the_question_is_not_written(workspace, tmp_path):
    story = Story(permissions_in(Mode.ASK, workspace), workspace)
    link = workspace.root / "link"
    link.symlink_to("new.txt")

    class SwapsMeanwhile(Permissions):
        async def wrap_tool_call(self, call, call_next, ctx):  # type: ignore[no-untyped-def]
            outcome = await super().wrap_tool_call(call, call_next, ctx)
            if isinstance(outcome, NeedsApproval):
                link.unlink()
                link.symlink_to(tmp_path / "outside.txt")
            return outcome

    story.permissions = SwapsMeanwhile(Mode.ASK, workspace=workspace)
    result = await story("write", Answer(approved=True), path="link", content="x")
    assert result.startswith("Denied: what this call touches changed after the person was asked")
    assert not (tmp_path / "outside.txt").exists()


async def _deploy(call: ToolCall, ctx: object) -> Outcome:
    return Success("deployed")


async def test_any_tool_is_the_resource_of_its_name(workspace):
    deploy = Tool("deploy", "", {"type": "object"}, _deploy)
    for text, expected in (("allow invoke deploy", "deployed"), ("deny invoke deploy", "Denied")):
        story = Story(permissions_in(Mode.ASK, workspace, text), workspace, deploy)
        assert (await story("deploy")).startswith(expected)
    story = Story(permissions_in(Mode.ASK, workspace), workspace, deploy)
    assert await story("deploy", Answer(approved=True)) == "deployed"
    assert story.questions[0].text == "This would invoke deploy."


# No wrapping gets a denied command allowed.

QUOTES = st.sampled_from(["'", '"'])


def _in_shell(inner: str, quote: str) -> str:
    escaped = inner.replace("'", "'\\''") if quote == "'" else _double_quoted(inner)
    return f"bash -c {quote}{escaped}{quote}"


def _double_quoted(text: str) -> str:
    for character in '\\"$`':
        text = text.replace(character, f"\\{character}")
    return text


WRAPPERS = st.sampled_from(
    [
        "{}", "ls; {}", "{} | cat", "cat a.txt | {}", "ls && {}", "false || {}", "({})",
        "{{ {}; }}",
        "if true; then {}; fi", "for f in a; do {}; done", "while {}; do :; done", "! {}", "$({})",
        "echo $({})", "echo \"$({})\"", "ls <({})", "x=$({})", "f() {{ {}; }}; f", "ls\n{}",
        "{} &", "{} > /dev/null 2>&1", "cat <<X\n$({})\nX", "case a in a) {};; esac", "# x\n{}",
        "[ -n \"$({})\" ]", "ls `true`; {}", "trap - EXIT; {}", "cd . && {}",
    ]
)  # fmt: skip
PREFIXES = st.sampled_from(
    [
        "", "env ", "env A=1 ", "env -i ", "nohup ", "timeout 5 ", "timeout -s KILL 5 ",
        "nice -n 3 ",
        "time ", "command ", "exec ", "sudo ", "sudo -u root ", "xargs ", "xargs -n 1 ", "setsid ",
        "A=1 ", "/usr/bin/env ", "stdbuf -o L ", "ionice -c 3 ", "busybox ", "mystery ", "\\env ",
        "flock l ", "find . -exec ", "watch -n 1 ", "builtin ", "doas ", "strace -f ",
    ]
)  # fmt: skip
DENIED = st.sampled_from(
    ["rm x", "rm", "/bin/rm -rf x", "r\\m x", "'rm' x", 'r"m" $X', "rm $(ls)", "rm *", "rm \\\n x"]
)


@settings(max_examples=400, deadline=None)
@given(denied=DENIED, prefixes=st.lists(PREFIXES, max_size=3), wraps=st.lists(st.one_of(
    WRAPPERS, QUOTES), max_size=3), mode=st.sampled_from(Mode))  # fmt: skip
def test_a_denied_command_is_never_allowed_by_wrapping_it(
    tmp_path_factory, denied, prefixes, wraps, mode
):
    root = tmp_path_factory.getbasetemp()
    permissions = permissions_in(
        mode, Workspace(root), "deny run rm *", "allow run env *", "allow run bash *",
        "allow run mystery *", "allow run sudo *", "allow run xargs *",
    )  # fmt: skip
    command = "".join(prefixes) + denied
    for wrap in wraps:
        command = _in_shell(command, wrap) if wrap in "'\"" else wrap.format(command)
    verdict = permissions.judge([Resource("run", command)])
    assert verdict.decision is not Decision.ALLOW, command


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ls rm$(){}[]<>|&;'\"\\`\n#=*~/-x", max_size=40))
def test_any_text_gets_a_decision(tmp_path_factory, command):
    root = tmp_path_factory.getbasetemp()
    permissions = permissions_in(Mode.AUTO, Workspace(root), "deny run rm *")
    permissions.judge([Resource("run", command)])


def test_deep_and_long_commands_are_asked_about(workspace):
    permissions = permissions_in(Mode.ASK, workspace)
    assert (
        decisions(
            permissions,
            "run " + "(" * 5_000 + "ls" + ")" * 5_000,
            "run " + "echo $(" * 3_000 + "ls" + ")" * 3_000,
            "run " + "ls;" * 100_000,
            "run ls\0",
            "run ls\r\nrm x",
            "run \ud83d",
        )
        == ["ask"] * 6
    )
