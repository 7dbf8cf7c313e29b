"""Where requests go, and with which credential. Loads without the SDK."""

from __future__ import annotations

from urllib.parse import urlsplit

VARIABLE = "ANTHROPIC_BASE_URL"


def base_url(text: str) -> str:
    """Return the address the SDK wants: without `/v1` and without a slash at the end.

    Raises:
        ValueError: it is no http or https address, or carries a query; the message names the
            setting and shows no credential.
    """
    address = text.strip()
    parts = urlsplit(address)
    shown = masked(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"{VARIABLE} (base_url) must be an address such as https://api.anthropic.com, "
            f"not {shown!r}."
        )
    if parts.query or parts.fragment:
        raise ValueError(f"{VARIABLE} (base_url) must have no query or fragment: {shown!r}.")
    try:
        parts.port  # noqa: B018 -- reading it is what checks it
    except ValueError as error:
        raise ValueError(f"{VARIABLE} (base_url) has no valid port: {shown!r}.") from error
    return address.rstrip("/").removesuffix("/v1").rstrip("/")


def masked(address: str) -> str:
    """Return an address without the user and password it may carry."""
    scheme, separator, rest = address.partition("://")
    authority, slash, path = rest.partition("/")
    _, at, host = authority.rpartition("@")
    return (
        f"{scheme}{separator}***@{host}{slash}{path.partition('?')[0]}"
        if at
        else (address.partition("?")[0])
    )
