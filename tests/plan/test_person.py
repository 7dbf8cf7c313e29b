"""What a person does to a plan, what an interrupt leaves of it, and what the model is told."""

from __future__ import annotations

import asyncio

import pytest

from tests.agent.support import Story, call, calls, hanging, says
from tests.plan.support import (
    free,
    guarded,
    owner,
    plan,
    section,
    shown,
    texts,
    ticking,
    write,
    writes,
)
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.middleware import CallContext, CallTool, Middleware
from todo_agent.agent.outcomes import Answered, Failed, Interrupted
from todo_agent.agent.state import State
from todo_agent.agent.tools import Outcome, ToolCall
from todo_agent.plan.keeper import BUSY
from todo_agent.plan.keys import PLAN, PLAN_HISTORY, PLAN_MARKS, is_interrupted
from todo_agent.plan.middleware import TodoListMiddleware, TodoMiddleware
from todo_agent.plan.plan import Plan

STORIES = pytest.mark.parametrize(("told", "done"), [(free, "done"), (guarded, "completed")])


async def edit(told: Story, *todos: str) -> str | None:
    return await owner(told).user_edit(told.conversation, plan(*todos))


def reopened(told: Story) -> Conversation:
    """Return the thread as another process finds it."""
    old = told.conversation
    return Conversation(old.id, messages=old.messages, state=State(old.state.to_json()))


@STORIES
async def test_an_edit_is_committed_and_told_at_the_next_step(told, done):
    story = told([writes("x a", done=done), says("ok"), says("I see.")])
    await story.send("go")
    assert await edit(story, "x a", "> the docs too") is None
    assert shown(story) == ["x a", "> the docs too"]
    await story.send("go on")
    assert section(story, "plan-note", 2) == (
        'The person changed the plan: added "the docs too". Their version counts.'
    )
    assert '"the docs too"' in section(story, "todos", 2)


@STORIES
async def test_the_model_writes_on_from_the_edited_list(told, done):
    story = told(
        [writes("x a", done=done), says("ok"), writes("x a", "x b", done=done), says("ok")]
    )
    await story.send("go")
    await edit(story, "x a", "> b")
    await story.send("go on")
    assert shown(story) == ["x a", "x b"]
    assert section(story, "plan-note") == ""


async def test_an_edit_keeps_the_ids_of_a_free_plan():
    story = free([writes("a", "b", done="done"), says("ok")])
    await story.send("go")
    before = story.conversation.state[PLAN].todos
    await owner(story).user_edit(story.conversation, Plan((before[1], before[0])))
    assert story.conversation.state[PLAN].todos == (before[1], before[0])


async def test_several_edits_are_told_as_one_change_and_an_undone_one_not_at_all():
    story = free([writes("a", "b", done="done"), says("ok"), says("ok"), says("ok")])
    await story.send("go")
    await edit(story, "> a", "b")
    await edit(story, "> a")
    await story.send("go on")
    assert section(story, "plan-note") == (
        'The person changed the plan: dropped "b"; set "a" to in progress. Their version counts.'
    )
    await edit(story, "x a")
    await edit(story, "> a")
    await story.send("go on")
    assert section(story, "plan-note") == ""


async def test_a_note_outlives_a_restart_and_is_told_once():
    story = guarded([writes("> a"), says("Which?")] + [says("x")] * 3)
    await story.send("go")
    again = guarded([says("Hm?"), says("ok"), says("ok"), says("ok")], conversation=reopened(story))
    await edit(again, "x a")
    later = guarded([says("ok"), says("ok")], conversation=reopened(again))
    await later.send("go on")
    assert "The person changed the plan" in section(later, "plan-note", 0)
    await later.send("go on")
    assert section(later, "plan-note") == ""


@STORIES
async def test_a_list_written_without_knowing_of_an_edit_is_refused(told, done):
    async def editing(story: Story) -> None:
        assert await edit(story, "x a", "> mine") is None

    class EditsMeanwhile(Middleware):
        """The person changes the plan while the model writes its second list."""

        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            if ctx.step == 2:
                await editing(story)
            return await call_next(call)

    story = told(
        [
            writes("> a", done=done),
            writes("x a", done=done),
            writes("x a", "x mine", done=done),
            says("ok"),
        ],
        before=[EditsMeanwhile()],
    )
    await story.send("go")
    assert story.results[1].text == (
        'Refused (changed_meanwhile): The person changed the plan meanwhile: added "mine"; '
        'set "a" to done. Take that over, and send the list again. The plan is unchanged.'
    )
    assert 'added "mine"' in section(story, "plan-note", 2)
    assert shown(story) == ["x a", "x mine"]


async def test_an_edit_in_the_very_moment_of_a_write_is_refused_and_both_stay_whole():
    said: list[str | None] = []

    class EditsBehind(Middleware):
        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            outcome = await call_next(call)
            said.append(await edit(story, "> mine"))
            return outcome

    story = guarded([writes("x a"), says("ok")], before=[EditsBehind()])
    await story.send("go")
    assert said == [BUSY]
    assert shown(story) == ["x a"]
    assert await edit(story, "> mine") is None


async def test_a_write_while_an_edit_is_being_saved_is_refused():
    saving, saved = asyncio.Event(), asyncio.Event()

    async def record(commit: Commit) -> None:
        if commit.by == "user" and PLAN.name in commit.update.names and not commit.messages:
            saving.set()
            await saved.wait()

    class EditsAtOnce(Middleware):
        async def wrap_tool_call(
            self, call: ToolCall, call_next: CallTool, ctx: CallContext
        ) -> Outcome:
            if ctx.step > 1:
                return await call_next(call)
            task = asyncio.ensure_future(edit(story, "> mine"))
            await saving.wait()
            outcome = await call_next(call)
            saved.set()
            assert await task is None
            return outcome

    thread = Conversation("thread", record=record)
    story = guarded(
        [writes("> a"), writes("x mine"), says("ok")], before=[EditsAtOnce()], conversation=thread
    )
    await story.send("go")
    assert story.results[0].text.startswith("Refused (changed_meanwhile)")
    assert shown(story) == ["x mine"]


async def test_an_edit_that_cannot_be_saved_changes_nothing():
    async def full(commit: Commit) -> None:
        raise OSError("no space left")

    story = guarded([writes("x a"), says("ok")])
    await story.send("go")
    story.conversation.record = full
    with pytest.raises(OSError, match="no space left"):
        await edit(story, "> mine")
    assert shown(story) == ["x a"]
    assert story.conversation.extra["todos"] == [{"content": "a", "status": "completed"}]


async def test_a_refused_edit_says_why_and_changes_nothing():
    story = guarded([writes("> a"), says("Which?")] + [says("x")] * 3)
    await story.send("go")
    before = story.conversation.state
    assert await edit(story, "> a", "  ") == "todos[1].content is empty."
    assert story.conversation.state is before


async def test_an_edit_by_hand_lifts_what_the_guard_held_against_the_model():
    story = guarded([writes("> a"), *[says("Done.")] * 3, says("I cannot."), says("Done.")] * 2)
    await story.send("go")
    assert story.conversation.extra["todo_guard_suppressed"] is True
    await edit(story, "> a", "b")
    assert story.conversation.extra["todo_guard_suppressed"] is False


@STORIES
async def test_a_plan_can_be_made_by_hand_before_the_model_has_one(told, done):
    story = told([writes("x a", done=done), says("ok")])
    assert await edit(story, "> a") is None
    await story.send("go")
    assert '"a"' in section(story, "todos", 0)
    assert shown(story) == ["x a"]


async def test_the_history_says_who_wrote_which_version_when_and_brings_one_back():
    thread = Conversation("thread")
    story = free([writes("a", done="done"), says("ok")], conversation=thread, clock=ticking())
    await story.send("go")
    await edit(story, "x a")
    first, second = thread.state[PLAN_HISTORY]
    assert [(v.by, v.at, texts(v.plan)) for v in (first, second)] == [
        ("model", 1.0, ["a"]),
        ("user", 2.0, ["x a"]),
    ]
    await owner(story).user_edit(thread, first.plan, by="restore")
    assert thread.state[PLAN] == first.plan
    assert [v.by for v in thread.state[PLAN_HISTORY]] == ["model", "user", "restore"]


@STORIES
async def test_an_interrupted_todo_is_marked_and_told_to_the_model(told, done):
    control, (tool, begun) = Control(), hanging()
    story = told([writes("x a", "> b", "c", done=done), calls(call("hang"))], tools=[tool])
    running = asyncio.ensure_future(story.send("go", control=control))
    await begun.wait()
    control.interrupt()
    assert await running == Interrupted()
    assert is_interrupted(story.conversation.state)
    assert shown(story) == ["x a", "> b", "c"]

    again = told(
        [writes("x a", "x b", "x c", done=done), says("ok"), says("ok")],
        conversation=reopened(story),
    )
    await again.send("go on")
    assert section(again, "plan-note", 0) == (
        'The last run was stopped while this was in progress: "b". It may be half done: look '
        "before you go on with it."
    )
    assert section(again, "plan-note", 1) == ""
    assert not is_interrupted(again.conversation.state)


async def test_a_run_that_died_with_its_process_counts_as_interrupted():
    thread = Conversation("thread")
    seen: list[State] = []

    def dies(request: object) -> object:
        seen.append(State(thread.state.to_json()))
        return says("ok")

    story = free([writes("> a", done="done"), dies], conversation=thread)
    await story.send("go")
    assert is_interrupted(seen[0])
    assert not is_interrupted(thread.state)


async def test_a_failed_run_leaves_its_todo_interrupted_and_an_answer_does_not():
    story = free([writes("> a", done="done")])
    assert isinstance(await story.send("go"), Failed)
    assert is_interrupted(story.conversation.state)
    story = free([writes("> a", done="done"), says("ok"), says("ok")])
    assert await story.send("go") == Answered("ok")
    await story.send("go on")
    assert section(story, "plan-note") == ""


async def test_a_free_plan_is_taken_over_by_the_guard_and_back():
    story = free([writes("> a", "> b", done="done"), says("ok")])
    await story.send("go")
    thread = reopened(story)
    middleware = TodoListMiddleware(extra_ref=lambda: thread.extra)
    assert await middleware.take_over(thread) == (
        '"b" is pending now.',
        "The todos have no ids any more.",
    )
    assert texts(thread.state[PLAN]) == ["> a", "b"]
    assert thread.extra["todos"] == [
        {"content": "a", "status": "in_progress"},
        {"content": "b", "status": "pending"},
    ]
    assert await TodoMiddleware().take_over(thread) == ()
    assert all(todo.id for todo in thread.state[PLAN])


async def test_a_run_takes_the_plan_of_another_discipline_over_by_itself():
    story = free([writes("> a", "> b", done="done"), says("ok")])
    await story.send("go")
    again = guarded([writes("x a", "x b"), says("ok")], conversation=reopened(story))
    await again.send("go on")
    assert '{"content": "b", "status": "pending"}' in section(again, "todos", 0)
    assert again.conversation.state[PLAN_MARKS].discipline == "guarded"
    assert shown(again) == ["x a", "x b"]


async def test_a_plan_of_the_same_discipline_is_taken_over_as_it_is():
    story = free([writes("a", done="done"), says("ok")])
    await story.send("go")
    before = story.conversation.state.to_json()
    assert await TodoMiddleware(max_todos=1, max_todo_chars=1).take_over(story.conversation) == ()
    assert story.conversation.state.to_json() == before


async def test_two_writes_of_one_message_are_both_known_to_the_model():
    story = free([calls(write("a"), write("a", "b")), says("ok")])
    await story.send("go")
    assert [result.is_error for result in story.results] == [False, False]
    assert shown(story) == ["a", "b"]


async def test_opening_a_new_thread_records_nothing():
    commits: list[Commit] = []

    async def record(commit: Commit) -> None:
        commits.append(commit)

    thread = Conversation("thread", record=record)
    middleware = TodoListMiddleware(extra_ref=lambda: thread.extra)
    assert await middleware.take_over(thread) == ()
    assert commits == []


async def test_a_plan_emptied_by_hand_is_told_and_not_shown():
    story = free([writes("a", done="done"), says("ok"), says("ok")])
    await story.send("go")
    await edit(story)
    await story.send("go on")
    assert 'dropped "a"' in section(story, "plan-note")
    assert section(story, "todos") == ""


async def test_two_edits_at_once_are_taken_one_at_a_time():
    saving, saved = asyncio.Event(), asyncio.Event()

    async def record(commit: Commit) -> None:
        saving.set()
        await saved.wait()

    story = free([], conversation=Conversation("thread", record=record))
    first = asyncio.ensure_future(edit(story, "a"))
    await saving.wait()
    assert await edit(story, "b") == BUSY
    saved.set()
    assert await first is None
    assert shown(story) == ["a"]
