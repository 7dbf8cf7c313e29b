"""Several calls in one message, through the real loop."""

from __future__ import annotations

import os

from todo_agent.agent.conversation import Conversation
from todo_agent.agent.loop import Agent
from todo_agent.providers.scripted import ScriptedProvider
from todo_agent.tools.coding import coding_tools


def edit(old: str, new: str) -> dict[str, object]:
    return {"name": "edit", "input": {"path": "f", "old_string": old, "new_string": new}}


async def results(bench, *calls: dict[str, object]) -> list[tuple[str, bool]]:
    """Let the model make all calls in one message; return what it reads of each."""
    conversation = Conversation()
    agent = Agent(
        ScriptedProvider([{"calls": list(calls)}, {"text": "done"}]),
        model="scripted",
        tools=coding_tools(bench.workspace, environ=os.environ),
    )
    await agent.run("go", lambda _: None, conversation=conversation)
    found = [result for message in conversation.messages for result in message.results]
    return [(result.text, result.is_error) for result in found]


async def test_changes_of_one_file_happen_in_the_order_of_the_message(bench):
    path = bench.file("f", "one\ntwo\nthree\n")
    assert await results(
        bench,
        edit("one", "1"),
        edit("two", "2"),
        edit("1\n2", "1+2"),
        {"name": "read", "input": {"path": "f"}},
        {"name": "shell", "input": {"command": "cat f; echo four >> f"}},
        {"name": "write", "input": {"path": "f", "content": "over\n"}},
    ) == [
        ("Edited f (+1 -1).", False),
        ("Edited f (+1 -1).", False),
        ("Edited f (+1 -2).", False),
        ("1→1+2\n2→three", False),
        ("1+2\nthree\n[exit code 0]", False),
        ("f: it changed since it was read. Read it again, then decide anew.", True),
    ]
    assert path.read_text() == "1+2\nthree\nfour\n"


async def test_one_failure_leaves_the_other_calls_alone(bench):
    path = bench.file("f", "one\n")
    texts = await results(
        bench,
        edit("none", "x"),
        {"name": "read_file", "input": {"path": "f"}},
        {"name": "read", "input": {"path": "f", "offset": "1"}},
        edit("one", "1"),
    )
    assert [is_error for _, is_error in texts] == [True, True, True, False]
    assert texts[2][0] == (
        "The arguments are not valid, so nothing was run: "
        'offset is the string "1", expected a whole number.'
    )
    assert path.read_text() == "1\n"


async def test_every_tool_is_well_described_for_the_model(bench):
    for tool in bench.tools.values():
        assert tool.description
        assert tool.schema["additionalProperties"] is False
        assert len(tool.description) < 1_500
