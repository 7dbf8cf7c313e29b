from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pexpect
import pytest

from tests.e2e.terminal import Terminal
from tests.program import Outcome, Program, finish, start
from todo_agent import commands
from todo_agent.plan.plan import Plan

NO_KEY = "There is no API key. Set ANTHROPIC_API_KEY"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def thread(program: Program) -> str:
    """The id of a thread that played the demo."""
    outcome = program("--demo", "-p", "go", "--permission-mode", "auto", "--output-format", "json")
    return str(outcome.report["thread_id"])


# What is refused, and how.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--bogus", "unrecognized arguments: --bogus. Try: todo-agent --help"),
        ("one two", "unrecognized arguments: two. Try: todo-agent --help"),
        ("--max-turns many", "argument --max-turns: invalid int value: 'many'. Try: todo-agent"),
        ("--max-turns 0", "--max-turns: limits.max_turns must be a whole number from 1 to"),
        ("--max-cost nan", "--max-cost: limits.max_cost must be an amount of US dollars above 0"),
        ("--permission-mode yolo", "--permission-mode: permissions.mode must be one of ask, acc"),
        ("--discipline none", "--discipline: plan.discipline must be one of free, guarded, seq"),
        ("--base-url ftp://x", "--base-url: base_url must be an address such as https://api.a"),
        ("--set ui.mose=1", "--set: there is no setting ui.mose. Did you mean ui.mouse?"),
        ("--set model", "A setting is given as key=value, such as ui.mouse=false."),
        ("--set permissions.allow=['x']", "--set: permissions.allow must be a list of rules, but"),
        ("--config none.toml", "none.toml: there is no such file."),
        ("--config .", ".: this is a directory, not a file."),
        ("-c -r abc", "--continue and --resume both name a thread; give one of them."),
        ("--fork", "--fork copies a thread; say which, with --resume ID or --continue."),
        ("--demo -c", "--demo begins a thread of its own; leave out --resume and --continue."),
        ("-p hi --resume", "-p cannot let you choose a thread; name it: --resume ID."),
        ("--output-format json", "--output-format goes with -p."),
        ("--require-done", "--require-done goes with -p."),
        ("--output-format xml -p x", "argument --output-format: invalid choice: 'xml'"),
        ("--cwd none", "none is no directory. Choose another one."),
        ("--demo -p x --add-dir none", "none is no directory."),
        ("--demo threads", "Of these options only --config, --set and --debug go with"),
        ("threads nothing", "argument action: invalid choice: 'nothing'"),
        ("threads show", "the following arguments are required: ID"),
        ("threads show zzz", "There is no thread"),
        ("threads rm ../..", "is no thread id"),
        ("plan zzz", "There is no thread"),
        ("config get nothing", "config get: there is no setting nothing."),
        ("config set ui.mouse=x", "config set: ui.mouse must be true or false, not 'x'."),
        ("-p hi", NO_KEY),
        ("-p", NO_KEY),
        ("", 'Standard input is not a terminal. For scripts use: todo-agent -p "your prompt"'),
        ("hello", "Standard input is not a terminal."),
    ],
)
def test_what_cannot_be_done_is_said_on_one_line_with_exit_code_2(
    program: Program, arguments: str, message: str
):
    outcome = program(*arguments.split())
    assert (outcome.code, outcome.out) == (2, "" if "json" not in arguments else outcome.out)
    assert outcome.err.startswith("todo-agent: ")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        "-p hi --output-format json",
        "-p hi --output-format=json --bogus",
        "-p hi --output-format json --config none.toml",
        "-p hi --output-format json --demo --resume",
    ],
)
def test_an_error_is_one_object_too_where_json_is_asked_for(program: Program, arguments: str):
    outcome = program(*arguments.split())
    assert (outcome.code, outcome.report["status"]) == (2, "usage")
    assert outcome.err == f"todo-agent: {outcome.report['error']}\n"


def test_the_word_json_in_a_prompt_asks_for_no_json(program: Program):
    assert program("-p", "json").out == ""


def test_a_closed_or_piped_terminal_is_named():
    closed = start("hi", stdin=None, preexec_fn=lambda: os.close(0))
    assert "Standard input is not a terminal" in finish(closed).err
    command = f"{sys.executable} -m todo_agent --demo | cat"
    said, _ = pexpect.run(f"/bin/sh -c '{command}'", withexitstatus=True, encoding="utf-8")
    assert "Standard output is not a terminal" in said


def test_a_key_is_never_repeated(program: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret\x01ü")
    outcomes = [program("-p", "hi"), program("doctor"), program("config", "show")]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    outcomes += [program("doctor"), program("config", "show"), program("config", "get", "api_key")]
    assert [outcome.code for outcome in outcomes] == [2, 1, 2, 0, 0, 0]
    assert "sk-ant" not in "".join(outcome.out + outcome.err for outcome in outcomes)


def test_a_directory_that_is_gone_is_an_error_of_one_line(program: Program, here: Path):
    gone = here / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    outcome = program("--demo", "-p", "x")
    os.chdir(here)
    message = "todo-agent: The current directory is gone. Choose another one.\n"
    assert outcome == Outcome(2, "", message)


def test_an_error_of_our_own_is_one_line_and_a_private_log(
    program: Program, monkeypatch: pytest.MonkeyPatch, data_dir: Path
):
    def breaks(*args: object, **more: object) -> int:
        raise RuntimeError("it broke")

    monkeypatch.setattr(commands, "run", breaks)
    log = data_dir / "state" / "todo-agent.log"
    assert program("doctor") == Outcome(
        1,
        "",
        f"todo-agent: Stopped because of an error of its own: RuntimeError: it broke "
        f"(details: {log})\n",
    )
    assert "Traceback" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


# Words and options.


def test_a_first_word_that_names_a_command_is_the_command(program: Program):
    assert program("--set", "model=m", "config", "get", "model") == Outcome(0, '"m"\n', "")
    assert "Standard input" in program("--", "config").err
    assert "Standard input" in program("configure").err


def test_an_option_may_follow_the_prompt(program: Program):
    assert program("hi", "--demo", "-p").code == 4


def test_help_names_every_option_and_command(program: Program):
    outcome = program("--help")
    words = ("--continue", "--resume", "--print", "--output-format", "--require-done", "--model",
             "--base-url", "--permission-mode", "--discipline", "--max-turns", "--max-cost",
             "--cwd", "--add-dir", "--debug", "--config", "--set", "--demo", "--version", "--fork",
             "threads", "plan", "doctor")  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    assert [word for word in words if word not in outcome.out] == []


# The commands.


def test_threads_are_listed_shown_exported_renamed_and_removed(program: Program, thread: str):
    assert "6/6  go" in program("threads").out
    assert program("threads", "rename", thread[:9], "A better\x1b[31m title") == Outcome(0, "", "")
    assert "A better" in program("threads", "list").out
    assert "\x1b" not in program("threads", "list").out
    assert "- [x] Fix it" in program("threads", "show", thread).out
    exported = json.loads(program("threads", "export", thread, "--format", "json").out)
    assert (exported["id"], len(exported["plan"])) == (thread, 6)
    assert program("threads", "rm", thread) == Outcome(0, "", "")
    assert program("threads") == Outcome(0, "", "")


def test_threads_are_found_by_their_title_their_plan_and_what_was_said(
    program: Program, thread: str
):
    for words in ("GO", "fix it", "Fix", thread, "mended go"):
        found = thread in program("threads", "list", "--search", words).out
        assert found is (words != "mended go"), words
    said = json.loads(program("threads", "export", thread, "--format", "json").out)["messages"]
    answer = said[-1]["content"][0]["text"]
    assert thread in program("threads", "list", "--search", answer.upper()[:30]).out
    assert program("threads", "list", "--search", "role assistant") == Outcome(0, "", "")


def test_an_export_goes_into_a_new_private_file_and_never_over_another(
    program: Program, thread: str, here: Path
):
    page = here / "thread.html"
    write = ("threads", "export", thread, "--format", "html", "-o", str(page))
    assert program(*write) == Outcome(0, "", "")
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    page.write_text("mine")
    refused = f"todo-agent: {page} exists already; it stays as it is.\n"
    assert program(*write) == Outcome(2, "", refused)
    assert page.read_text() == "mine"
    nowhere = here / "no" / "such"
    outcome = program("threads", "export", thread, "-o", str(nowhere))
    assert outcome.err == f"todo-agent: {nowhere} cannot be written: No such file or directory.\n"


def test_a_plan_is_printed_as_markdown_and_as_json(program: Program, thread: str):
    markdown = program("plan", thread[:9]).out
    assert markdown.count("- [x] ") == 6
    todos = json.loads(program("plan", thread, "--format", "json").out)["todos"]
    assert {todo["status"] for todo in todos} == {"done"}


def test_a_thread_without_a_plan_says_so():
    assert commands.as_markdown(Plan()) == "There is no plan.\n"


def test_the_configuration_is_begun_changed_and_read(program: Program, data_dir: Path):
    file = data_dir / "config" / "config.toml"
    assert program("config", "path") == Outcome(0, f"{file}\n", "")
    assert program("config", "init") == Outcome(0, f"Written: {file}\n", "")
    assert program("config", "init").code == 2
    assert program("config", "set", "ui.plan_width=50") == Outcome(0, "", "")
    assert program("config", "get", "ui.plan_width") == Outcome(0, "50\n", "")
    assert "ui.plan_width = 50\n" in program("config").out
    assert "# mouse = true" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_another_configuration_file_serves_every_command(program: Program, here: Path):
    file = here / "other.toml"
    file.write_text('model = "m"\n')
    assert program("--config", str(file), "config", "get", "model").out == '"m"\n'
    assert f"ok      config      {file}\n" in program("--config", str(file), "doctor").out


# The doctor.


def test_the_doctor_says_what_is_there_and_what_is_missing(
    program: Program, monkeypatch: pytest.MonkeyPatch, data_dir: Path
):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("TERM", "dumb")
    outcome = program("doctor")
    assert outcome.code == 0
    rows = {line.split()[1]: line.split()[0] for line in outcome.out.splitlines()}
    assert rows == {
        "python": "ok",
        "encoding": "ok",
        "terminal": "absent",
        "config": "ok",
        "key": "absent",
        "threads": "ok",
        "state": "ok",
        "log": "ok",
        "git": "absent",
        "rg": "absent",
        "bwrap": "absent",
    }


def test_the_doctor_reports_a_wrong_file_and_one_that_others_can_read(
    program: Program, data_dir: Path
):
    file = data_dir / "config" / "config.toml"
    file.parent.mkdir()
    file.write_text('api_key = "sk-ant-secret"\n')
    file.chmod(0o644)
    outcome = program("doctor")
    assert outcome.code == 1
    assert f"others on this machine can read the key in it: chmod 600 {file}" in outcome.out
    file.write_text("model = ")
    assert f"MISSING config      {file}:1:9: Invalid value." in program("doctor").out


def test_the_doctor_reports_a_place_that_cannot_hold_anything(
    program: Program, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TODO_AGENT_HOME", "/dev/null/x")
    outcome = program("doctor")
    assert outcome.code == 1
    assert "MISSING threads     /dev/null/x/data/threads cannot be written" in outcome.out


# Streams.


def test_a_reader_that_leaves_early_is_no_traceback():
    process = start("config", "show")
    process.stdout.close()  # type: ignore[union-attr]
    process.stdout = None
    assert finish(process).err == ""


def test_a_full_disk_behind_standard_output_is_an_error_of_one_line():
    with Path("/dev/full").open("w") as full:
        process = start("config", "show", stdout=full)
        assert finish(process) == Outcome(
            1, "", "todo-agent: standard output: No space left on device.\n"
        )


def test_any_text_can_be_written_in_any_locale(program: Program, thread: str):
    program("threads", "rename", thread, "grün ✓")
    outcome = finish(start("threads", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}))
    assert (outcome.code, outcome.err) == (0, "")
    assert "gr\\xfcn \\u2713" in outcome.out


# A project's configuration.

RESTRICTING = 'permissions.mode = "plan"\nbase_url = "http://127.0.0.1:9/"\n'


def project(directory: Path) -> Path:
    file = directory / ".todo-agent" / "config.toml"
    file.parent.mkdir()
    file.write_text(RESTRICTING)
    return file


def test_in_print_mode_a_project_that_is_not_trusted_is_left_out_with_a_notice(
    program: Program, here: Path
):
    file = project(here)
    outcome = program("--demo", "-p", "go", "--permission-mode", "auto")
    assert outcome.code == 0
    assert f"todo-agent: {file} is not trusted and was left out.\n" in outcome.err


def test_on_a_terminal_a_project_is_shown_and_asked_about_once(here: Path, data_dir: Path):
    file = project(here)
    env = {"TODO_AGENT_HOME": str(data_dir)}
    with Terminal("--demo", cwd=here, env=env) as terminal:
        terminal.wait_for("Use it? [y/N]")
        assert 'permissions.mode = "plan"' in terminal.screen
        terminal.send("y\r")
        terminal.wait_for("scripted")
    assert str(file) in (data_dir / "state" / "trust.json").read_text()
    with Terminal("--demo", cwd=here, env=env) as terminal:
        terminal.wait_for("scripted")
        assert b"Use it?" not in terminal.output


# A machine without a key.


def test_without_a_key_the_screen_offers_ways_and_the_demo_is_one_key_away(
    here: Path, data_dir: Path
):
    with Terminal(cwd=here, env={"TODO_AGENT_HOME": str(data_dir)}) as terminal:
        terminal.wait_for("How do you want to begin?")
        terminal.send("1")
        terminal.wait_for("Allow shell?")
        assert "todo-agent-demo" in terminal.screen


def test_without_a_key_a_prompt_waits_and_is_not_answered_by_the_demo(here: Path, data_dir: Path):
    with Terminal("fix it", cwd=here, env={"TODO_AGENT_HOME": str(data_dir)}) as terminal:
        terminal.wait_for("How do you want to begin?")
        terminal.send("\x1b")
        terminal.wait_for(lambda screen: "fix it" in screen and "begin?" not in screen)
        terminal.send("\r")
        terminal.wait_for("There is no API key.")


def test_a_key_that_is_entered_is_stored_and_used_at_once(here: Path, data_dir: Path):
    with Terminal("fix it", cwd=here, env={"TODO_AGENT_HOME": str(data_dir)}) as terminal:
        terminal.wait_for("How do you want to begin?")
        terminal.send("2")
        terminal.wait_for("api_key")
        terminal.send("sk-secret-key\r")
        terminal.wait_for("Connected.")
        assert "fix it" in terminal.screen
        assert b"sk-secret-key" not in terminal.output
    file = data_dir / "config" / "config.toml"
    assert file.read_text() == 'api_key = "sk-secret-key"\n'
    assert file.stat().st_mode & 0o077 == 0
