"""Keys do not get into the conversation."""

from __future__ import annotations

import os

import pytest

from todo_agent.agent.conversation import Conversation
from todo_agent.agent.loop import Agent
from todo_agent.agent.messages import Display, Text, message_to_json
from todo_agent.agent.tools import Error, Success, ToolCall
from todo_agent.masking import MASK, LiveMasking, Masking
from todo_agent.middleware.secrets import Secrets
from todo_agent.providers.scripted import ScriptedProvider
from todo_agent.tools.coding import coding_tools
from todo_agent.tools.workspace import Workspace

KEY = "sk-ant-TESTSECRET"


async def test_our_key_is_masked_for_the_model_the_screen_and_the_disk(tmp_path):
    (tmp_path / "config.toml").write_text(f'key = "{KEY}"\ntoken = "plain-token-1"\n')
    conversation = Conversation()
    calls = [
        {"name": "shell", "input": {"command": "cat config.toml; exit 1"}},
        {"name": "read", "input": {"path": "config.toml"}},
        {"name": "grep", "input": {"pattern": "key|token"}},
    ]
    agent = Agent(
        ScriptedProvider([{"calls": calls}, {"text": "done"}]),
        model="scripted",
        tools=coding_tools(Workspace(tmp_path), environ=os.environ),
        middleware=[Secrets(["plain-token-1"])],
    )
    await agent.run("go", lambda _: None, conversation=conversation)
    stored = str([message_to_json(message) for message in conversation.messages])
    assert KEY not in stored
    assert "plain-token-1" not in stored
    results = [result for message in conversation.messages for result in message.results]
    assert results[1].text == f'1→key = "{MASK}"\n2→token = "{MASK}"'


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("x sk-ant-api03-abc_DEF-123 y", f"x {MASK} y"),
        ("ghp_" + "a" * 36, MASK),
        ("AKIAIOSFODNN7EXAMPLE", MASK),
        ("ask-ant-hill-and-more", "ask-ant-hill-and-more"),
        ("sk-ant-…", "sk-ant-…"),
        ("short", "short"),
    ],
)
def test_what_is_a_key_and_what_is_not(text, masked):
    assert Secrets(["short", ""]).mask(text) == masked


async def test_every_kind_of_outcome_is_masked_or_left(tmp_path):
    secrets = Secrets()
    display = Display(f"s {KEY}", f"b {KEY}", kind="output")
    shown = Display(f"s {MASK}", f"b {MASK}", kind="output")
    for outcome, masked in (
        (Success(KEY, display=display), Success(MASK, display=shown)),
        (Success((Text(KEY),)), Success((Text(MASK),))),
        (Error(KEY, display), Error(MASK, shown)),
        (Error("fine"), Error("fine")),
    ):

        async def call_next(call, outcome=outcome):
            return outcome

        call = ToolCall("1", "x", {})
        assert await secrets.wrap_tool_call(call, call_next, None) == masked


TOKEN = "plain+token/with=signs"


@pytest.mark.parametrize("secret", [KEY, TOKEN])
def test_a_secret_in_two_pieces_is_masked_wherever_it_is_cut(secret):
    text = f"before {secret} after\n"
    for cut in range(len(text) + 1):
        live = LiveMasking(Masking([TOKEN]))
        shown = live("call", text[:cut]) + live("call", text[cut:]) + live.end("call")
        assert shown == f"before {MASK} after\n", cut


def test_what_can_be_no_secret_is_shown_at_once_and_a_long_word_does_not_wait_for_ever():
    live = LiveMasking(Masking([TOKEN]))
    assert live("call", "...") == "..."
    assert live("call", "done") == ""
    assert live("other", "x ") == "x "
    assert live("call", "\n") == "done\n"
    assert len(live("call", "a" * 5000)) > 4000
