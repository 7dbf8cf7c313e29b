"""Markdown as it is shown: addresses are written out, HTML is only text. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from todo_agent.tui.text import prose

_WEB = ("http://", "https://", "mailto:")
_CODE = ("fence", "code_block")


def parser() -> MarkdownIt:
    """Return a parser whose tokens hold nothing that the reader does not see.

    A link shows its address behind its text, a picture its name and address. Only links to
    the web stay links.
    """
    made = MarkdownIt("gfm-like", {"html": False})
    made.core.ruler.push("addresses", _write_addresses)
    return made


@lru_cache(maxsize=4096)
def visible_texts(markdown: str) -> tuple[str, ...]:
    """Return the texts that a screen shows of a piece of Markdown, block by block."""
    return tuple(_texts(parser().parse(prose(markdown))))


def code_blocks(markdown: str) -> list[str]:
    """Return the code blocks of a whole answer, as they were written."""
    tokens = parser().parse(markdown)
    return [token.content.rstrip("\n") for token in tokens if token.type in _CODE]


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in _CODE:
            yield token.content.rstrip()
        elif token.type == "inline":
            yield "".join(_inline(token.children or ()))


def _inline(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text":
                yield re.sub(r"\s+", " ", token.content)
            case "code_inline":
                yield token.content
            case "hardbreak":
                yield "\n"
            case "softbreak":
                yield " "
            case _:
                pass


def _write_addresses(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in _CODE:
            token.content = prose(token.content)
        elif token.children:
            token.children = list(_written(token.children))


def _written(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield inline tokens with addresses as text, and without what is no link to the web."""
    inside: list[tuple[str, str]] = []
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrGet("href") or "")
            inside.append((address, ""))
            if address.startswith(_WEB):
                yield token
        elif token.type == "link_close":
            address, text = inside.pop()
            if address.startswith(_WEB):
                yield token
            if text not in (address, address.removeprefix("mailto:")):
                yield _text(f" ({address})")
        elif token.type == "image":
            yield _text(f"[image: {token.content}] ({token.attrGet('src')})")
        else:
            token.content = prose(token.content)
            inside = [(address, text + token.content) for address, text in inside]
            yield token


def _text(content: str) -> Token:
    return Token("text", "", 0, content=prose(content))
