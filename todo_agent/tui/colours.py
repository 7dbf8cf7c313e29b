"""Gives program text the colours of its language. Pure functions; slow ones are cached."""

from __future__ import annotations

from functools import lru_cache

from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound
from textual.content import Content, Span

MAX_CHARS = 100_000
"""Longer code keeps one colour: finding its colours would take seconds."""
QUICK_CHARS = 2_000
"""So much code gets its colours in a few milliseconds; for more, use a thread."""

STYLES = {
    Token.Comment: "$muted italic",
    Token.Keyword: "$secondary",
    Token.Keyword.Constant: "$accent",
    Token.Keyword.Type: "$primary",
    Token.Literal.Number: "$accent",
    Token.Literal.String: "$success",
    Token.Literal.String.Doc: "$muted",
    Token.Name.Attribute: "$primary",
    Token.Name.Builtin: "$primary",
    Token.Name.Builtin.Pseudo: "italic",
    Token.Name.Class: "$primary",
    Token.Name.Decorator: "$accent",
    Token.Name.Function: "$primary",
    Token.Name.Tag: "$primary",
    Token.Operator.Word: "$secondary",
    Token.Generic.Deleted: "$error",
    Token.Generic.Inserted: "$success",
    Token.Generic.Heading: "bold",
}


@lru_cache(maxsize=512)
def language_of(path: str) -> str:
    """Return the language that a file name stands for, empty where none is known."""
    lexer = find_lexer_class_for_filename(path) if path else None
    return lexer.aliases[0] if lexer is not None and lexer.aliases else ""


@lru_cache(maxsize=256)
def coloured(code: str, language: str) -> Content:
    """Return the code, whose lines end in newlines, with the colours of its language.

    What is not known, or too long, keeps one colour.
    """
    if not language or len(code) > MAX_CHARS:
        return Content(code)
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return Content(code)
    spans, at = [], 0
    for kind, text in lexer.get_tokens(code):
        style = _style(kind)
        if style and text:
            spans.append(Span(at, at + len(text), style))
        at += len(text)
    return Content(code, spans)


@lru_cache(maxsize=512)
def _style(kind: _TokenType) -> str:
    """Return the style of a kind of token, or of the kind it belongs to."""
    while kind not in STYLES and kind.parent is not None:
        kind = kind.parent
    return STYLES.get(kind, "")
