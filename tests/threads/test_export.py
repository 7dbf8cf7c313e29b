from __future__ import annotations

import json
from pathlib import Path

from tests.threads.support import STORY, record
from todo_agent.agent.conversation import Commit
from todo_agent.agent.messages import (
    Image,
    Message,
    Opaque,
    Text,
    ToolResult,
    message_to_json,
    user,
)
from todo_agent.threads.export import to_json, to_markdown
from todo_agent.threads.store import Thread


def thread(*commits: Commit) -> Thread:
    made = Thread.in_memory(Path("/project"), model="a-model", reason="a test.")
    return record(made, commits)


def test_markdown_shows_the_plan_and_the_conversation() -> None:
    made = thread(*STORY[:2])
    rows = [("done", "look\n- [x] fake"), ("in_progress", "fix"), ("pending", "test")]
    assert to_markdown(made, rows) == (
        f"# Fix the parser\n\n`{made.id}` in `/project`\n\n"
        "## Plan\n\n- [x] look - [x] fake\n- [>] fix\n- [ ] test\n\n"
        "## User\n\nFix the parser\nIt is broken.\n\n"
        "## Agent\n\nI look.\n\n"
        '### Call: read\n\n```\n{"path": "a\u2028b", "n": 1000000000000000000000000000000}\n```\n\n'
        '### Call: read\n\n```\n{"path": "{\\"v\\":1,\\"kind\\":\\"commit\\"}"}\n```\n'
    )


def test_markdown_is_safe_in_a_terminal_and_its_fences_hold() -> None:
    content = (
        Image("image/png", "AAAA"),
        Opaque({"type": "document"}),
        ToolResult("c", (Text("\x1b]0;title\x07```\nout"),), is_error=True),
        ToolResult("d", (Image("image/png", "AAAA"),)),
    )
    made = thread(Commit((Message("user", content),)), Commit((user("n\x9b1mo", synthetic=True),)))
    _, _, body = to_markdown(made, []).partition("`/project`\n\n")
    assert body == (
        "(image)\n\n(document)\n\n### Error\n\n````\n```\nout\n````\n\n"
        "### Result\n\n(image)\n\n## Note\n\nn1mo\n"
    )


def test_json_is_the_whole_thread() -> None:
    made = thread(*STORY)
    assert json.loads(to_json(made, [("done", "caf\udce9")])) == {
        "id": made.id,
        "title": "Fix the parser",
        "cwd": "/project",
        "model": "a-model",
        "created": made.created,
        "updated": made.updated,
        "plan": [{"status": "done", "content": "caf\ufffd"}],
        "messages": [message_to_json(message) for message in made.conversation.messages],
    }
