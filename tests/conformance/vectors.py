"""Reads the vectors: test cases as JSON, in the format of `vectors/README.md`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ.get("TODO_AGENT_VECTORS") or Path(__file__).parent / "vectors")
ANYTHING = "*"


def vectors(discipline: str) -> list[Any]:
    """Return the vectors of a file as parameters whose ids are theirs."""
    data = json.loads((FOLDER / f"{discipline}.json").read_text("utf-8"))
    return [
        pytest.param(expand(vector), id=f"{vector['id']}-{vector['category']}")
        for vector in data["vectors"]
    ]


def expand(value: Any) -> Any:
    """Write out the big values that a vector only describes."""
    match value:
        case {"$repeat": [text, times]}:
            return text * times
        case {"$join": parts}:
            return "".join(expand(part) for part in parts)
        case {"$list": runs}:
            return [item for part, times in runs for item in [expand(part)] * times]
        case dict():
            return {name: expand(item) for name, item in value.items()}
        case list():
            return [expand(item) for item in value]
        case _:
            return value


def refusal_of(text: str) -> str:
    """Return the name of the refusal a result tells."""
    assert text.startswith("Refused ("), text
    return text.removeprefix("Refused (").partition(")")[0]


def assert_refused(text: str, expected: dict[str, Any]) -> None:
    """Check that a call was refused for a right reason."""
    assert refusal_of(text) in expected.get("refusal_any", [expected["refusal"]]), text
