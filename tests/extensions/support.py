"""What the stories about extensions share."""

from __future__ import annotations

from collections.abc import Sequence

from tests.agent.support import ECHO, Story, story
from todo_agent.agent.messages import Message, ToolUse
from todo_agent.agent.middleware import Middleware
from todo_agent.agent.outcomes import RunEnd
from todo_agent.agent.provider import ModelRequest, ModelResponse
from todo_agent.agent.tools import Outcome, Tool, ToolCall
from todo_agent.extensions.base import (
    CallHandler,
    CallProvider,
    Compaction,
    Extension,
    MessageAppended,
    Notice,
    Request,
    Settled,
)
from todo_agent.extensions.host import ExtensionHost


class Watching(Extension):
    """Writes down its hooks; `fails` maps a hook to what it raises."""

    def __init__(self, name: str = "x", *, priority: int = 100, **fails: Exception) -> None:
        self.name, self.priority, self.fails = name, priority, fails
        self.log: list[str] = []
        self.errors: list[BaseException] = []
        self.notices: list[Message | None] = []

    def saw(self, hook: str) -> None:
        self.log.append(hook)
        if hook in self.fails:
            raise self.fails[hook]

    async def on_tool(self, request: Request) -> None:
        self.saw("on_tool")

    async def on_state(self, request: Request) -> None:
        self.saw("on_state")

    async def on_message(self, request: Request) -> None:
        self.saw("on_message")

    async def before_run(self, request: Request) -> None:
        self.saw("before_run")

    async def before_turn(self, request: Request) -> None:
        self.saw("before_turn")

    async def before_model(self, request: Request, model_request: ModelRequest) -> None:
        self.saw("before_model")

    async def on_model_request(
        self, request: Request, model_request: ModelRequest, call_next: CallProvider
    ) -> ModelResponse:
        self.saw("on_model_request")
        return await call_next(model_request)

    async def after_model(self, request: Request, response: ModelResponse) -> None:
        self.saw("after_model")

    async def before_tool(self, request: Request, call: ToolUse) -> None:
        self.saw("before_tool")

    async def on_tool_call(
        self, request: Request, call: ToolCall, call_next: CallHandler
    ) -> Outcome:
        self.saw("on_tool_call")
        return await call_next(call)

    async def after_tool(
        self, request: Request, call: ToolUse, outcome: Settled, error: Exception | None
    ) -> Settled:
        self.saw("after_tool")
        return outcome

    async def after_turn(self, request: Request, message: Message) -> None:
        self.saw("after_turn")

    async def after_run(self, request: Request, answer: Message) -> None:
        self.saw("after_run")

    async def on_success(self, request: Request) -> None:
        self.saw("on_success")

    async def on_error(self, request: Request, error: BaseException) -> None:
        self.errors.append(error)
        self.saw("on_error")

    async def on_event(self, request: Request, notice: Notice) -> None:
        match notice:
            case MessageAppended(message):
                self.notices.append(message)
                self.saw("on_event")
            case _:
                self.saw("cancelled")

    async def on_compact(self, request: Compaction) -> None:
        self.saw("on_compact")

    def release(self, request: Request) -> None:
        self.saw("release")


def hosted(
    replies: Sequence[object],
    *extensions: Extension,
    tools: Sequence[Tool] = (ECHO,),
    inside: Sequence[Middleware] = (),
    **settings: int,
) -> Story:
    """A story on an agent whose outermost middleware is the host of these extensions."""
    stack = [ExtensionHost(extensions), *inside]
    return story(replies, tools=tools, stack=stack, **settings)


async def served(replies: Sequence[object], *extensions: Extension, **settings: object) -> Story:
    """Send "go" and play the replies."""
    told = hosted(replies, *extensions, **settings)  # type: ignore[arg-type]
    await told.send("go")
    return told


def raised(end: RunEnd | None) -> BaseException | None:
    """What a failed run got from its hook."""
    return getattr(end, "error", None)
