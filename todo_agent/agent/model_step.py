"""One model step: sections, request, the onion of wrappers, and the count of every call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol
from uuid import uuid4

from todo_agent.agent.events import TextDelta, ThinkingDelta, ToolInputDelta, Warned
from todo_agent.agent.messages import Message
from todo_agent.agent.middleware import AskingMiddleware, CallModel, Middleware, Suspend
from todo_agent.agent.outcomes import Question
from todo_agent.agent.prompt import PromptSection, bound_sections
from todo_agent.agent.provider import (
    NO_USAGE,
    ModelDelta,
    ModelRequest,
    ModelResponse,
    Provider,
    ProviderError,
)
from todo_agent.agent.run import Run
from todo_agent.agent.stack import check_update, guarded, name_of


class Asked(BaseException):
    """A middleware put a question nobody is there to answer.

    Not an `Exception`, so that no wrapper on the way out takes it for a failed call.
    """

    def __init__(self, question: Question, by: str) -> None:
        super().__init__(question.text)
        self.question = question
        self.by = by


class Settings(Protocol):
    """What a step needs of the agent."""

    provider: Provider
    model: str
    system: str
    max_tokens: int
    max_prompt_section_tokens: int


@dataclass(frozen=True)
class ModelStep:
    """Asks the model once, through all middlewares."""

    settings: Settings
    run: Run
    heard: list[str] = field(default_factory=list)
    """The text of the current call, as far as it has come."""

    async def ask(self) -> ModelResponse:
        """Return the answer, with the updates of all wrappers.

        Raises:
            Asked: an asking middleware suspends the run.
            ProviderError: the call failed.
        """
        return await self._chain()(await self._request())

    async def ask_aside(self, messages: tuple[Message, ...]) -> ModelResponse:
        """Return the answer to other messages; nothing of it is shown (see `RunContext`).

        Raises:
            ProviderError: the call failed.
            RuntimeError: an asking middleware suspends, which nobody can answer here.
        """
        request = replace(await self._request(), messages=messages, aside=True)
        try:
            return await self._chain()(request)
        except Asked as asked:
            text = f"{asked.by} put a question about a request beside the conversation"
            raise RuntimeError(text) from asked

    def _chain(self) -> CallModel:
        chain: CallModel = self._call
        for item in reversed(self.run.stack.middleware):
            chain = self._wrapped(item, chain)
        return chain

    async def _request(self) -> ModelRequest:
        run, settings = self.run, self.settings
        collected: list[PromptSection] = []
        for item in run.stack.middleware:
            collected += await guarded(item, item.prompt_sections, run)
        limit = settings.max_prompt_section_tokens
        sections, cut = bound_sections(collected, max_tokens=limit)
        if cut:
            text = f"Prompt sections exceed {limit} tokens together; cut: {', '.join(cut)}."
            run.emit(Warned(text, code="sections_cut"))
        return ModelRequest(
            model=settings.model,
            messages=run.messages,
            tools=tuple(owned.tool.spec() for owned in run.tools.values()),
            system=settings.system,
            sections=sections,
            max_tokens=settings.max_tokens,
        )

    async def _call(self, request: ModelRequest) -> ModelResponse:
        self.heard.clear()
        show = _unseen if request.aside else self._show
        try:
            response = await self.settings.provider.stream(request, show)
        except ProviderError as error:
            if error.usage != NO_USAGE:
                await self.run.count(error.usage, aside=request.aside)
            raise
        await self.run.count(response.usage, aside=request.aside)
        return response

    def _show(self, delta: ModelDelta) -> None:
        match delta.kind:
            case "text":
                self.heard.append(delta.text)
                self.run.emit(TextDelta(delta.text))
            case "thinking":
                self.run.emit(ThinkingDelta(delta.text))
            case "tool_input":
                self.run.emit(ToolInputDelta(delta.call_id, delta.name, delta.text))

    def _wrapped(self, item: Middleware, call_next: CallModel) -> CallModel:
        async def wrapped(request: ModelRequest) -> ModelResponse:
            passed: frozenset[str] = frozenset()

            async def inner(request: ModelRequest) -> ModelResponse:
                nonlocal passed
                response = await call_next(request)
                passed |= response.update.names
                return response

            response = await self._surround(item, request, inner)
            check_update(item, response.update, besides=passed)
            return response

        return wrapped

    async def _surround(
        self, item: Middleware, request: ModelRequest, call_next: CallModel
    ) -> ModelResponse:
        if not isinstance(item, AskingMiddleware):
            return await guarded(item, item.wrap_model_call, request, call_next, self.run)
        run, name = self.run, name_of(item)
        answer = run.answers.pop(name, None)
        text = None if answer is None else answer.text
        while True:
            said = await guarded(item, item.ask_or_call_model, request, call_next, run, text)
            if not isinstance(said, Suspend):
                return said
            question = Question(uuid4().hex, said.question, "question", title=name)
            if run.ask is None:
                raise Asked(question, name)
            text = (await run.put(question, run.ask)).text


def _unseen(delta: ModelDelta) -> None:
    """Show a piece of an answer to nobody."""
