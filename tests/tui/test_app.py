from __future__ import annotations

import asyncio

import pytest

from tests.tui.stand_in import DIFF, Bench, Info, StandIn, plan, result
from tests.tui.support import screen
from todo_agent.agent.events import (
    ApprovalRequested,
    Compacted,
    QuestionClosed,
    RetryScheduled,
    RunFinished,
    RunStarted,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolOutput,
    ToolStarted,
    Warned,
)
from todo_agent.agent.messages import (
    Display,
    Message,
    Text,
    Thinking,
    ToolUse,
    assistant,
    user,
)
from todo_agent.agent.modes import Mode
from todo_agent.agent.outcomes import Answered, Blocked, Failed, Interrupted, Question
from todo_agent.tui.entries import Answer, Call, CallState, Notice, Said, Thought, Turn
from todo_agent.tui.settings import MemoryHistory
from todo_agent.tui.themes import ASCII


async def test_what_is_typed_before_the_thread_is_open_is_sent_when_it_is():
    gate = asyncio.Event()

    class Slow(Bench):
        async def open(self, thread):
            await gate.wait()
            return await super().open(thread)

    session = StandIn()
    bench = Slow({None: session})
    gate.set()
    async with screen(session, bench=bench) as shown:
        gate.clear()
        shown.app.run_worker(shown.app.open_thread(None))
        await shown.app.close_session()
        await shown.type("hello")
        await shown.press("enter")
        await shown.until(lambda: shown.app.queue.texts == ("hello",))
        gate.set()
        await shown.until(lambda: session.sent == ["hello"])


async def test_the_first_prompt_is_sent_and_the_sdk_is_warmed_up():
    async with screen(prompt="fix it") as shown:
        await shown.until(lambda: shown.session.sent == ["fix it"] and shown.bench.warm)


async def test_a_thread_that_cannot_be_opened_leaves_the_screen_usable():
    session = StandIn()
    bench = Bench({None: session}, broken={"zzz": "There is no thread 'zzz'."})
    async with screen(session, bench=bench, thread="zzz", prompt="go") as shown:
        await shown.shows("There is no thread 'zzz'.")
        assert shown.app.prompt.draft == "go"
        shown.app.prompt.put("")
        await shown.type("/clear")
        await shown.press("enter")
        await shown.until(lambda: shown.app.session is session)


async def test_a_turn_as_it_is_shown():
    async with screen() as shown:
        session = shown.session
        session.send("fix the test")
        session.emit(
            ThinkingDelta("Where is "),
            ThinkingDelta("it?"),
            TextDelta("I'll **look"),
            TextDelta("**."),
            ToolInputDelta("c1", "read", "{"),
            ToolStarted("c1", "read", "a.py", {}),
            ToolFinished("c1", "read", result("c1", "x", Display("3 lines")), 0.25),
        )
        session.now += 12
        session.end()
        await shown.shows("12s")
        await shown.settled()
        assert shown.app.transcript.entries == (
            Said("fix the test"),
            Thought("Where is it?", seconds=0.0),
            Answer("I'll **look**."),
            Call(
                "c1",
                "read",
                "a.py",
                CallState.DONE,
                result=result("c1", "x", Display("3 lines")),
                since=0.0,
                seconds=0.25,
            ),
            Turn("12s"),
        )
        assert "● read   a.py  3 lines · 0.2s" in shown.text()


async def test_a_saved_conversation_is_shown_as_it_was():
    call = ToolUse("c1", "shell", {"command": "make"})
    messages = (
        user("build"),
        assistant(Thinking("hm", "sig"), Text("ok"), call),
        Message("user", (result("c1", "done", Display("exit 0")),)),
        assistant(Text("built")),
    )
    async with screen(StandIn(messages=messages, plan=plan("x a", "> b"))) as shown:
        await shown.settled()
        assert [type(entry).__name__ for entry in shown.app.transcript.entries] == [
            "Said",
            "Thought",
            "Answer",
            "Call",
            "Answer",
        ]
        assert "● shell  make  exit 0" in shown.text()
        assert "‖ b" in shown.text()


async def test_the_final_message_wins_over_what_streamed():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.emit(TextDelta("hal"))
        await shown.settled()
        shown.session.says("hello")
        await shown.until(lambda: Answer("hello") in shown.app.transcript.entries)
        assert shown.app.transcript.entries == (Said("x"), Answer("hello"))


async def test_a_retry_takes_back_the_void_pieces():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.emit(TextDelta("half an ans"), RetryScheduled(1, 2.0, "Overloaded."))
        shown.session.emit(RetryScheduled(2, 4.0, "Overloaded."), TextDelta("whole"))
        await shown.until(lambda: Answer("whole") in shown.app.transcript.entries)
        hint = "Attempt 3 in 4s. Esc stops."
        assert shown.app.transcript.entries == (
            Said("x"),
            Notice("Overloaded.", hint, "warning"),
            Answer("whole"),
        )


async def test_a_compaction_says_what_became_of_the_context():
    async with screen() as shown:
        await shown.type("/compact the limits")
        await shown.press("enter")
        await shown.shows("compacting")
        assert shown.session.compactions == ["the limits"]
        shown.session.emit(Compacted(180_000, 21_000, 42))
        shown.session.end(Answered("", "performed"))
        await shown.shows("Context shortened: 42 messages summed up, 180k → 21k tokens.")
        await shown.until(lambda: "compacting" not in shown.text())
        assert "The thread keeps everything." in shown.text()


async def test_a_compaction_that_had_nothing_to_do_says_only_that():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.says("hello")
        shown.session.end()
        await shown.settled()
        before = shown.app.transcript.entries
        shown.session.emit(Warned("There is nothing to sum up yet."))
        shown.session.end(Answered("", "performed"))
        await shown.shows("nothing to sum up")
        assert shown.app.transcript.entries[: len(before)] == before
        assert len(shown.app.transcript.entries) == len(before) + 1


async def test_a_failed_compaction_takes_nothing_off_the_screen():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.says("hello")
        shown.session.end()
        await shown.settled()
        shown.session.compact()
        shown.session.emit(RetryScheduled(1, 2.0, "Overloaded."))
        shown.session.end(Failed("Overloaded.", kind="overloaded"))
        await shown.shows("failed")
        assert shown.app.transcript.entries[:2] == (Said("x"), Answer("hello"))


async def test_running_output_shows_in_a_small_window():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.emit(ToolStarted("c", "shell", "seq 99", {}))
        shown.session.emit(ToolOutput("c", "".join(f"{n}\n" for n in range(100))))
        await shown.shows("  99")
        lines = [line.strip() for line in shown.text().splitlines()]
        assert [line for line in lines if line.isdigit()] == [str(n) for n in range(92, 100)]


async def test_details_open_and_close():
    async with screen(size=(100, 40)) as shown:
        shown.session.send("x")
        shown.session.calls("edit", "shop/cart.py", Display("+3 -2", DIFF, "diff", "shop/cart.py"))
        await shown.shows("shop/cart.py  +3 -2")
        assert "43 +" not in shown.text()
        await shown.press("ctrl+o")
        await shown.shows("43 +         discounted = apply_discount(subtotal, self.code)")
        await shown.press("ctrl+o")
        await shown.until(lambda: "43 +" not in shown.text())


async def test_an_error_can_be_read_without_opening_it():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.calls(
            "read", "no.py", Display("failed"), text="no.py does not exist.", is_error=True
        )
        await shown.shows("no.py does not exist.")


async def test_the_last_words_of_a_failed_program_show():
    lines = "\n".join(f"line {n}" for n in range(9))
    async with screen() as shown:
        shown.session.send("x")
        display = Display("exit 1 · 0.1 s", lines, "output")
        shown.session.calls("shell", "make", display, is_error=True, seconds=3.0)
        await shown.shows("line 8")
        assert "✗ shell  make  exit 1 · 0.1 s · 9 lines  line 8\n" in _stripped(shown.text())
        assert "line 7" not in shown.text()


async def test_the_time_a_person_took_to_answer_does_not_count():
    async with screen() as shown:
        session = shown.session
        session.send("x")
        question = Question("q", "why", tool="edit", title="a.py")
        session.emit(ToolStarted("c", "edit", "a.py", {}), ApprovalRequested(question))
        await shown.shows("Allow edit?")
        session.now += 60
        session.emit(QuestionClosed("q"))
        session.emit(ToolFinished("c", "edit", result("c", "", Display("+1")), 60.5))
        await shown.shows("● edit   a.py  +1 · 0.5s")


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (Failed("The key was refused.", kind="auth"), "Set ANTHROPIC_API_KEY"),
        (Failed("No route to host.", kind="connection"), "Check the network"),
        (Interrupted(), "interrupted after 0s"),
        (Answered("", stop="max_tokens"), "The answer was cut off"),
        (Answered("", stop="new_reason"), "The model stopped: new_reason."),
        (Blocked("guard", "too rude", "input"), "Your message was refused by guard: too rude"),
    ],
)
async def test_every_end_says_what_happened_and_what_to_do(end, said):
    async with screen() as shown:
        shown.session.send("x")
        shown.session.end(end)
        await shown.shows(said)


async def test_a_blocked_message_is_back_in_the_prompt():
    async with screen() as shown:
        session = shown.session
        session.running = True
        session.emit(RunStarted(user("secret")), RunFinished(Blocked("guard", "no", "input")))
        session.running = False
        await shown.until(lambda: shown.app.prompt.draft == "secret")
        assert Said("secret") not in shown.app.transcript.entries


async def test_a_draft_is_not_overwritten_by_what_comes_back():
    async with screen(StandIn(refuses_messages="The thread is read-only.")) as shown:
        await shown.type("one")
        await shown.press("enter")
        await shown.shows("The thread is read-only.")
        assert shown.app.prompt.draft == "one"


async def test_enter_on_the_empty_prompt_goes_on_with_open_todos():
    async with screen(StandIn(plan=plan("x a", ". b", ". c", ". d"))) as shown:
        shown.session.send("x")
        shown.session.end()
        await shown.shows("Stopped with 3 of 4 todos open.")
        await shown.press("enter")
        await shown.until(lambda: shown.session.retries == 1)


async def test_enter_on_the_empty_prompt_does_nothing_when_all_is_done():
    async with screen(StandIn(plan=plan("x a"))) as shown:
        shown.session.send("x")
        shown.session.end()
        await shown.settled()
        await shown.press("enter")
        await shown.pilot.pause(0.1)
        assert shown.session.retries == 0


async def test_what_is_typed_while_it_runs_is_queued_and_esc_takes_it_back_before_it_stops():
    async with screen() as shown:
        shown.session.send("x")
        for text in ("first", "second"):
            await shown.type(text)
            await shown.press("enter")
            await shown.shows(f"queued  {text}")
        await shown.press("escape")
        await shown.until(lambda: shown.app.prompt.draft == "second")
        assert shown.session.queued == ("first",)
        await shown.press("escape")
        await shown.shows("interrupted after")
        assert shown.app.prompt.draft == "second"


async def test_the_draft_survives_the_end_of_the_turn():
    async with screen() as shown:
        shown.session.send("x")
        await shown.type("def")
        shown.session.end(Failed("500"))
        await shown.shows("500")
        assert shown.app.prompt.draft == "def"


async def test_ctrl_c_clears_then_interrupts_and_twice_quits():
    async with screen() as shown:
        await shown.type("abc")
        await shown.press("ctrl+c")
        await shown.until(lambda: shown.app.prompt.draft == "")
        await shown.press("up")
        await shown.until(lambda: shown.app.prompt.draft == "abc")
        await shown.press("ctrl+c", "ctrl+c")
        await shown.until(lambda: shown.session.closed)
        assert shown.app.return_value == 0


async def test_ctrl_d_quits_only_on_an_empty_draft():
    async with screen() as shown:
        await shown.type("a")
        await shown.press("ctrl+d")
        await shown.pilot.pause()
        assert not shown.session.closed
        await shown.press("backspace", "ctrl+d")
        await shown.until(lambda: shown.session.closed)


async def test_quitting_while_a_tool_still_talks_is_quiet():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.emit(ToolStarted("c", "shell", "yes", {}))
        for _ in range(200):
            shown.session.emit(ToolOutput("c", "y\n"))
        await shown.press("ctrl+q")
        await shown.until(lambda: shown.session.closed)


async def test_modes_cycle_and_colour_the_prompt():
    async with screen() as shown:
        await shown.press("shift+tab", "shift+tab")
        await shown.until(lambda: shown.session.mode is Mode.PLAN)
        assert shown.app.prompt.has_class("-plan")
        assert "plan  claude-opus  12% of 200k" in shown.text()


async def test_history_goes_back_and_forth_and_keeps_the_draft():
    history = MemoryHistory(["old", "older\nlines"])
    async with screen(history=history) as shown:
        await shown.until(lambda: shown.app.prompt._texts)
        await shown.type("draft")
        await shown.press("up")
        assert shown.app.prompt.draft == "older\nlines"
        await shown.press("up", "up")
        assert shown.app.prompt.draft == "old"
        await shown.press("down", "down", "down", "down")
        assert shown.app.prompt.draft == "draft"
        await shown.press("enter")
        await shown.until(lambda: history.load() == ["old", "older\nlines", "draft"])


async def test_your_own_command_runs():
    async with screen() as shown:
        await shown.type("!make test")
        await shown.press("enter")
        await shown.until(lambda: shown.session.commands == ["make test"])
        assert shown.session.sent == []


async def test_an_unknown_command_says_so_and_stays():
    async with screen() as shown:
        await shown.type("/nope please")
        await shown.press("enter")
        await shown.shows("There is no command /nope.")
        assert shown.app.prompt.draft == "/nope please"


async def test_a_message_may_begin_with_a_path():
    async with screen(prompt="/etc/hosts is wrong") as shown:
        await shown.until(lambda: shown.session.sent == ["/etc/hosts is wrong"])


async def test_the_first_prompt_may_be_a_command():
    async with screen(prompt="/help") as shown:
        await shown.shows("Writing")
        assert shown.session.sent == []


async def test_commands_complete_as_one_types():
    async with screen() as shown:
        await shown.press("slash", "m", "o")
        await shown.shows("Pick the permission mode")
        await shown.press("down", "up", "tab")
        await shown.until(lambda: shown.app.prompt.text == "/mode ")
        await shown.type("auto")
        await shown.press("enter")
        await shown.until(lambda: shown.session.mode is Mode.AUTO)


async def test_enter_runs_the_chosen_command():
    async with screen() as shown:
        await shown.press("slash", "h", "e", "l")
        await shown.shows("Keys and commands")
        await shown.press("enter")
        await shown.shows("Writing")


async def test_files_complete_behind_an_at_sign():
    async with screen(files=lambda: ["src/app.py", "docs/[x].md"]) as shown:
        await shown.type("look at @app")
        await shown.shows("src/app.py")
        await shown.press("tab")
        await shown.until(lambda: shown.app.prompt.text == "look at @src/app.py ")
        assert shown.session.sent == []


async def test_threads_are_picked_with_a_few_letters():
    first, second = StandIn(id="aaa"), StandIn(id="bbb", plan=plan("> other plan"))
    infos = (Info("aaa", "Fix [/] brackets"), Info("bbb", "Rename \u202ethings", done=1, total=2))
    bench = Bench({None: first, "bbb": second}, infos)
    async with screen(first, bench=bench) as shown:
        await shown.type("/threads")
        await shown.press("enter")
        await shown.shows("Fix [/] brackets")
        await shown.shows("Rename \\u202ethings")
        await shown.press("r", "e", "n", "enter")
        await shown.until(lambda: shown.app.session is second)
        await shown.shows("other plan")
        assert first.closed


async def test_a_thread_shows_its_own_plan_and_no_other():
    first, second = StandIn(id="aaa", plan=plan(". one", ". two")), StandIn(id="bbb")
    bench = Bench({None: first, "bbb": second})
    async with screen(first, bench=bench) as shown:
        await shown.shows("two")
        await shown.app.open_thread("bbb")
        await shown.until(lambda: "two" not in shown.text())


async def test_the_model_is_picked():
    async with screen() as shown:
        await shown.type("/model")
        await shown.press("enter")
        await shown.shows("claude-haiku")
        await shown.press("down", "enter")
        await shown.until(lambda: shown.session.model == "claude-haiku")


async def test_the_last_answer_is_copied():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.says("the *answer*")
        shown.session.end()
        await shown.settled()
        await shown.type("/copy")
        await shown.press("enter")
        await shown.until(lambda: shown.app.clipboard == "the *answer*")


async def test_a_warning_shows_what_is_not_saved():
    async with screen() as shown:
        shown.session.unsaved_reason = "disk full"
        shown.session.emit(Warned("Not saved: disk full.", code="unsaved"))
        await shown.shows("not saved")


async def test_the_question_mark_shows_the_keys_on_an_empty_prompt_only():
    async with screen() as shown:
        await shown.press("a", "question_mark")
        assert shown.app.prompt.draft == "a?"
        await shown.press("backspace", "backspace", "question_mark")
        await shown.shows("Writing")
        await shown.press("escape")
        await shown.until(lambda: "Writing" not in shown.text())


async def test_the_palette_offers_the_commands():
    async with screen() as shown:
        await shown.press("ctrl+p")
        await shown.shows("Start a new thread")


async def test_the_scripted_model_is_named():
    async with screen(StandIn(scripted=True)) as shown:
        await shown.shows("scripted model")
        await shown.shows("The model is scripted")


async def test_ascii_marks_for_terminals_that_can_do_no_more():
    session = StandIn(plan=plan("x a", "> b", ". c"), messages=(user("hi"),))
    async with screen(session, marks=ASCII) as shown:
        await shown.settled()
        assert shown.text().replace("\n", "").isascii()
        for line in ("[x] a", "[=] b", "[ ] c"):
            assert line in shown.text()


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (7, 3), (20, 5), (40, 12), (99, 20), (400, 200)])
async def test_no_size_breaks_it(size):
    session = StandIn(plan=plan("x done", "> " + "x" * 500, *[f". {n}" for n in range(200)]))
    async with screen(session, size=size) as shown:
        session.send("hello " * 50)
        session.emit(TextDelta("# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```\n"))
        session.calls("edit", "a.py", Display("+1", DIFF, "diff", "a.py"))
        await shown.settled()
        await shown.press("ctrl+o", "ctrl+t", "f3", "down", "escape", "pageup", "end")
        await shown.pilot.resize_terminal(80, 24)
        await shown.pilot.resize_terminal(*size)
        await shown.settled()


async def test_step_numbers_do_not_matter_for_a_call_that_never_started():
    async with screen() as shown:
        shown.session.send("x")
        shown.session.emit(StepStarted(2))
        denied = result("c9", "Denied by the user.", is_error=True)
        shown.session.emit(ToolFinished("c9", "shell", denied, 0.0))
        await shown.shows("Denied by the user.")


def _stripped(text: str) -> str:
    return "".join(f"{line.strip()}\n" for line in text.splitlines())
