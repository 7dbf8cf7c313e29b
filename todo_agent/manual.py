"""What each setting is for: the comments of the example configuration, by setting."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

_SECTION = re.compile(r"\[([\w.]+)\]")
_SETTING = re.compile(r"# (\w+) = ")


def example() -> str:
    """Return the example configuration: every setting, commented out."""
    return files("todo_agent").joinpath("config.example.toml").read_text("utf-8")


def descriptions() -> Mapping[str, str]:
    """Return, by setting, the comment above it; settings in a row share the comment."""
    found: dict[str, str] = {}
    section, words, ended = "", list[str](), True
    for line in example().splitlines():
        if header := _SECTION.match(line):
            section, words = f"{header[1]}.", []
        elif setting := _SETTING.match(line):
            found[section + setting[1]] = " ".join(words)
            ended = True
        elif line.startswith("# "):
            words = [line[2:]] if ended else [*words, line[2:]]
            ended = False
        else:
            ended = True
    return found
