"""The ask_user tool: a question to the person, answered on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from todo_agent.agent.json import JsonObject
from todo_agent.agent.messages import Display
from todo_agent.agent.tools import Error, Outcome, Success, Tool, ToolCall, ToolContext
from todo_agent.tools.texts import description

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "minLength": 1},
        "choices": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "maxItems": 6,
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}


NOBODY = (
    "Nobody can answer here: the program runs without a screen. "
    "Decide yourself, and say in your answer what you assumed."
)


def ask_user_tool() -> Tool:
    """Return the tool that asks; where nobody can answer, it is an error that says so."""
    return Tool(
        "ask_user",
        description("ask_user"),
        SCHEMA,
        _ask,
        resources=lambda _: (),
        title=lambda args: str(args["question"]),
    )


async def _ask(call: ToolCall, ctx: ToolContext) -> Outcome:
    if ctx.ask is None:
        return Error(NOBODY)
    choices = call.args.get("choices", ())
    offered = tuple(str(choice) for choice in choices) if isinstance(choices, Sequence) else ()
    answer = await ctx.ask(str(call.args["question"]), offered)
    if answer is None:
        return Error(NOBODY)
    if not answer.strip():
        return Error("The person gave no answer. Go on without it, or ask in another way.")
    return Success(f"The person answered: {answer}", display=Display("answered", answer))
