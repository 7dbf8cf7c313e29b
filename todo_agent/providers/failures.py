"""Failed calls of the Messages API, as errors a person understands."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from todo_agent.agent.provider import ProviderError
from todo_agent.providers.accumulate import Answer
from todo_agent.providers.endpoint import masked

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
    "billing_error": "billing",
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
    "redirect": "The address sends requests on to another one. Write that into ANTHROPIC_BASE_URL.",
}
MAX_SHOWN = 400
_TOO_LONG = re.compile(
    r"prompt is too long|exceeds? (the )?context (limit|window)|input is too long", re.IGNORECASE
)


def told(body: object) -> tuple[str, str]:
    """Return the type and the message of an error's body, as far as it has them."""
    match body:
        case {"error": {"type": str(name), "message": str(text)}}:
            return name, _line(text)
        case {"error": {"message": str(text)}} | {"message": str(text)}:
            return "", _line(text)
        case str(text) if not text.lstrip().startswith("<"):
            return "", _line(text)
        case _:
            return "", ""


def of_status(status: int, said: str, headers: Mapping[str, str], *, address: str) -> ProviderError:
    """Return the error for an answer with a failing HTTP status."""
    kind = KINDS.get(status, "server" if status >= 500 else "invalid_request")
    if status < 400:
        kind, said = "redirect", masked(headers.get("location", ""))
    if kind == "invalid_request" and _TOO_LONG.search(said):
        kind = "context_window"
    after = _retry_after(headers)
    asked = f" It asks to wait {_duration(after)}." if after else ""
    text = f"{HINTS[kind]}{asked} ({address}: {status}{', ' + said if said else ''})"
    should = headers.get("x-should-retry", "")
    retriable = should == "true" or (kind in RETRIABLE and should != "false")
    return ProviderError(text, kind=kind, retriable=retriable, retry_after=after)


def of_event(name: str, said: str, *, address: str, so_far: Answer) -> ProviderError:
    """Return the error for an error event inside a stream."""
    kind = EVENT_KINDS.get(name, "server")
    if kind == "invalid_request" and _TOO_LONG.search(said):
        kind = "context_window"
    text = f"{HINTS[kind]} ({address}: {said or name or 'an error without a reason'})"
    return of_break(kind, text, so_far=so_far, passing=kind in RETRIABLE)


def of_break(kind: str, text: str, *, so_far: Answer, passing: bool = True) -> ProviderError:
    """Return the error for a call that broke off, or never got through.

    It can be repeated if the reason passes and nothing of the answer was seen.
    """
    partial = so_far.partial()
    retriable = passing and partial is None
    return ProviderError(text, kind=kind, retriable=retriable, partial=partial, usage=so_far.usage)


def _line(text: str) -> str:
    return " ".join(text.split())[:MAX_SHOWN]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the server asks to wait, if it asks and can be understood."""
    with contextlib.suppress(ValueError):
        return max(0.0, float(headers.get("retry-after-ms", "")) / 1000)
    value = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(ValueError):
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return None


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.1f}".removesuffix(".0") + " s"
