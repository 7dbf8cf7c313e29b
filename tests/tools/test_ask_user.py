"""A question of the model to the person."""

from __future__ import annotations

from todo_agent.agent.messages import Display
from todo_agent.agent.state import State
from todo_agent.agent.tools import Error, Success, ToolCall, ToolContext
from todo_agent.tools.ask_user import ask_user_tool

CALL = ToolCall("1", "ask_user", {"question": "Which?", "choices": ["A", "B"]})


async def test_the_answer_reaches_the_model():
    asked = []

    async def ask(question, choices):
        asked.append((question, choices))
        return "A"

    outcome = await ask_user_tool().run(CALL, ToolContext("thread", State(), ask=ask))
    assert outcome == Success("The person answered: A", display=Display("answered", "A"))
    assert asked == [("Which?", ("A", "B"))]


async def test_no_answer_and_nobody_to_ask_are_errors_that_say_so():
    async def silent(question, choices):
        return " "

    assert await ask_user_tool().run(CALL, ToolContext("thread", State(), ask=silent)) == Error(
        "The person gave no answer. Go on without it, or ask in another way."
    )
    assert await ask_user_tool().run(CALL, ToolContext("thread", State())) == Error(
        "Nobody can answer here: the program runs without a screen. "
        "Decide yourself, and say in your answer what you assumed."
    )


def test_asking_touches_nothing():
    assert ask_user_tool().touches(CALL.args) == ()
