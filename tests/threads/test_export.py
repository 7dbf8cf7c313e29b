from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

from tests.threads.support import STORY, record
from todo_agent.agent.conversation import Commit
from todo_agent.agent.messages import (
    Image,
    Message,
    Opaque,
    Text,
    ToolResult,
    ToolUse,
    message_to_json,
    user,
)
from todo_agent.threads.export import to_json, to_markdown
from todo_agent.threads.page import to_html
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
        "parent": "",
        "cwd": "/project",
        "model": "a-model",
        "created": made.created,
        "updated": made.updated,
        "plan": [{"status": "done", "content": "caf\ufffd"}],
        "messages": [message_to_json(message) for message in made.conversation.messages],
    }


class Page(HTMLParser):
    """What a browser would make of a page: its elements and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


HOSTILE = (
    "<script>alert(1)</script> <img src=http://evil.example/x onerror=alert(1)> "
    "![x](http://evil.example/y) [z](javascript:alert(1)) \x1b]0;t\x07 \udce9 </pre></details>"
)


def test_html_shows_the_plan_and_the_conversation() -> None:
    page = Page(to_html(thread(*STORY[:2]), [("done", "look"), ("in_progress", "fix")]))
    for words in ("Fix the parser", "✓ look", "▶ fix", "It is broken.", "I look.", "read"):
        assert words in page.text
    assert [tag for tag, _ in page.tags].count("details") == 2


def test_nothing_foreign_becomes_part_of_the_page() -> None:
    made = thread(
        Commit((user(HOSTILE),)),
        Commit(
            (
                Message(
                    "assistant",
                    (Text(HOSTILE), ToolUse("c", HOSTILE, {"path": HOSTILE})),
                ),
                Message(
                    "user",
                    (
                        ToolResult("c", (Text(HOSTILE), Image("text/html", HOSTILE))),
                        Image("image/png", '"><script>'),
                    ),
                ),
            )
        ),
    )
    page = Page(to_html(made, [('"><script>', HOSTILE)]))
    names = {tag for tag, _ in page.tags}
    assert names.isdisjoint({"script", "iframe", "object", "form", "base", "link"})
    assert [a["src"] for tag, a in page.tags if tag == "img"] == [
        'data:image/png;base64,"><script>'
    ]
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert {a["href"] for _, a in page.tags if "href" in a} == {"http://evil.example/y"}
    assert page.text.count("<script>alert(1)</script>") >= 5
    assert "\x1b" not in page.text
