"""Finds threads by words: in their title, directory and plan, and in what was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from todo_agent.agent.json import Json
from todo_agent.threads.errors import ThreadError
from todo_agent.threads.folder import Folder
from todo_agent.threads.journal import Replay
from todo_agent.threads.loading import load
from todo_agent.threads.summary import ThreadInfo

SPELLED = set('"\\')
"""Characters that JSON spells in another way, so that a journal need not contain them."""


def fits(folder: Folder, info: ThreadInfo, words: Sequence[str]) -> bool:
    """Return whether every word, in casefold, is somewhere in a thread. Reads the disk.

    The messages are read only for words that its list entry does not have.
    """
    head = "\n".join((info.id, info.title, info.cwd, *_texts(info.plan))).casefold()
    missing = [word for word in words if word not in head]
    if not missing:
        return True
    try:
        if not _may_contain(folder, missing):
            return False
        replay = Replay(load(folder).records)
    except (OSError, ThreadError):
        # Its list entry says that it is damaged; its text cannot be had.
        return False
    said = "\n".join(message.text for message in replay.messages).casefold()
    return all(word in said for word in missing)


def _may_contain(folder: Folder, words: Sequence[str]) -> bool:
    """Return whether it is worth to decode the journal."""
    if not folder.journal.exists():
        return True
    raw = folder.journal.read_bytes().decode("utf-8", "replace").casefold()
    return all(word in raw for word in words if word.isprintable() and not SPELLED & set(word))


def _texts(plan: Json) -> Iterator[str]:
    """Yield the contents of a stored plan's todos."""
    todos = plan.get("todos") if isinstance(plan, Mapping) else None
    for todo in todos if isinstance(todos, list) else ():
        content = todo.get("content") if isinstance(todo, Mapping) else None
        if isinstance(content, str):
            yield content
