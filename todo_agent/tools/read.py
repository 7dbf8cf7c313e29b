"""The read tool: text with line numbers, images and documents as such."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.tools import paths
from todo_agent.tools.encoding import PROBE_BYTES, Encoding, encoding_of, guess
from todo_agent.tools.files import check_inside, read_bytes
from todo_agent.tools.media import media_of
from todo_agent.tools.seen import digest_of
from todo_agent.tools.texts import description
from todo_agent.tools.workspace import Workspace

MAX_LINES = 2_000
MAX_COLUMNS = 2_000
"""A longer line is cut, with a mark that says so."""
MAX_CHARS = 60_000
"""Of one result, line numbers not counted."""

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1."},
        "limit": {"type": "integer", "minimum": 1, "description": "How many lines."},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def read_tool(workspace: Workspace) -> Tool:
    """Return the tool that reads a file and remembers that it was read."""

    async def run(call: ToolCall, ctx: ToolContext) -> Outcome:
        return await paths.in_thread(lambda: _read(workspace, call.args, approved=ctx.approved))

    return Tool(
        "read",
        description("read"),
        SCHEMA,
        run,
        locks=paths.READS,
        resources=paths.resources(workspace, "read"),
        title=paths.title(workspace),
    )


def _read(workspace: Workspace, args: JsonObject, *, approved: bool) -> Outcome:
    path = workspace.resolve(paths.path_of(args))
    shown = workspace.shown(path)
    check_inside(workspace, path, approved=approved)
    data = read_bytes(path, shown)
    if data is None:
        return Error(_missing(workspace, path))
    media = media_of(data)
    if media is not None:
        workspace.seen.saw(path, digest_of(data))
        return media.outcome(shown, base64.b64encode(data).decode())
    encoding = encoding_of(data[:PROBE_BYTES])
    if encoding is None:
        return Error(f"{shown} is binary ({len(data):,} bytes). Look into it with a shell command.")
    workspace.seen.saw(path, digest_of(data))
    if not data[len(encoding.mark) :]:
        return Success(f"[{shown} is empty]", display=Display("empty"))
    text, notes = _decode(data, encoding)
    page = _page(text, _whole(args, "offset", 1), _whole(args, "limit", MAX_LINES))
    if page is None:
        return Error(f"{shown} has only {_count(text)} lines.")
    return _outcome(page, notes, shown)


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines of a text that are shown."""

    lines: tuple[str, ...]
    first: int
    total: int

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1

    @property
    def complete(self) -> bool:
        return len(self.lines) == self.total


def _page(text: str, offset: int, limit: int) -> _Page | None:
    """Return the lines from `offset`, as many as asked for and as fit; None past the end."""
    total = _count(text)
    if offset > total:
        return None
    split = text.split("\n", min(offset - 1 + limit, total))
    lines: list[str] = []
    room = MAX_CHARS
    for line in islice(split, offset - 1, min(offset - 1 + limit, total)):
        shown = _narrow(line.removesuffix("\r"))
        room -= len(shown)
        if room < 0 and lines:
            break
        lines.append(shown)
    return _Page(tuple(lines), offset, total)


def _outcome(page: _Page, notes: list[str], shown: str) -> Success:
    width = len(str(page.last))
    numbered = [f"{page.first + i:>{width}}→{line}" for i, line in enumerate(page.lines)]
    if page.last < page.total:
        of = f"lines {page.first}-{page.last} of {page.total}"
        notes = [*notes, f"{of}; read on with offset={page.last + 1}"]
    content = "\n".join([*numbered, *(f"[{note}]" for note in notes)])
    summary = f"{page.total} line{'s' * (page.total != 1)}"
    if not page.complete:
        summary = f"lines {page.first}-{page.last} of {page.total}"
    return Success(content, display=Display(summary, "\n".join(page.lines), path=shown))


def _decode(data: bytes, encoding: Encoding) -> tuple[str, list[str]]:
    """Return the text, marked where it is not all that the file holds."""
    try:
        text = encoding.decode(data)
    except UnicodeDecodeError as error:
        name = guess(data)
        text = data.decode(name or "utf-8", "replace")
        likely = (
            f"it looks like {name} and is shown as such" if name else "bad bytes show as \ufffd"
        )
        note = f"not valid {encoding.codec} at byte {error.start}: {likely}; it cannot be edited"
        return text, [note]
    notes = [] if encoding.codec == "utf-8" else [f"stored as {encoding.codec}; edits keep that"]
    if "\r\n" in text:
        notes.append("lines end in CRLF; write plain line breaks, edits keep the file's own")
    return text, notes


def _narrow(line: str) -> str:
    left_out = len(line) - MAX_COLUMNS
    if left_out <= 0:
        return line
    return (
        f"{line[:MAX_COLUMNS]}… [{left_out:,} more characters; see them with cut -c in the shell]"
    )


def _count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _whole(args: JsonObject, name: str, default: int) -> int:
    value = args.get(name, default)
    return int(value) if isinstance(value, int | float) else default


def _missing(workspace: Workspace, path: Path) -> str:
    """Say that a file is not there, and what is there under a like name."""
    # Only a wrong path needs it, and it is slow to import.
    from rapidfuzz import process  # noqa: PLC0415

    shown = workspace.shown(path)
    try:
        names = sorted(islice((entry.name for entry in path.parent.iterdir()), 5_000))
    except OSError:
        return f"{shown} does not exist, nor does its directory. Find files with glob."
    alike = [path.parent / name for name, *_ in process.extract(path.name, names, score_cutoff=70)]
    hint = f" Like it: {', '.join(workspace.shown(a) for a in alike)}." if alike else ""
    return f"{shown} does not exist.{hint}"
