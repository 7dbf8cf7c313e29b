"""Where requests go, and with which credential. Loads without the SDK."""

from __future__ import annotations

import re
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

VARIABLE = "ANTHROPIC_BASE_URL"
_PATH = re.compile(r"/*(/v1(/messages)?)?/*$")
_USERINFO = re.compile(r"(//|^)[^/\s]*@")


def base_url(text: str) -> str:
    """Return the address the SDK wants: without `/v1` and without a slash at the end.

    Raises:
        ValueError: it is no http or https address, or carries a query; the message names the
            setting and shows no credential.
    """
    address = text.strip()
    shown = masked(address)
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{VARIABLE} (base_url) is no valid address: {shown!r}.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError(
            f"{VARIABLE} (base_url) must be an address such as https://api.anthropic.com, "
            f"not {shown!r}."
        )
    if not address.isprintable() or " " in address:
        raise ValueError(f"{VARIABLE} (base_url) must have no white space: {shown!r}.")
    if parts.query or parts.fragment:
        raise ValueError(f"{VARIABLE} (base_url) must have no query or fragment: {shown!r}.")
    return _PATH.sub("", address)


def clean_key(text: str | None, *, variable: str) -> str | None:
    """Return a key without the white space around it, or None where nothing is left.

    Raises:
        ValueError: it cannot be sent in a header; the message does not show it.
    """
    key = (text or "").strip()
    if not all("!" <= character <= "~" for character in key):
        raise ValueError(f"{variable} must be visible ASCII characters on one line.")
    return key or None


def has_user(address: str) -> bool:
    """Return whether an address carries a user, who goes into the Authorization header."""
    return "@" in urlsplit(address).netloc


def masked(address: str) -> str:
    """Return an address without the user, password, query and fragment it may carry."""
    return without_passwords(re.split("[?#]", address)[0])


def without_passwords(text: str) -> str:
    """Return a text without the users and passwords of addresses in it."""
    return _USERINFO.sub(r"\1***@", text)


def proxy_of(address: str) -> str | None:
    """Return the proxy that the environment sets for an address, masked, or None."""
    parts = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return masked(proxy if "//" in proxy else f"http://{proxy}")
