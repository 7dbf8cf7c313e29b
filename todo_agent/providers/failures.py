"""Failed calls of the Messages API, as errors a person understands."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from todo_agent.agent.messages import Message
from todo_agent.agent.provider import NO_USAGE, ProviderError, Usage

KINDS = {
    400: "invalid_request",
    401: "auth",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    413: "too_large",
    429: "rate_limit",
    504: "timeout",
    529: "overloaded",
}
EVENT_KINDS = {
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate_limit",
    "api_error": "server",
    "timeout_error": "timeout",
    "authentication_error": "auth",
    "permission_error": "permission",
    "invalid_request_error": "invalid_request",
    "not_found_error": "not_found",
    "request_too_large": "too_large",
}
RETRIABLE = ("rate_limit", "overloaded", "server", "timeout")
HINTS = {
    "auth": "The key was not accepted. Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.",
    "billing": "The account cannot pay for this.",
    "permission": "The key may not do this.",
    "not_found": "There is no such model or address. Choose another model, or check the address.",
    "too_large": "The request is too large. Begin a new thread, or remove large results.",
    "rate_limit": "Too many requests for now.",
    "overloaded": "The service is overloaded.",
    "server": "The service has a fault of its own.",
    "timeout": "The service did not answer in time.",
    "context_window": "The conversation no longer fits into the model's context window.",
    "invalid_request": "The request was refused.",
}
MAX_SHOWN = 400


def of_status(
    status: int, body: object, headers: Mapping[str, str], *, address: str
) -> ProviderError:
    """Return the error for an answer with a failing HTTP status."""
    said = _said(body)
    kind = KINDS.get(status, "server" if status >= 500 else "invalid_request")
    if kind == "invalid_request" and "prompt is too long" in said.lower():
        kind = "context_window"
    text = f"{HINTS[kind]} ({address}: {status}{', ' + said if said else ''})"
    return ProviderError(
        text, kind=kind, retriable=kind in RETRIABLE, retry_after=_retry_after(headers)
    )


def of_event(
    body: object, *, partial: Message | None = None, usage: Usage = NO_USAGE
) -> ProviderError:
    """Return the error for an error event inside a stream."""
    name = ""
    match body:
        case {"error": {"type": str(type_)}} | {"type": str(type_)}:
            name = type_
        case _:
            pass
    kind = EVENT_KINDS.get(name, "server")
    said = _said(body)
    text = f"{HINTS[kind]} ({said})" if said else HINTS[kind]
    return ProviderError(
        text,
        kind=kind,
        retriable=kind in RETRIABLE and partial is None,
        partial=partial,
        usage=usage,
    )


def _said(body: object) -> str:
    match body:
        case {"error": {"message": str(text)}} | {"message": str(text)}:
            return " ".join(text.split())[:MAX_SHOWN]
        case str(text):
            return " ".join(text.split())[:MAX_SHOWN]
        case _:
            return ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(ValueError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None
