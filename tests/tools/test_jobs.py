"""Commands in the background: neither in the way nor lost."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.support import Bench
from todo_agent.agent.tools import Resource
from todo_agent.tools import processes
from todo_agent.tools.jobs import Jobs


@pytest.fixture
async def jobs() -> AsyncIterator[Jobs]:
    jobs = Jobs()
    yield jobs
    await jobs.close()


@pytest.fixture
def bench(tmp_path: Path, jobs: Jobs) -> Bench:
    return Bench(tmp_path, jobs=jobs)


async def test_a_server_goes_on_and_tells_what_is_new(bench, jobs):
    os.mkfifo(bench.root / "gate")
    text = await bench.text("shell", command="echo up; cat gate", run_in_background=True)
    assert text == "up\n[job-1: running]"
    assert await bench.text("shell_output", job="job-1") == "[job-1: running]"
    (bench.root / "gate").write_text("served\n")
    assert await bench.text("shell_output", job="job-1", wait=60) == "served\n[job-1: exit code 0]"
    assert [(job.name, job.command, job.code) for job in jobs.all] == [
        ("job-1", "echo up; cat gate", 0)
    ]


async def test_an_early_end_shows_at_once(bench):
    text = await bench.text("shell", command="echo no; exit 3", run_in_background=True)
    assert text == "no\n[job-1: exit code 3]"


async def test_stopping_ends_all_of_it_and_gives_the_last_output(bench, jobs):
    command = "trap '' TERM; echo up; (sleep 300) & sleep 300 & wait"
    await bench.text("shell", command=command, run_in_background=True)
    pid = jobs["job-1"].pid
    assert await bench.text("shell_stop", job="job-1") == "[job-1: ended by signal 9]"
    assert processes.session(pid) == ()
    assert await bench.text("shell_stop", job="job-1") == "[job-1: ended by signal 9]"


async def test_closing_the_session_ends_them_all(bench, jobs):
    for _ in range(3):
        await bench.text("shell", command="sleep 300", run_in_background=True)
    await jobs.close()
    assert [job.code for job in jobs.all] == [-15, -15, -15]


async def test_an_unknown_job_names_those_there_are(bench):
    assert await bench.error("shell_output", job="job-9") == (
        "There is no background command 'job-9'. There are: none."
    )
    await bench.text("shell", command="sleep 300", run_in_background=True)
    assert await bench.error("shell_stop", job="x") == (
        "There is no background command 'x'. There are: job-1 (sleep 300)."
    )


async def test_looking_after_them_needs_no_permission_but_starting_does(bench):
    args = {"command": "sleep 1", "run_in_background": True}
    assert bench.tools["shell"].touches(args) == (Resource("run", "sleep 1"),)
    assert bench.tools["shell_output"].touches({"job": "job-1"}) == ()
    assert bench.tools["shell_stop"].touches({"job": "job-1"}) == ()


def test_without_a_place_for_them_the_model_hears_nothing_of_them(tmp_path):
    shell = Bench(tmp_path).tools["shell"]
    assert "run_in_background" not in str(shell.schema) + shell.description
