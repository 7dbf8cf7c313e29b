from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.support import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "workspace"
    root.mkdir()
    return Bench(root)
