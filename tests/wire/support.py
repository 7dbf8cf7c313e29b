"""One call of the real SDK, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.wire.server import WireServer
from todo_agent.agent.messages import Message, Text, ToolResult, user
from todo_agent.agent.provider import ModelDelta, ModelRequest, ModelResponse, ProviderError
from todo_agent.providers.anthropic import AnthropicProvider

KEY = "sk-ant-TESTSECRET"
MODEL = "claude-sonnet-5-5"
GO = ModelRequest(MODEL, (user("go"),))


@dataclass
class Client:
    """A provider on a server."""

    server: WireServer
    deltas: list[ModelDelta] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.provider = AnthropicProvider(api_key=KEY, base_url=self.server.url)

    async def ask(self, request: ModelRequest = GO) -> ModelResponse:
        return await self.provider.stream(request, self.deltas.append)

    async def fail(self, request: ModelRequest = GO) -> ProviderError:
        return await failure(self.provider, request)


async def failure(provider: AnthropicProvider, request: ModelRequest = GO) -> ProviderError:
    """Return how a call fails."""
    with pytest.raises(ProviderError) as caught:
        await provider.stream(request, lambda delta: None)
    assert KEY not in str(caught.value)
    return caught.value


def results(*texts: tuple[str, str]) -> Message:
    """Return the results of calls: pairs of id and text."""
    return Message("user", tuple(ToolResult(id_, (Text(text),)) for id_, text in texts))
