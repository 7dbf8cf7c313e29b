"""Going back on real threads and real files: the branch can be sent, the old thread is whole."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.wire.replies import Reply, answer, text, tool_use
from tests.wire.server import WireServer
from todo_agent.agent.modes import Mode
from todo_agent.assemble import Place, Workshop
from todo_agent.errors import TodoAgentError
from todo_agent.paths import Paths
from todo_agent.plan.plan import Status
from todo_agent.session import Session
from todo_agent.settings import Config

MARKS = {"x": "done", ">": "in_progress", ".": "pending"}


def todos(*rows: str) -> Reply:
    items = [{"content": row[2:], "status": MARKS[row[0]]} for row in rows]
    return tool_use(
        f"plan-{len(rows)}-{rows[0][2:]}-{MARKS[rows[0][0]]}", "write_todos", {"todos": items}
    )


def write(name: str, content: str) -> Any:
    return tool_use(f"w-{name}-{content}", "write", {"path": f"{name}.txt", "content": content})


TURNS = [
    [answer(todos("> one", ". two"), write("a", "A1")), answer(text("begun"))],
    [
        answer(todos("x one", "> two"), write("a", "A2"), write("b", "B2")),
        answer(text("more")),
    ],
    [answer(write("b", "B3")), answer(text("last"))],
]
WORDS = ["begin", "go on", "finish"]


@dataclass
class Story:
    """A thread of three turns that changed two files."""

    server: WireServer
    workshop: Workshop
    session: Session
    here: Path
    threads: Path

    def files(self) -> dict[str, str]:
        return {path.stem: path.read_text() for path in sorted(self.here.glob("*.txt"))}

    def journal(self, session: Session) -> bytes:
        return (self.threads / session.id / "messages.jsonl").read_bytes()

    async def say(self, words: str, replies: list[Reply], session: Session | None = None) -> None:
        self.server.replies = [*self.server.replies, *replies]
        speaker = session or self.session
        speaker.send(words)
        await speaker.finished()


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[Story]:
    here = tmp_path / "here"
    here.mkdir()
    paths = Paths(tmp_path / "config", tmp_path / "data", tmp_path / "state")
    place = Place(cwd=here, environ={"PATH": os.environ["PATH"]})
    with WireServer([]) as server:
        config = Config(
            api_key="sk-ant-test", base_url=server.url, mode=Mode.AUTO,
            discipline="free", sandbox="off",
        )  # fmt: skip
        workshop = Workshop(config, paths, place)
        session = await workshop.open(None)
        told = Story(server, workshop, session, here, paths.threads_dir)
        for words, replies in zip(WORDS, TURNS, strict=True):
            await told.say(words, replies)
        assert told.files() == {"a": "A2", "b": "B3"}
        yield told
        await session.close()
    assert server.violations == []


async def test_the_turns_say_what_they_changed(story: Story):
    first, second, third = await story.session.turns()
    assert [turn.moment.text for turn in (first, second, third)] == WORDS
    assert [[path.name for path in t.files] for t in (first, second, third)] == [
        ["a.txt"], ["a.txt", "b.txt"], ["b.txt"],
    ]  # fmt: skip
    assert (len(first.before), len(second.before)) == (0, 2)
    assert [todo.status for todo in third.before] == [Status.DONE, Status.ACTIVE]
    assert third.after == third.before


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_a_branch_is_the_thread_before_a_message_and_goes_on(story: Story, number: int):
    turn = (await story.session.turns())[number]
    before = story.journal(story.session)
    branch = await story.workshop.branch(story.session.id, turn.moment)
    assert branch.messages == story.session.messages[: turn.moment.index]
    assert branch.plan == turn.before
    await story.say("another way", [answer(write("c", "C")), answer(text("so"))], branch)
    assert branch.messages[-1].text == "so"
    assert story.journal(story.session) == before
    assert [turn.moment.text for turn in await branch.turns()] == [*WORDS[:number], "another way"]
    found = {info.id: info.title for info in story.workshop.threads()}
    assert set(found) == {story.session.id, branch.id}
    assert found[branch.id] == ("another way" if number == 0 else "begin")
    await branch.close()


@pytest.mark.parametrize(
    ("number", "files"),
    [(0, {}), (1, {"a": "A1"}), (2, {"a": "A2", "b": "B2"})],
)
async def test_files_go_back_to_what_they_were_before_a_message(
    story: Story, number: int, files: dict[str, str]
):
    turn = (await story.session.turns())[number]
    preview = await story.session.preview(turn)
    assert preview.messages == len(story.session.messages) - turn.moment.index
    shown = {Path(file.path).stem for file in preview.files}
    undone = await story.session.rewind_files(turn, tell=True)
    assert {path.stem for path in undone.restored} == shown
    assert story.files() == files
    await story.say("what now", [answer(text("I see"))])
    assert "I undid your last changes to" in str(story.server.requests[-1])


async def test_what_somebody_else_changed_stays_before_between_and_after(story: Story):
    turn = (await story.session.turns())[0]
    (story.here / "b.txt").write_text("mine")
    preview = await story.session.preview(turn)
    assert [path.name for path in preview.conflicts] == ["b.txt"]
    await story.session.rewind_files(turn, tell=False)
    assert story.files() == {"b": "mine"}


async def test_a_persons_change_between_two_of_the_agents_is_not_lost(story: Story):
    (story.here / "a.txt").write_text("mine")
    read = tool_use("r", "read", {"path": "a.txt"})
    await story.say("again", [answer(read), answer(write("a", "A4")), answer(text("ok"))])
    assert story.files()["a"] == "A4"
    *_, last = await story.session.turns()
    first = (await story.session.turns())[0]
    assert [p.name for p in (await story.session.preview(first)).conflicts] == ["a.txt"]
    await story.session.rewind_files(last, tell=False)
    assert story.files()["a"] == "mine"


async def test_a_branch_can_take_back_what_came_before_it(story: Story):
    second = (await story.session.turns())[1]
    third = (await story.session.turns())[2]
    branch = await story.workshop.branch(story.session.id, third.moment)
    await story.session.rewind_files(third, tell=False)
    await branch.rewind_files(second, tell=False)
    assert story.files() == {"a": "A1"}
    await branch.close()


async def test_a_copy_undoes_what_the_thread_did(story: Story):
    copy = await story.workshop.fork(story.session.id)
    undone = await copy.undo_files()
    assert undone is not None
    assert story.files() == {"a": "A2", "b": "B2"}
    await copy.close()


async def test_a_branch_that_cannot_be_stored_leaves_nothing(
    story: Story, monkeypatch: pytest.MonkeyPatch
):
    third = (await story.session.turns())[2]
    kept = story.threads / story.session.id / "files" / "contents"
    for path in kept.iterdir():
        path.unlink()
    before = story.journal(story.session)
    with pytest.raises(TodoAgentError, match="What was kept for undo is gone"):
        await story.workshop.branch(story.session.id, third.moment)
    assert [info.id for info in story.workshop.threads()] == [story.session.id]
    assert story.journal(story.session) == before


async def test_a_thread_that_is_only_read_does_not_go_back(story: Story):
    reader = await story.workshop.read(story.session.id)
    with pytest.raises(TodoAgentError, match="open for writing"):
        await reader.turns()
    await reader.close()
