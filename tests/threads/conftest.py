from __future__ import annotations

from pathlib import Path

import pytest

from todo_agent.threads.store import ThreadStore


@pytest.fixture
def store(tmp_path: Path) -> ThreadStore:
    return ThreadStore(tmp_path / "data" / "threads")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data" / "threads"
