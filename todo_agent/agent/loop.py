"""The agent loop: ask the model, run its calls, and again, until it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from todo_agent.agent.calls import Calls, Stopped
from todo_agent.agent.closing import answer_open_calls, closed
from todo_agent.agent.control import Control
from todo_agent.agent.conversation import Commit, Conversation
from todo_agent.agent.events import (
    Event,
    RunStarted,
    SteeringQueued,
    StepStarted,
    Warned,
)
from todo_agent.agent.history import open_calls
from todo_agent.agent.messages import Message, Text, ToolResult, user
from todo_agent.agent.middleware import Block, Directive, Middleware, RunContext
from todo_agent.agent.model_step import Asked, ModelStep
from todo_agent.agent.outcomes import (
    Answer,
    Answered,
    Blocked,
    Failed,
    RunEnd,
    Suspended,
)
from todo_agent.agent.provider import ModelResponse, Provider, ProviderError
from todo_agent.agent.run import Ask, Emit, Run
from todo_agent.agent.stack import (
    Stack,
    check_update,
    guarded,
    name_of,
)
from todo_agent.agent.state import NO_UPDATE, State
from todo_agent.agent.suspension import SUSPENDED, Suspension
from todo_agent.agent.tools import Error, Tool

MAX_PAUSES = 10
"""How often in a row the API may pause a turn of its own tools."""
PERFORMED = "performed"
"""How a run stops that had something else to do than to answer."""
OUT_OF_ROOM = "model_context_window_exceeded"
"""How an answer stops that filled the context to the brim."""
MAX_CUT_OFF = 3
"""How many answers in a row may hit the output limit inside a call."""
Before: TypeAlias = tuple[int, State]
"""How many messages there were when the turn began, and the state then."""


def _unseen(event: Event) -> None:
    """Show an event to nobody."""


class Agent:
    """A model, its tools, and the middlewares around them.

    An agent holds no conversation: one agent may serve many, at the same time.

    Args:
        provider: where answers come from.
        model: the name of the model to ask.
        tools: tools beside those of the middlewares.
        middleware: the stack; the first is the outermost.
        system: the system prompt.
        name: tells agents apart that share a middleware.
        max_tokens: the longest answer, in tokens.
        max_steps: the most model steps of one run; None for no limit.
        max_prompt_section_tokens: the bound on all prompt sections together (S0-47).

    Raises:
        StackError: the middlewares or tools do not fit together (S0-88).
    """

    def __init__(
        self,
        provider: Provider,
        *,
        model: str = "",
        tools: Sequence[Tool] = (),
        middleware: Sequence[Middleware] = (),
        system: str = "",
        name: str = "agent",
        max_tokens: int = 32_000,
        max_steps: int | None = None,
        max_prompt_section_tokens: int = 8_000,
    ) -> None:
        self.provider = provider
        self.model = model
        self.stack = Stack(middleware, tools)
        self.system = system
        self.name = name
        self.max_tokens = max_tokens
        self.max_steps = max_steps
        self.max_prompt_section_tokens = max_prompt_section_tokens

    async def run(
        self,
        message: str | Message | None,
        emit: Emit = _unseen,
        *,
        conversation: Conversation | None = None,
        control: Control | None = None,
        ask: Ask | None = None,
    ) -> RunEnd:
        """Take up one input and return how the run ended.

        Without a message the run goes on from the conversation as it stands, for instance
        after a failed call.
        Every change is committed to the conversation as it happens and then shown to
        `emit`. `control` steers and interrupts. `ask` puts a question to a person; without
        it a run that needs one ends `Suspended`, and `resume` goes on. Whatever happens,
        the conversation can be sent again afterwards. A second run of one conversation at a
        time is refused with a `Failed` and changes nothing.

        Raises:
            asyncio.CancelledError: the caller was cancelled; the run is closed first.
        """
        taken = message if isinstance(message, Message) else user(message or "")
        run = self._new_run(conversation or Conversation(), emit, control, ask)
        return await closed(run, lambda: self._take_up(run, taken))

    async def resume(
        self,
        answer: Answer,
        emit: Emit = _unseen,
        *,
        conversation: Conversation,
        control: Control | None = None,
        ask: Ask | None = None,
    ) -> RunEnd:
        """Go on with a suspended run, which ends as `run` does.

        It fails with a clear message where nothing is suspended, or where the run was
        suspended under a stack of another structure (S0-61).
        """
        run = self._new_run(conversation, emit, control, ask)
        return await closed(run, lambda: self._go_on(run, answer))

    async def perform(
        self,
        job: Callable[[RunContext], Awaitable[None]],
        emit: Emit = _unseen,
        *,
        conversation: Conversation,
        control: Control | None = None,
    ) -> RunEnd:
        """Do something with a conversation that is no answer, such as compacting it.

        It is a run without an input: one at a time, to be interrupted, and ended for every
        middleware like any other. It ends `Answered` with the stop `performed` and no text,
        or as what went wrong.

        Raises:
            asyncio.CancelledError: the caller was cancelled; the run is closed first.
        """
        run = self._new_run(conversation, emit, control, None)

        async def performed() -> RunEnd:
            await answer_open_calls(run)
            run.tools = run.stack.tools()
            await job(run)
            return Answered("", PERFORMED)

        return await closed(run, performed)

    def _new_run(
        self, conversation: Conversation, emit: Emit, control: Control | None, ask: Ask | None
    ) -> Run:
        control = control or Control()
        return Run(
            conversation, self.stack, self.name, emit, control, ask, self.model, self._ask_aside
        )

    async def _ask_aside(self, run: Run, messages: tuple[Message, ...]) -> ModelResponse:
        return await ModelStep(self, run).ask_aside(messages)

    async def _take_up(self, run: Run, message: Message) -> RunEnd:
        await answer_open_calls(run)
        if run.state[SUSPENDED] is not None:
            await run.commit(Commit(update=SUSPENDED.set(None), by="user"))
        run.emit(RunStarted(message))
        before = (len(run.messages), run.state)
        update = NO_UPDATE
        for item in run.stack.middleware:
            verdict = await guarded(item, item.before_agent, run, message)
            if isinstance(verdict, Block):
                return Blocked(name_of(item), verdict.reason, "input")
            check_update(item, verdict.update, besides=frozenset())
            message, update = verdict.message, update | verdict.update
        run.tools = run.stack.tools()
        await run.commit(Commit((message,), update, by="user"))
        return await self._steps(run, before)

    async def _go_on(self, run: Run, answer: Answer) -> RunEnd:
        suspension = run.state[SUSPENDED]
        if suspension is None:
            return Failed("Nothing is suspended in this conversation.", kind="usage")
        if suspension.fingerprint != self.stack.fingerprint:
            return Failed(
                "The run was suspended under another set of middlewares and tools and cannot "
                "go on under this one. Send a new message to continue the conversation.",
                kind="structure",
            )
        for item in run.stack.middleware:
            await guarded(item, item.on_resume, run)
        run.tools = run.stack.tools()
        run.step = suspension.step
        run.answers[suspension.asked_by] = answer
        before = (suspension.turn_start, suspension.turn_state)
        await run.commit(Commit(update=SUSPENDED.set(None), by="user"))
        calls = open_calls(run.messages)
        if not calls:
            run.step -= 1
            return await self._steps(run, before)
        settled = {
            c.id: Error(suspension.settled[c.id]) for c in calls if c.id in suspension.settled
        }
        directive = Directive(suspension.decision, suspension.inject)
        asked = next(m for m in reversed(run.messages) if m.calls)
        over = await self._after_answer(
            run, replace(asked, content=calls), settled, directive, before
        )
        return over or await self._steps(run, before)

    async def _steps(self, run: Run, before: Before) -> RunEnd:
        pauses = cut_off = 0
        while True:
            if self.max_steps is not None and run.step >= self.max_steps:
                return Failed(f"Stopped after {self.max_steps} model steps.", kind="limit")
            run.step += 1
            await _deliver_steering(run)
            for item in run.stack.middleware:
                await guarded(item, item.before_turn, run)
            run.emit(StepStarted(run.step))
            response = await self._ask_model(run, before)
            if response.stop == "pause_turn" and pauses < MAX_PAUSES:
                pauses += 1
                continue
            pauses = 0
            cut_off = cut_off + 1 if response.stop == "max_tokens" and response.faults else 0
            if cut_off == MAX_CUT_OFF:
                return Failed(
                    f"The model hit the output limit of {self.max_tokens} tokens inside a call "
                    f"{MAX_CUT_OFF} times in a row. Ask for smaller pieces, or raise max_tokens.",
                    kind="limit",
                )
            directive = await self._directive(run, response)
            if response.stop == OUT_OF_ROOM and directive.decision != "again":
                text = "The conversation no longer fits into the model's context window."
                return Failed(text, kind="context_window", by="model")
            settled = _settle(response, directive)
            over = await self._after_answer(
                run, response.message, settled, directive, before, stop=response.stop
            )
            if over is not None:
                return over

    async def _ask_model(self, run: Run, before: Before) -> ModelResponse:
        """Make one model step and commit its answer.

        Raises:
            Stopped: the model refused, or a middleware suspended the run.
            ProviderError: the call failed; what had arrived of the answer is committed.
        """
        step = ModelStep(self, run)
        try:
            response = await step.ask()
        except asyncio.CancelledError:
            await run.append(Message("assistant", (Text("".join(step.heard)),), partial=True))
            raise
        except Asked as asked:
            suspension = Suspension(
                asked.question, asked.by, self.stack.fingerprint, run.step, *before
            )
            raise Stopped(await _suspend(run, suspension)) from None
        except ProviderError as error:
            if error.partial is not None:
                await run.append(replace(error.partial, partial=True))
            raise
        if response.stop == "refusal":
            reason = response.detail or "The model declined to answer."
            raise Stopped(Failed(reason, kind="refusal", by="model"))
        partial = response.stop == OUT_OF_ROOM or response.message.partial
        message = replace(response.message, partial=partial)
        await run.commit(Commit((message,), response.update))
        return response

    async def _directive(self, run: Run, response: ModelResponse) -> Directive:
        """Return what the middlewares together want to follow; the outermost has the last word."""
        whole = Directive()
        for item in reversed(run.stack.middleware):
            said = await guarded(item, item.after_model, run, response)
            check_update(item, said.update, besides=frozenset())
            whole = Directive(
                decision=said.decision if said.decision != "natural" else whole.decision,
                inject=(*whole.inject, *said.inject),
                refuse={**whole.refuse, **said.refuse},
                update=whole.update | said.update,
                reason=said.reason or whole.reason,
            )
        if whole.reason:
            run.emit(Warned(whole.reason, code="directive"))
        if whole.update:
            await run.commit(Commit(update=whole.update))
        return whole

    async def _after_answer(
        self,
        run: Run,
        answer: Message,
        settled: dict[str, Error],
        directive: Directive,
        before: Before,
        *,
        stop: str = "tool_use",
    ) -> RunEnd | None:
        """Run the calls and close the step; return how the run ends, or None if it goes on."""
        calls = answer.calls
        work = Calls(run, calls, settled)
        results = await work.execute()
        if work.questions:
            call_id, question = next(iter(work.questions.items()))
            errors = {id_: error.message for id_, error in settled.items()}
            suspension = Suspension(
                question, call_id, self.stack.fingerprint, run.step, *before,
                settled=errors, inject=directive.inject, decision=directive.decision,
            )  # fmt: skip
            return await _suspend(run, suspension)
        steered = await _deliver_steering(run) if calls else False
        await self._close_step(run, results)
        await run.commit(Commit(directive.inject))
        if directive.decision == "stop":
            return await self._answer(run, answer, before, stop="stopped")
        if calls or steered or directive.decision == "again" or await _deliver_steering(run):
            return None
        return await self._answer(run, answer, before, stop=stop)

    async def _close_step(self, run: Run, results: tuple[ToolResult, ...]) -> None:
        for item in run.stack.middleware:
            await guarded(item, item.after_turn, run, results)

    async def _answer(self, run: Run, given: Message, before: Before, *, stop: str) -> RunEnd:
        """Hand the final answer out through `after_agent`, in reverse stack order (S0-86)."""
        answer, update = given, NO_UPDATE
        for item in reversed(run.stack.middleware):
            verdict = await guarded(item, item.after_agent, run, answer)
            if isinstance(verdict, Block):
                await run.restore(keep=before[0], state=before[1])
                return Blocked(name_of(item), verdict.reason, "output")
            check_update(item, verdict.update, besides=frozenset())
            answer, update = verdict.message, update | verdict.update
        if answer == given:
            await run.commit(Commit(update=update))
        else:
            is_stored = run.messages[-1].role == "assistant"
            keep = len(run.messages) - 1 if is_stored else None
            await run.commit(Commit((answer,), update, keep=keep))
        return Answered(answer.text, stop)


def _settle(response: ModelResponse, directive: Directive) -> dict[str, Error]:
    settled = {id_: Error(reason) for id_, reason in response.faults.items()}
    if response.stop not in ("tool_use", "end_turn"):
        for call in response.message.calls:
            text = f"Not run: the answer ended with {response.stop}, so the call may be incomplete."
            settled.setdefault(call.id, Error(text))
    return {**settled, **directive.refuse}


async def _deliver_steering(run: Run) -> bool:
    messages = run.control.take()
    if messages:
        await run.commit(Commit(messages, by="user"))
    if any(not message.synthetic for message in messages):
        run.emit(SteeringQueued(()))
    return bool(messages)


async def _suspend(run: Run, suspension: Suspension) -> RunEnd:
    await run.commit(Commit(update=SUSPENDED.set(suspension)))
    return Suspended(suspension.question)
