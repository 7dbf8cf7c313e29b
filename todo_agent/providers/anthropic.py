"""The Messages API through the `anthropic` SDK. The only module that imports it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import anthropic
import httpx2

from todo_agent.agent.provider import ModelDelta, ModelRequest, ModelResponse, ProviderError
from todo_agent.providers import endpoint
from todo_agent.providers.accumulate import Answer
from todo_agent.providers.asides import Asides
from todo_agent.providers.failures import of_break, of_event, of_status, told
from todo_agent.providers.request import Layout, Options, api_content, lay_out

TIMEOUT = 600.0
"""Seconds without any byte from the server."""
CONNECT_TIMEOUT = 15.0
PUBLIC = "https://api.anthropic.com"
MAX_REASON = 300
SHORTEST_SECRET = 8
"""A shorter credential is none, and may be part of any word."""
NO_STREAM = ("application/json", "text/html")
"""Types of an answer that is something else altogether."""


class AnthropicProvider:
    """Asks Anthropic's API, or one that speaks like it.

    Nothing of the environment or of the SDK's profiles takes part in the credential. One
    provider serves any number of conversations at a time.

    Args:
        api_key: the key; it comes before `auth_token`, and only one is ever sent.
        auth_token: a bearer token.
        base_url: another address than the public one.
        thinking: False asks the models that can to answer without thinking first.
        effort: how hard the model should try; None for its default.
        timeout: seconds to wait for the next byte.

    Raises:
        ValueError: the address or a credential cannot be used, or there is no credential.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        auth_token: str | None = None,
        base_url: str | None = None,
        thinking: bool = True,
        effort: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        key = endpoint.clean_key(api_key, variable="ANTHROPIC_API_KEY")
        token = endpoint.clean_key(auth_token, variable="ANTHROPIC_AUTH_TOKEN")
        token = None if key else token
        if not (key or token):
            raise ValueError("An API key or an auth token is needed: set ANTHROPIC_API_KEY.")
        address = PUBLIC if base_url is None else endpoint.base_url(base_url)
        if token and endpoint.has_user(address):
            raise ValueError(
                "ANTHROPIC_AUTH_TOKEN and a user in ANTHROPIC_BASE_URL exclude each other: "
                "both are sent in the Authorization header. Use ANTHROPIC_API_KEY."
            )
        self._secret = key or token or ""
        self._address = address
        self._shown = endpoint.masked(address)
        self._options = Options(thinking=thinking, effort=effort)
        self._asides = Asides()
        self._credential: dict[str, Any] = {"X-Api-Key": key or anthropic.omit}
        self._credential["Authorization"] = f"Bearer {token}" if token else anthropic.omit
        try:
            self._client = anthropic.AsyncAnthropic(
                api_key=key,
                auth_token=token,
                base_url=address,
                max_retries=0,
                timeout=httpx2.Timeout(timeout, connect=CONNECT_TIMEOUT),
                # A redirect would send the conversation to another host.
                http_client=anthropic.DefaultAsyncHttpxClient(follow_redirects=False),
            )
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            text = f"{self._where()} cannot be used: {self._safe(str(error))}"
            raise ValueError(text) from error

    async def stream(
        self, request: ModelRequest, on_delta: Callable[[ModelDelta], None]
    ) -> ModelResponse:
        """Send one request (see `Provider`)."""
        layout = await self._lay_out(request)
        taken = {call.id for message in request.messages for call in message.calls}
        answer = Answer(on_delta, taken)
        try:
            await self._receive(layout, answer)
        except (anthropic.AnthropicError, httpx2.RequestError, _NoEventError) as error:
            if not answer.whole:
                raise self._failure(error, answer) from error
        if not answer.whole:
            text = f"{self._shown} ended its answer in the middle."
            raise of_break("stream", text, so_far=answer)
        response = answer.response()
        self._asides.keep(layout.placed, api_content(response.message))
        return response

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return how many input tokens a request has.

        Raises:
            ProviderError: the call failed.
        """
        arguments: dict[str, Any] = (await self._lay_out(request)).arguments
        del arguments["max_tokens"]
        try:
            counted = await self._client.messages.count_tokens(
                **arguments, extra_headers=self._credential
            )
        except (anthropic.AnthropicError, httpx2.RequestError, ValueError) as error:
            raise self._failure(error, Answer(_unseen)) from error
        return counted.input_tokens

    async def _lay_out(self, request: ModelRequest) -> Layout:
        try:
            return await asyncio.to_thread(lay_out, request, self._asides, self._options)
        except ValueError as error:
            raise ProviderError(str(error), kind="invalid_request") from error

    async def _receive(self, layout: Layout, answer: Answer) -> None:
        arguments: dict[str, Any] = layout.arguments
        stream = await self._client.messages.create(
            **arguments, stream=True, extra_headers=self._credential
        )
        async with stream:
            kind = stream.response.headers.get("content-type", "").partition(";")[0]
            if kind in NO_STREAM:
                text = (
                    f"{self._shown} answered with {kind}, not with a stream of events. "
                    "Is it an address of the Messages API?"
                )
                raise of_break("stream", text, so_far=answer, passing=False)
            async for event in _events(stream.response):
                if event.get("type") == "error":
                    name, said = told(event)
                    raise of_event(name, self._safe(said), address=self._shown, so_far=answer)
                answer.take(event)

    def _failure(self, error: Exception, so_far: Answer) -> ProviderError:
        match error:
            case anthropic.APIStatusError(body=body, status_code=status, response=response):
                _, said = told(body)
                return of_status(status, self._safe(said), response.headers, address=self._shown)
            case anthropic.APITimeoutError() | httpx2.TimeoutException():
                text = f"{self._where()} did not answer in time."
                return of_break("timeout", text, so_far=so_far)
            case anthropic.APIConnectionError() | httpx2.RequestError():
                return self._no_connection(error, so_far)
            case _:
                text = f"{self._shown} sent something that is no answer: {self._reason(error)}."
                return of_break("stream", text, so_far=so_far)

    def _no_connection(self, error: Exception, so_far: Answer) -> ProviderError:
        reason = self._reason(_root(error))
        if "CERTIFICATE_VERIFY_FAILED" in reason:
            text = (
                f"The certificate of {self._where()} is not trusted: {reason}. "
                "If it is yours, name the file with your authority in SSL_CERT_FILE."
            )
            return of_break("connection", text, so_far=so_far, passing=False)
        text = f"{self._where()} cannot be reached: {reason}."
        if so_far.begun:
            text = f"The connection to {self._where()} broke: {reason}."
        return of_break("connection", text, so_far=so_far)

    def _where(self) -> str:
        """Return the address, and the proxy on the way to it, if there is one."""
        proxy = endpoint.proxy_of(self._address)
        return f"{self._shown} (through the proxy {proxy})" if proxy else self._shown

    def _reason(self, error: BaseException) -> str:
        """Return what an error says, on one line."""
        text = str(error) or type(error).__name__
        return self._safe(" ".join(text.split()).rstrip("."))[:MAX_REASON]

    def _safe(self, text: str) -> str:
        """Return a foreign text without the credential and without passwords."""
        if len(self._secret) >= SHORTEST_SECRET:
            text = text.replace(self._secret, "***")
        return endpoint.without_passwords(text)


class _NoEventError(Exception):
    """What came is not a stream of events."""


async def _events(response: httpx2.Response) -> AsyncIterator[Mapping[str, Any]]:
    """Return the events as they came: the SDK's own types would alter what they do not know."""
    try:
        async for sent in anthropic.AsyncStream.raw_events(response):
            event = json.loads(sent.data) if sent.data else None
            if isinstance(event, dict):
                yield event
    except (ValueError, RecursionError) as error:
        raise _NoEventError(str(error)) from error


def _root(error: BaseException) -> BaseException:
    """Return what an error comes from."""
    cause: BaseException | None = error
    while cause is not None:
        error = cause
        cause = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__
    return error


def _unseen(delta: ModelDelta) -> None:
    """Show a piece of an answer to nobody."""
