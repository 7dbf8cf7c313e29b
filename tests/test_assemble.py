"""How a session is put together from the configuration and the machine."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from todo_agent.agent.conversation import Commit
from todo_agent.agent.messages import user
from todo_agent.assemble import Place, Workshop
from todo_agent.errors import ConfigError
from todo_agent.paths import Paths
from todo_agent.plan.keys import PLAN
from todo_agent.plan.plan import Plan, Status, Todo
from todo_agent.settings import Config


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "config", tmp_path / "data", tmp_path / "state")


def place(cwd: Path, **environ: str) -> Place:
    return Place(cwd=cwd, environ={"PATH": os.environ["PATH"], **environ}, demo=False)


async def test_a_machine_without_a_sandbox_says_so_once(tmp_path: Path, paths: Paths):
    here = place(tmp_path, PATH=str(tmp_path))
    first = await Workshop(Config(), paths, here).open(None)
    second = await Workshop(Config(), paths, here).open(None)
    assert first.notices == (
        "Commands run without a sandbox: bubblewrap (bwrap) is not installed.",
    )
    assert second.notices == ()


def test_a_required_sandbox_that_is_missing_is_a_configuration_error(tmp_path: Path, paths: Paths):
    with pytest.raises(ConfigError, match=r"sandbox\.mode is require, but bubblewrap"):
        Workshop(Config(sandbox="require"), paths, place(tmp_path, PATH=str(tmp_path)))


async def test_a_thread_works_where_it_was_begun(tmp_path: Path, paths: Paths):
    begun, elsewhere = tmp_path / "a", tmp_path / "b"
    begun.mkdir()
    elsewhere.mkdir()
    session = await Workshop(Config(), paths, place(begun)).open(None)
    await session._conversation.commit(Commit((user("hi"),)))
    await session.close()
    again = await Workshop(Config(), paths, place(elsewhere)).open(session.id)
    assert again.cwd == begun
    await again.close()
    begun.rmdir()
    moved = await Workshop(Config(), paths, place(elsewhere)).open(session.id)
    assert moved.cwd == elsewhere
    assert f"{begun} is gone; the tools work in {elsewhere} now." in moved.notices
    await moved.close()


async def test_without_a_place_to_store_threads_the_session_lives_in_memory(
    tmp_path: Path, paths: Paths
):
    blocked = tmp_path / "data"
    blocked.write_text("a file where the directory should be")
    session = await Workshop(Config(), paths, place(tmp_path)).open(None)
    assert session.unsaved_reason
    await session.close()


@pytest.mark.parametrize("first", ["free", "guarded", "sequential"])
@pytest.mark.parametrize("then", ["free", "guarded", "sequential"])
async def test_the_plan_goes_on_under_another_discipline(
    tmp_path: Path, paths: Paths, first: str, then: str
):
    config = Config(discipline=first)
    session = await Workshop(config, paths, place(tmp_path)).open(None)
    wanted = Plan((Todo("a", Status.DONE), Todo("b", Status.ACTIVE), Todo("c")))
    await session._conversation.commit(Commit((user("hi"),)))
    assert await session.edit_plan(wanted) is None
    await session.close()
    again = await Workshop(replace(config, discipline=then), paths, place(tmp_path)).open(
        session.id
    )
    assert again.discipline == then
    rows = [(todo.content, todo.status) for todo in again.plan]
    assert rows == [("a", Status.DONE), ("b", Status.ACTIVE), ("c", Status.PENDING)]
    assert {todo.id is not None for todo in again._conversation.state[PLAN]} == {then == "free"}
    await again.close()
