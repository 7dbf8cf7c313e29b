"""What is loaded when, seen in fresh interpreters, and what the public face is made of."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import todo_agent
from todo_agent.exit_codes import ExitCode

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "todo_agent").rglob("*.py"))
HEAVY = {"anthropic", "httpx", "httpx2", "pydantic", "rich", "textual"}


def loaded(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after some code."""
    program = f"import sys, os\ntry:\n{_indented(code)}\nexcept SystemExit: pass\n"
    program += "os.write(2, ' '.join(sys.modules).encode())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stderr.split())


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.splitlines())


def test_importing_the_package_loads_nothing_of_it():
    ours = {name for name in loaded("import todo_agent") if name.startswith("todo_agent")}
    assert ours == {"todo_agent"}


def test_the_agent_as_a_library_loads_neither_screen_nor_sdk():
    modules = loaded(
        "from todo_agent import Agent, ScriptedProvider, TodoListMiddleware, "
        "TodoMiddleware, TodoWriteExtension, ExtensionHost, tool"
    )
    assert modules & HEAVY == set()


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_nothing_heavy(option: str):
    modules = loaded(f"from todo_agent.cli import main\nmain([{option!r}])")
    assert modules & (HEAVY | {"asyncio", "todo_agent.agent", "todo_agent.session"}) == set()


@pytest.mark.parametrize("command", ["threads", "config", "doctor"])
def test_the_commands_load_neither_screen_nor_sdk(command: str):
    modules = loaded(f"from todo_agent.cli import main\nmain([{command!r}])")
    assert modules & {"anthropic", "textual"} == set()


@pytest.mark.parametrize("module", ["assemble", "session", "headless", "tui.run", "tui.app"])
def test_no_part_loads_the_sdk_before_it_is_needed(module: str):
    assert "anthropic" not in loaded(f"import todo_agent.{module}")


@pytest.mark.parametrize("module", ["assemble", "session", "headless", "late_workshop", "commands"])
def test_nothing_but_the_screen_loads_its_library(module: str):
    assert "textual" not in loaded(f"import todo_agent.{module}")


def test_every_public_name_is_there():
    assert len(todo_agent.__all__) > 50
    for name in todo_agent.__all__:
        assert getattr(todo_agent, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        todo_agent.Nothing  # noqa: B018


def test_editors_and_checkers_see_the_same_names():
    tree = ast.parse((ROOT / "todo_agent" / "__init__.py").read_text("utf-8"))
    seen = {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("todo_agent.")
        for alias in node.names
    }
    assert seen | {"__version__"} == set(todo_agent.__all__)


def test_the_version_is_the_one_that_is_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert todo_agent.__version__ == project["version"]


def importers(package: str) -> set[Path]:
    statement = re.compile(rf"^\s*(?:import|from) {package}\b", re.MULTILINE)
    paths = (path for path in SOURCES if statement.search(path.read_text("utf-8")))
    return {path.relative_to(ROOT / "todo_agent") for path in paths}


def test_the_sdk_and_the_screen_library_have_one_door_each():
    assert importers("anthropic") == {Path("providers/anthropic.py")}
    assert {path.parts[0] for path in importers("textual")} == {"tui"}


def test_the_environment_is_read_by_the_configuration_and_the_terminal_by_the_screen():
    readers = {
        str(path.relative_to(ROOT / "todo_agent"))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
        if isinstance(node.value, ast.Name) and node.value.id == "os"
    }
    assert readers == {"config.py", "tui/run.py"}


def test_the_readme_and_the_check_run_the_same_tests():
    readme = (ROOT / "README.md").read_text("utf-8")
    command = next(line for line in readme.splitlines() if "pytest" in line)
    assert command in (ROOT / ".ci" / "run").read_text("utf-8")


def test_every_dependency_has_its_reason_in_the_guide_for_contributors():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    names = [re.split(r"[\[><=]", dependency)[0] for dependency in project["dependencies"]]
    assert [name for name in names if f"`{name}`" not in guide] == []


def test_the_readme_names_every_exit_code_and_its_example_runs():
    readme = (ROOT / "README.md").read_text("utf-8")
    rows = {
        word
        for row in re.findall(r"^\| ([\d, ]+) \|", readme, re.MULTILINE)
        for word in row.split(", ")
    }
    assert rows == {str(code.value) for code in ExitCode}
    for code in re.findall(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE):
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
