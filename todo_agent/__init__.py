"""A terminal coding agent whose plan is a durable, editable, first-class thing.

The names below are the library: the agent loop, its middleware contract, and the todo
systems. Importing the package loads none of them; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from todo_agent.agent.control import Control as Control
    from todo_agent.agent.conversation import Conversation as Conversation
    from todo_agent.agent.decorator import tool as tool
    from todo_agent.agent.events import ApprovalRequested as ApprovalRequested
    from todo_agent.agent.events import Compacted as Compacted
    from todo_agent.agent.events import Event as Event
    from todo_agent.agent.events import MessageAdded as MessageAdded
    from todo_agent.agent.events import QuestionAsked as QuestionAsked
    from todo_agent.agent.events import QuestionClosed as QuestionClosed
    from todo_agent.agent.events import RetryScheduled as RetryScheduled
    from todo_agent.agent.events import RunFinished as RunFinished
    from todo_agent.agent.events import RunStarted as RunStarted
    from todo_agent.agent.events import StateChanged as StateChanged
    from todo_agent.agent.events import SteeringQueued as SteeringQueued
    from todo_agent.agent.events import StepStarted as StepStarted
    from todo_agent.agent.events import TextDelta as TextDelta
    from todo_agent.agent.events import ThinkingDelta as ThinkingDelta
    from todo_agent.agent.events import ToolFinished as ToolFinished
    from todo_agent.agent.events import ToolInputDelta as ToolInputDelta
    from todo_agent.agent.events import ToolOutput as ToolOutput
    from todo_agent.agent.events import ToolStarted as ToolStarted
    from todo_agent.agent.events import UsageChanged as UsageChanged
    from todo_agent.agent.events import Warned as Warned
    from todo_agent.agent.events import event_to_json as event_to_json
    from todo_agent.agent.loop import Agent as Agent
    from todo_agent.agent.messages import Display as Display
    from todo_agent.agent.messages import Image as Image
    from todo_agent.agent.messages import Message as Message
    from todo_agent.agent.messages import Opaque as Opaque
    from todo_agent.agent.messages import Text as Text
    from todo_agent.agent.messages import Thinking as Thinking
    from todo_agent.agent.messages import ToolResult as ToolResult
    from todo_agent.agent.messages import ToolUse as ToolUse
    from todo_agent.agent.middleware import AskingMiddleware as AskingMiddleware
    from todo_agent.agent.middleware import Block as Block
    from todo_agent.agent.middleware import CallContext as CallContext
    from todo_agent.agent.middleware import CallModel as CallModel
    from todo_agent.agent.middleware import CallTool as CallTool
    from todo_agent.agent.middleware import Directive as Directive
    from todo_agent.agent.middleware import Middleware as Middleware
    from todo_agent.agent.middleware import Proceed as Proceed
    from todo_agent.agent.middleware import RunContext as RunContext
    from todo_agent.agent.middleware import Suspend as Suspend
    from todo_agent.agent.outcomes import Answer as Answer
    from todo_agent.agent.outcomes import Answered as Answered
    from todo_agent.agent.outcomes import Blocked as Blocked
    from todo_agent.agent.outcomes import Failed as Failed
    from todo_agent.agent.outcomes import Interrupted as Interrupted
    from todo_agent.agent.outcomes import Question as Question
    from todo_agent.agent.outcomes import RunEnd as RunEnd
    from todo_agent.agent.outcomes import Suspended as Suspended
    from todo_agent.agent.prompt import PromptSection as PromptSection
    from todo_agent.agent.provider import ModelRequest as ModelRequest
    from todo_agent.agent.provider import ModelResponse as ModelResponse
    from todo_agent.agent.provider import Provider as Provider
    from todo_agent.agent.provider import ProviderError as ProviderError
    from todo_agent.agent.provider import Usage as Usage
    from todo_agent.agent.state import Key as Key
    from todo_agent.agent.state import State as State
    from todo_agent.agent.state import Update as Update
    from todo_agent.agent.tools import Error as Error
    from todo_agent.agent.tools import Fatal as Fatal
    from todo_agent.agent.tools import Locks as Locks
    from todo_agent.agent.tools import NeedsApproval as NeedsApproval
    from todo_agent.agent.tools import Outcome as Outcome
    from todo_agent.agent.tools import Success as Success
    from todo_agent.agent.tools import Tool as Tool
    from todo_agent.agent.tools import ToolCall as ToolCall
    from todo_agent.agent.tools import ToolContext as ToolContext
    from todo_agent.extensions.base import Extension as Extension
    from todo_agent.extensions.host import ExtensionHost as ExtensionHost
    from todo_agent.plan.extension import TodoWriteExtension as TodoWriteExtension
    from todo_agent.plan.middleware import TodoListMiddleware as TodoListMiddleware
    from todo_agent.plan.middleware import TodoMiddleware as TodoMiddleware
    from todo_agent.plan.plan import Plan as Plan
    from todo_agent.plan.plan import Status as Status
    from todo_agent.plan.plan import Todo as Todo
    from todo_agent.providers.anthropic import AnthropicProvider as AnthropicProvider
    from todo_agent.providers.scripted import ScriptedProvider as ScriptedProvider

__version__ = "0.1.0"

_HOMES = {
    "agent.control": ("Control",),
    "agent.conversation": ("Conversation",),
    "agent.decorator": ("tool",),
    "agent.events": (
        "ApprovalRequested",
        "Compacted",
        "Event",
        "MessageAdded",
        "QuestionAsked",
        "QuestionClosed",
        "RetryScheduled",
        "RunFinished",
        "RunStarted",
        "StateChanged",
        "SteeringQueued",
        "StepStarted",
        "TextDelta",
        "ThinkingDelta",
        "ToolFinished",
        "ToolInputDelta",
        "ToolOutput",
        "ToolStarted",
        "UsageChanged",
        "Warned",
        "event_to_json",
    ),
    "agent.loop": ("Agent",),
    "agent.messages": (
        "Display",
        "Image",
        "Message",
        "Opaque",
        "Text",
        "Thinking",
        "ToolResult",
        "ToolUse",
    ),
    "agent.middleware": (
        "AskingMiddleware",
        "Block",
        "CallContext",
        "CallModel",
        "CallTool",
        "Directive",
        "Middleware",
        "Proceed",
        "RunContext",
        "Suspend",
    ),
    "agent.outcomes": (
        "Answer",
        "Answered",
        "Blocked",
        "Failed",
        "Interrupted",
        "Question",
        "RunEnd",
        "Suspended",
    ),
    "agent.prompt": ("PromptSection",),
    "agent.provider": ("ModelRequest", "ModelResponse", "Provider", "ProviderError", "Usage"),
    "agent.state": ("Key", "State", "Update"),
    "agent.tools": (
        "Error",
        "Fatal",
        "Locks",
        "NeedsApproval",
        "Outcome",
        "Success",
        "Tool",
        "ToolCall",
        "ToolContext",
    ),
    "extensions.base": ("Extension",),
    "extensions.host": ("ExtensionHost",),
    "plan.extension": ("TodoWriteExtension",),
    "plan.middleware": ("TodoListMiddleware", "TodoMiddleware"),
    "plan.plan": ("Plan", "Status", "Todo"),
    "providers.anthropic": ("AnthropicProvider",),
    "providers.scripted": ("ScriptedProvider",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "__version__"])  # noqa: PLE0605 -- derived, so that no name is missing


def __getattr__(name: str) -> object:
    """Load a public name when it is first used (PEP 562)."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'todo_agent' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"todo_agent.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
