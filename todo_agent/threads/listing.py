"""What a list shows of a thread, without reading its messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from todo_agent.threads.errors import ThreadError
from todo_agent.threads.folder import Folder
from todo_agent.threads.journal import Replay, first_header
from todo_agent.threads.loading import parsed, summary_in
from todo_agent.threads.records import Header
from todo_agent.threads.summary import Summary, ThreadInfo
from todo_agent.threads.upgrade import upgrade


def info(folder: Folder) -> ThreadInfo | None:
    """Return what a list shows of a thread, or None if it was removed meanwhile.

    Only thread.json is read, and where that cannot be, the first line of the journal.
    """
    try:
        folder.refuse_special()
        return _summarised(folder) or _unsummarised(folder)
    except (OSError, ThreadError):
        return _unknown(folder)


def _summarised(folder: Folder) -> ThreadInfo | None:
    content = folder.summary.read_bytes() if folder.summary.exists() else None
    data = parsed(content)
    old = upgrade(data)
    summary = Summary.of(folder.id, Replay(old.records)) if old else summary_in(data)
    if summary is None:
        return None
    changed = _changed(folder.journal)
    # It is behind in the middle of a turn, and after a kill.
    behind = changed > _changed(folder.summary)
    shown = ThreadInfo.of(folder.id, summary)
    return replace(shown, updated=changed) if behind else shown


def _unsummarised(folder: Folder) -> ThreadInfo:
    header = first_header(folder.journal) or Header()
    return ThreadInfo(
        folder.id,
        header.title,
        header.cwd,
        updated=_changed(folder.journal),
        created=header.created,
        model=header.model,
        damaged=True,
    )


def _unknown(folder: Folder) -> ThreadInfo | None:
    try:
        return ThreadInfo(folder.id, updated=folder.path.lstat().st_mtime, damaged=True)
    except FileNotFoundError:
        return None


def _changed(file: Path) -> float:
    """Return when a file was last changed, in seconds since 1970; 0 if there is none."""
    return file.stat().st_mtime if file.exists() else 0.0
