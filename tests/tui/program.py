"""Runs the app on a stand-in in a real terminal, and writes down what came of it.

Usage: program.py REPORT [render|worker], the last word naming where it is to break.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, cast

from tests.tui.stand_in import Bench, StandIn, plan
from todo_agent.log import Crash, Log
from todo_agent.tui import app
from todo_agent.tui.run import run_tui
from todo_agent.tui.settings import TuiSettings
from todo_agent.tui.widgets.status_bar import StatusBar


def breaks(*_: object) -> None:
    raise ZeroDivisionError("on purpose")


def main(report: Path, where: str) -> int:
    session = StandIn(plan=plan("x read", "> \x1b]0;pwned\x07fix", ". test"))
    begin = session.begin

    def begin_and_break(text: str) -> None:
        begin(text)
        if where == "render":
            cast("Any", StatusBar).render = breaks
        if where == "worker":
            cast("Any", app.Router).route = breaks

    cast("Any", session).begin = begin_and_break
    bench = cast("Any", Bench({None: session}))
    try:
        with Log(report.with_suffix(".log"), debug=False):
            return run_tui(bench, thread=None, prompt="", settings=TuiSettings())
    except Crash as crash:
        sys.stderr.write(f"{crash}\n")
        return 1
    finally:
        report.write_text(json.dumps({"sent": session.sent, "closed": session.closed}))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
