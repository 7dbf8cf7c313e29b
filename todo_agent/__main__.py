"""python -m todo_agent."""

from __future__ import annotations

import sys

from todo_agent.cli import main

sys.exit(main())
