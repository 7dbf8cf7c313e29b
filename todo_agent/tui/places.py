"""Paths as people write them."""

from __future__ import annotations

import os
from pathlib import Path


def short_path(path: str) -> str:
    """Return a path, or a place in a file, with `~` for the person's home."""
    home = str(Path.home())
    below = path.startswith(home + os.sep) or path == home
    return f"~{path[len(home) :]}" if below and home != os.sep else path
