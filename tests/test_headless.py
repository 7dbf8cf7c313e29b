from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.terminal import Terminal
from tests.program import Outcome, Program, finish, start
from tests.wire.replies import Reply, answer, status, text, tool_use
from tests.wire.server import WireServer
from todo_agent import standard_input

PLAN = {"todos": [{"content": "Look", "status": "done"}, {"content": "Fix", "status": "pending"}]}
DENIED = "Denied, because nobody can approve it in print mode: shell rm -r /tmp/x"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WireServer]:
    monkeypatch.chdir(tmp_path)
    with WireServer() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
        yield server
    assert server.violations == []


def test_the_answer_alone_is_on_standard_output(server: WireServer, program: Program):
    server.replies = [answer(text("It is \x1b[31mred\x1b[0m,\n\x1b]2;owned\x07**really**."))]
    assert program("-p", "why?") == Outcome(0, "It is red,\n**really**.\n", "")


def test_the_report_says_everything_about_the_run(server: WireServer, program: Program):
    server.replies = [answer(tool_use("c1", "write_todos", PLAN)), answer(text("Done."))]

    outcome = program("-p", "go", "--output-format", "json", "--discipline", "free")

    report = outcome.report
    thread_id = report.pop("thread_id")
    todos = report.pop("plan")["todos"]
    assert report == {
        "schema_version": 1,
        "status": "answered",
        "answer": "Done.",
        "usage": {
            "input_tokens": 20,
            "output_tokens": 10,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
        },
        "cost_usd": report["cost_usd"],
        "turns": 2,
        "error": None,
    }
    assert report["cost_usd"] > 0
    assert [(todo["content"], todo["status"]) for todo in todos] == [
        ("Look", "done"),
        ("Fix", "pending"),
    ]
    assert thread_id in program("threads").out
    assert (outcome.code, outcome.err) == (0, "")


LOOK = tool_use("c1", "glob", {"pattern": "*"})
REMOVE = tool_use("c1", "shell", {"command": "rm -r /tmp/x"})


@pytest.mark.parametrize(
    ("replies", "options", "code", "state"),
    [
        ([status(401, "invalid x-api-key", kind="authentication_error")], "", 1, "failed"),
        ([status(400, "bad", kind="invalid_request_error")], "", 1, "failed"),
        (
            [status(429, kind="rate_limit_error", headers={"retry-after": "900"})],
            "",
            1,
            "failed",
        ),
        ([answer(text("half"), stop="max_tokens")], "", 3, "limit"),
        ([answer(text("half"), stop="model_context_window_exceeded")] * 6, "", 3, "limit"),
        ([answer(LOOK), answer(LOOK)], "--max-turns 1", 3, "limit"),
        ([answer(REMOVE), answer(text("I could not."))], "", 4, "needs_approval"),
        ([answer(text("no"), stop="refusal")], "", 5, "declined"),
        (
            [answer(tool_use("c1", "write_todos", PLAN)), answer(text("ok"))],
            "--require-done --discipline free",
            6,
            "not_done",
        ),
        ([answer(text("no plan, nothing open"))], "--require-done", 0, "answered"),
    ],
)
def test_every_end_has_its_exit_code_and_one_object(
    server: WireServer,
    program: Program,
    replies: list[Reply],
    options: str,
    code: int,
    state: str,
):
    server.replies = replies.copy()
    as_json = program("-p", "go", "--output-format", "json", *options.split())
    assert (as_json.code, as_json.report["status"]) == (code, state)
    assert (as_json.report["error"] is None) == (code == 0)

    server.replies = replies.copy()
    as_text = program("-p", "go", *options.split())
    assert as_text.code == code
    assert as_text.out.rstrip("\n") == as_json.report["answer"]
    assert as_text.err.count("\n") == (code != 0)
    assert "secret" not in as_json.out + as_text.out + as_json.err + as_text.err


def test_a_call_nobody_can_approve_is_denied_and_the_model_is_told(
    server: WireServer, program: Program
):
    server.replies = [answer(REMOVE), answer(text("I could not."))]
    outcome = program("-p", "go")
    assert outcome == Outcome(4, "I could not.\n", f"todo-agent: {DENIED}\n")
    result = server.requests[1]["messages"][-1]["content"][0]
    assert result["is_error"] is True
    assert result["content"][0]["text"].startswith("Denied")


def test_a_question_that_nobody_can_answer_is_an_error_of_its_call(
    server: WireServer, program: Program
):
    asks = tool_use("t1", "ask_user", {"question": "Tabs or spaces?"})
    server.replies = [answer(asks), answer(text("I took spaces."))]
    assert program("-p", "go") == Outcome(0, "I took spaces.\n", "")
    result = server.requests[1]["messages"][-1]["content"][0]
    assert result["is_error"] is True
    assert result["content"][0]["text"].startswith("Nobody can answer here")


def test_a_failed_run_says_more_than_a_denied_call(server: WireServer, program: Program):
    server.replies = [answer(REMOVE), status(400, "bad", kind="invalid_request_error")]
    assert program("-p", "go").code == 1


def test_every_event_is_a_line_and_the_report_the_last(server: WireServer, program: Program):
    server.replies = [answer(text("Hi\u2028there."))]
    lines = program("-p", "go", "--output-format", "stream-json").out.splitlines()
    events = [json.loads(line) for line in lines]
    kinds = [event["type"] for event in events]
    assert kinds[-2:] == ["run_finished", "report"]
    assert {"run_started", "text_delta", "message_added"} < set(kinds)
    assert events[-1]["status"] == "answered"
    assert [event["seq"] for event in events[:-1]] == sorted(e["seq"] for e in events[:-1])


# Threads.


def texts_sent(server: WireServer) -> list[str]:
    messages = server.requests[-1]["messages"]
    blocks: list[dict[str, Any]] = [block for message in messages for block in message["content"]]
    return [block["text"] for block in blocks if block["type"] == "text"]


def test_a_thread_goes_on_by_prefix_by_directory_and_as_a_copy(
    server: WireServer, program: Program, tmp_path: Path
):
    server.replies = [answer(text(f"answer {number}")) for number in range(1, 5)]
    thread = program("-p", "one", "--output-format", "json").report["thread_id"]
    resumed = program("-p", "two", "--resume", thread[:-1], "--output-format", "json").report
    continued = program("-p", "three", "--continue", "--output-format", "json").report
    forked = program("-p", "four", "--resume", thread, "--fork", "--output-format", "json").report

    assert resumed["thread_id"] == continued["thread_id"] == thread != forked["thread_id"]
    assert resumed["usage"] == continued["usage"]
    sent = " ".join(texts_sent(server))
    assert [word in sent for word in ("one", "answer 1", "two", "three", "answer 3", "four")] == [
        True
    ] * 6

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    outcome = program("-p", "five", "--continue", "--cwd", str(elsewhere))
    assert outcome == Outcome(
        2, "", f"todo-agent: There is no thread of {elsewhere.resolve()} yet.\n"
    )


@pytest.mark.parametrize("wanted", ["zzz", "", "  ", "../../etc", "ü"])
def test_an_unknown_thread_is_an_error_and_never_a_new_one(
    server: WireServer, program: Program, wanted: str
):
    outcome = program("-p", "go", "--resume", wanted, "--output-format", "json")
    assert (outcome.code, outcome.report["status"]) == (2, "usage")
    assert server.requests == []
    assert program("threads").out == ""


def test_a_prefix_of_several_threads_names_them(server: WireServer, program: Program):
    server.replies = [answer(text("a")), answer(text("b"))]
    ids = [program("-p", "x", "--output-format", "json").report["thread_id"] for _ in range(2)]
    shared = next(ids[0][:n] for n in range(9, 0, -1) if ids[1].startswith(ids[0][:n]))
    outcome = program("-p", "go", "--resume", shared)
    assert outcome.code == 2
    assert all(thread in outcome.err for thread in ids)


def test_a_run_that_cannot_be_saved_fails_and_promises_no_thread(
    server: WireServer, program: Program, data_dir: Path
):
    def breaks_the_disk(request: dict[str, Any]) -> Reply:
        threads = data_dir / "data" / "threads"
        shutil.rmtree(threads)
        threads.write_text("in the way")
        return answer(text("Done."))

    server.replies = [breaks_the_disk]
    outcome = program("-p", "go", "--output-format", "json")
    report = outcome.report
    assert (outcome.code, report["status"]) == (1, "failed")
    assert (report["answer"], report["thread_id"]) == ("Done.", "")
    assert report["error"].startswith("The thread is not saved: ")


def test_where_nothing_can_be_stored_the_run_works_and_fails(
    server: WireServer, program: Program, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TODO_AGENT_HOME", "/dev/null/x")
    server.replies = [answer(text("Done."))]
    outcome = program("-p", "go", "--output-format", "json")
    report = outcome.report
    assert (outcome.code, report["answer"], report["thread_id"]) == (1, "Done.", "")
    assert "/dev/null is no directory" in report["error"]


# Standard input.


def pipe(content: str | None) -> tuple[Any, Callable[[], None]]:
    """Return the reading end, and what closes the writing end of a pipe that stays open."""
    reading, writing = os.pipe()
    if content is not None:
        os.write(writing, content.encode())
        os.close(writing)
    return os.fdopen(reading, encoding="utf-8"), lambda: os.close(writing)


def test_what_is_piped_in_follows_the_prompt(server: WireServer, program: Program):
    server.replies = [answer(text("ok"))] * 2
    assert program("-p", "review this", stdin=pipe("the diff\n")[0]).code == 0
    assert "review this\n\nthe diff\n" in texts_sent(server)
    assert program("-p", stdin=pipe("only this")[0]).code == 0
    assert "only this" in texts_sent(server)


def test_a_silent_pipe_does_not_hold_up_a_prompt(server: WireServer, program: Program):
    server.replies = [answer(text("ok"))]
    source, close = pipe(None)
    outcome = program("-p", "hi", stdin=source)
    close()
    assert outcome == Outcome(
        0, "ok\n", "todo-agent: standard input is open but silent; going on without.\n"
    )


@pytest.mark.parametrize("content", ["", "  \n"])
def test_no_prompt_at_all_is_an_error(server: WireServer, program: Program, content: str):
    outcome = program("-p", "", stdin=pipe(content)[0])
    assert outcome.code == 2
    assert outcome.err.startswith("todo-agent: -p needs a prompt")


def test_an_endless_input_is_refused(
    server: WireServer, program: Program, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(standard_input, "MAX_BYTES", 10)
    outcome = program("-p", stdin=pipe("more than ten bytes")[0])
    assert outcome == Outcome(2, "", "todo-agent: Standard input is longer than 10 bytes.\n")


def test_a_closed_input_is_an_empty_one(server: WireServer):
    server.replies = [answer(text("ok"))]
    process = start("-p", "hi", stdin=None, preexec_fn=lambda: os.close(0))
    assert finish(process) == Outcome(0, "ok\n", "")


# Signals and terminals.


@pytest.mark.parametrize(
    ("number", "code", "state"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_ends_the_run_and_keeps_the_thread(
    server: WireServer, program: Program, number: int, code: int, state: str
):
    server.replies = [answer(text("It begins"), hang=True), answer(text("and goes on"))]
    process = start("-p", "go", "--output-format", "stream-json")
    lines = []
    while not lines or "text_delta" not in lines[-1]:
        lines.append(process.stdout.readline())  # type: ignore[union-attr]
    process.send_signal(number)
    outcome = finish(process)

    report = json.loads(outcome.out.splitlines()[-1])
    assert (outcome.code, report["status"]) == (code, state)
    assert program("-p", "again", "--resume", report["thread_id"]).out == "and goes on\n"


def test_on_a_terminal_the_answer_is_rendered_and_progress_is_shown(
    server: WireServer, tmp_path: Path, data_dir: Path
):
    server.replies = [answer(LOOK), answer(text("It is **bold**.\n\n- one\n- two"))]
    env = {name: value for name, value in os.environ.items() if name.startswith(("ANTH", "TODO"))}
    with Terminal("-p", "go", cwd=tmp_path, env=env) as terminal:
        assert terminal.wait_for_end() == 0
        assert terminal.lines[0] == "  glob *"
        assert "It is bold." in terminal.screen
        assert "**" not in terminal.screen
