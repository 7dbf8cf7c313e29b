"""The offline demo: a small project with a failing test, and the script that mends it."""

from __future__ import annotations

import json
import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from todo_agent.plan.discipline import Discipline
from todo_agent.providers.scripted import ScriptedProvider

PROMPT = "A test of this project fails. Find out why and fix it."
"""What a person asks in it."""
THINKING_SECONDS = 0.7
TYPING_SECONDS = 0.02
"""Between two pieces of an answer."""


def demo_model(discipline: Discipline, *, tempo: float) -> ScriptedProvider:
    """Return the demo's model; its script is in the words of the guarded discipline.

    `tempo` is 1 for an eye that follows, and 0 for no waiting at all.
    """
    script = files("todo_agent.demo").joinpath("script.json").read_text("utf-8")
    words = {"write_todos": discipline.tool.name, "completed": discipline.shape.words.done}
    for word, other in words.items():
        script = script.replace(f'"{word}"', f'"{other}"')
    data = json.loads(script)
    waits = {"delay": THINKING_SECONDS * tempo, "pace": TYPING_SECONDS * tempo}
    replies = [{**reply, **waits} for reply in data["replies"]]
    return ScriptedProvider(replies, then=data["then"], aside={**data["aside"], **waits})


def demo_workspace() -> Path:
    """Copy the demo's project into a fresh temporary directory."""
    target = Path(tempfile.mkdtemp(prefix="todo-agent-demo-")) / "basket"
    with as_file(files("todo_agent.demo") / "project") as project:
        shutil.copytree(project, target, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "check").chmod(0o755)
    return target
