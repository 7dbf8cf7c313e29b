"""The tools' descriptions, kept as Markdown beside the code."""

from __future__ import annotations

from importlib.resources import files


def description(tool: str) -> str:
    """Return what the model reads of a tool."""
    return files("todo_agent.tools").joinpath(f"{tool}.md").read_text("utf-8").strip()
