"""The examples of the pages about the plan run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = [
    pytest.param(code, id=f"{page}-{number}")
    for page in ("free", "guarded", "sequential", "choosing")
    for number, code in enumerate(
        re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text("utf-8"), re.DOTALL)
    )
]


def test_every_page_has_its_example():
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs(code):
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=DOCS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
