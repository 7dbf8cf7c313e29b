"""Every Python block of the pages under docs/ runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks() -> list[object]:
    found = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text("utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            found.append(pytest.param(page, line, match[1], id=f"{page.stem}:{line}"))
    return found


@pytest.mark.parametrize(("page", "line", "code"), blocks())
def test_a_block_runs(page, line, code):
    # Blank lines before it, so that a traceback points into the page.
    compiled = compile("\n" * (line - 1) + code, str(page), "exec")
    exec(compiled, {"__name__": "__main__"})


LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere(page):
    targets = [page.parent / target for target in LINK.findall(page.read_text("utf-8"))]
    assert [target for target in targets if not target.exists()] == []
