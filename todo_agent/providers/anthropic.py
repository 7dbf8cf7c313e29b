"""The Messages API through the `anthropic` SDK. The only module that imports it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anthropic
import httpx2

from todo_agent.agent.provider import ModelDelta, ModelRequest, ModelResponse, ProviderError
from todo_agent.providers.accumulate import Answer
from todo_agent.providers.endpoint import base_url as checked_base_url
from todo_agent.providers.endpoint import masked
from todo_agent.providers.failures import of_event, of_status
from todo_agent.providers.request import body

TIMEOUT = 600.0
"""Seconds without any byte from the server."""
CONNECT_TIMEOUT = 15.0
PUBLIC = "https://api.anthropic.com"


class AnthropicProvider:
    """Asks Anthropic's API, or one that speaks like it.

    Args:
        api_key: the key; it comes before `auth_token`, and only one is ever sent.
        auth_token: a bearer token.
        base_url: another address than the public one.
        effort: how hard the model should try; None for its default.
        timeout: seconds to wait for the next byte.

    Raises:
        ValueError: the address is none, or there is no credential.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        auth_token: str | None = None,
        base_url: str | None = None,
        effort: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        if not (api_key or auth_token):
            raise ValueError("An API key or an auth token is needed.")
        self._address = checked_base_url(base_url) if base_url else PUBLIC
        self._effort = effort
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key or None,
            auth_token=None if api_key else auth_token,
            base_url=self._address,
            max_retries=0,
            timeout=httpx2.Timeout(timeout, connect=CONNECT_TIMEOUT),
        )
        if api_key:
            self._client.auth_token = None
        else:
            self._client.api_key = None

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Send one request (see `Provider`)."""
        answer = Answer(on_delta)
        arguments: dict[str, Any] = body(request, effort=self._effort)
        try:
            stream = await self._client.messages.create(**arguments, stream=True)
            async with stream:
                async for event in _events(stream):
                    answer.take(event)
        except anthropic.APIStatusError as error:
            raise self._failed(error, answer) from error
        except anthropic.APITimeoutError as error:
            text = f"{masked(self._address)} did not answer in time."
            raise _broken(text, "timeout", answer) from error
        except (anthropic.APIConnectionError, httpx2.TransportError) as error:
            text = f"{masked(self._address)} cannot be reached: {_reason(error)}."
            if answer.begun:
                text = f"The connection to {masked(self._address)} broke: {_reason(error)}."
            raise _broken(text, "connection", answer) from error
        except (anthropic.APIError, ValueError) as error:
            text = f"{masked(self._address)} sent something that is no answer: {_reason(error)}."
            raise _broken(text, "stream", answer) from error
        if not answer.finished:
            text = f"{masked(self._address)} ended its answer in the middle."
            raise _broken(text, "stream", answer)
        return answer.response()

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return how many input tokens a request has.

        Raises:
            ProviderError: the call failed.
        """
        arguments: dict[str, Any] = body(request)
        del arguments["max_tokens"]
        try:
            counted = await self._client.messages.count_tokens(**arguments)
        except anthropic.APIStatusError as error:
            raise self._failed(error, Answer(_unseen)) from error
        except anthropic.APIError as error:
            text = f"{masked(self._address)} cannot be reached: {_reason(error)}."
            raise ProviderError(text, kind="connection", retriable=True) from error
        return counted.input_tokens

    def _failed(self, error: anthropic.APIStatusError, answer: Answer) -> ProviderError:
        headers = error.response.headers
        status = error.status_code
        if status < 400:  # an error event inside a stream that began well
            return of_event(error.body, partial=answer.partial(), usage=answer.usage)
        return of_status(status, error.body, headers, address=masked(self._address))


async def _events(stream: anthropic.AsyncStream[Any]) -> AsyncIterator[dict[str, Any]]:
    async for event in stream:
        yield event.to_dict(mode="json", exclude_unset=True, warnings=False)


def _unseen(delta: ModelDelta) -> None:
    """Show a piece of an answer to nobody."""


def _broken(text: str, kind: str, answer: Answer) -> ProviderError:
    partial = answer.partial()
    return ProviderError(
        text,
        kind=kind,
        retriable=not answer.begun,
        partial=partial,
        usage=answer.usage,
    )


def _reason(error: BaseException) -> str:
    """Return the innermost reason that says something, on one line."""
    innermost = error
    while innermost.__cause__ is not None or innermost.__context__ is not None:
        innermost = innermost.__cause__ or innermost.__context__  # type: ignore[assignment]
    text = str(innermost) or str(error) or type(innermost).__name__
    return " ".join(text.split()).rstrip(".")[:300]
