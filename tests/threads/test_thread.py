from __future__ import annotations

from pathlib import Path

import pytest

from tests.threads.support import PLAN, STORY, content, full_disk, look, plan, record
from todo_agent.agent.conversation import Commit
from todo_agent.agent.messages import Text, assistant, user
from todo_agent.threads.store import NotSavedError, Thread, ThreadStore
from todo_agent.threads.titles import clean_title, title_of


def test_a_thread_in_memory_works_and_says_why_it_is_not_saved() -> None:
    thread = Thread.in_memory(Path("/project"), model="m", reason="the disk is read-only.")
    record(thread)
    thread.rename("Another title")
    thread.close()
    assert thread.notices == ("This conversation is not saved: the disk is read-only.",)
    assert (thread.title, thread.read_only, len(thread.conversation.messages)) == (
        "Another title",
        False,
        4,
    )
    assert thread.unsaved_reason == "the disk is read-only."


def test_a_full_disk_refuses_a_commit_and_takes_it_later(store: ThreadStore) -> None:
    thread = record(store.create(Path("/project")), STORY[:4])
    before = content(thread)
    big = Commit((user("x" * 5000),), PLAN.set(plan(("big", "pending"))))
    with full_disk(4000), pytest.raises(NotSavedError, match="File too large"):
        record(thread, [big])
    assert content(thread) == before
    assert content(look(store, thread.id)) == before
    record(thread, [big])
    thread.close()
    assert content(look(store, thread.id)) == content(thread)


def test_the_first_commit_can_be_tried_again(store: ThreadStore, root: Path) -> None:
    thread = store.create(Path("/project"))
    root.parent.parent.mkdir(exist_ok=True)
    root.parent.write_text("in the way")
    with pytest.raises(NotSavedError, match="cannot write"):
        record(thread, STORY[:1])
    root.parent.unlink()
    record(thread, STORY[:1])
    thread.close()
    assert len(look(store, thread.id).conversation.messages) == 1


def test_a_new_title_that_is_refused_is_written_with_the_next_commit(store: ThreadStore) -> None:
    thread = record(store.create(Path("/project")))
    with full_disk(1):
        with pytest.raises(NotSavedError):
            thread.rename("Another title")
        thread.set_mode("plan")
    record(thread, [Commit((user("more"),))])
    assert (look(store, thread.id).title, look(store, thread.id).mode) == ("Another title", "plan")
    thread.close()


def test_a_thread_that_never_reached_the_disk_leaves_nothing(
    store: ThreadStore, root: Path
) -> None:
    thread = store.create(Path("/project"))
    with full_disk(0), pytest.raises(NotSavedError):
        record(thread, STORY[:1])
    thread.close()
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n \n  Fix\tthe   parser\nsoon", "Fix the parser"),
        ("\x1b[31mred\x1b[0m\x07 \u202eevil", "red evil"),
        ("x" * 200, "x" * 79 + "…"),
        ("日" * 60, "日" * 39 + "…"),
        ("👩‍👩‍👧 family", "👩‍👩‍👧 family"),
        ("[b]markup[/b]", "[b]markup[/b]"),
        ("\x00\n\u2028", ""),
        ("caf\udce9", "caf"),
    ],
)
def test_a_title_is_one_line_that_is_safe_to_show(text: str, title: str) -> None:
    assert clean_title(text) == title
    assert clean_title(title) == title


def test_a_title_comes_from_the_first_thing_a_person_wrote() -> None:
    messages = (
        user("a reminder", synthetic=True),
        assistant(Text("hello")),
        user(" \n"),
        user("the request"),
    )
    assert title_of(messages) == "the request"


def test_the_summary_is_written_when_the_state_changes_and_when_a_turn_ends(
    store: ThreadStore,
) -> None:
    thread = store.create(Path("/project"))
    seen = []
    for commit in STORY:
        record(thread, [commit])
        seen.append((store.list()[0].messages, len(thread.conversation.messages)))
    thread.close()
    assert seen == [(1, 1), (1, 2), (1, 3), (3, 3), (4, 4), (4, 4)]


def test_a_closed_thread_takes_no_commit(store: ThreadStore) -> None:
    thread = record(store.create(Path("/project")))
    thread.close()
    thread.close()
    with pytest.raises(NotSavedError, match=f"thread {thread.id} is closed"):
        record(thread, STORY[:1])
    thread.set_mode("plan")
    assert look(store, thread.id).mode == "ask"
