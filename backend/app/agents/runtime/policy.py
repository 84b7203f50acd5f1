"""An offline policy is a table of rules, read from the top: the first that has something to say decides.

A rule is pure: it looks at the conversation (`View`) and returns a `Move`, or None to leave it to the next.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from pydantic import BaseModel

from app.agents.runtime.conversation import View, read
from app.llm.offline import Decide
from app.sandbox.metering import metered_thread


@dataclass(frozen=True)
class AgentAction:
    """What to say and which tools to call; a finishing move calls the agent's output."""

    calls: tuple[tuple[str, dict[str, Any]], ...]
    says: str = ""


Rule = Callable[[View], AgentAction | None]


def call(tool: str, /, says: str = "", **arguments: Any) -> AgentAction:
    return AgentAction(((tool, arguments),), says)


def finish(output: BaseModel, says: str = "") -> AgentAction:
    """End the agent's turn with its typed output."""
    return AgentAction(((type(output).__name__, output.model_dump(mode="json")),), says)


def follow(rules: Sequence[Rule]) -> Decide:
    """The policy of a table; its last rule must always decide."""

    def decide(messages: Sequence[BaseMessage]) -> AIMessage:
        with metered_thread():  # goals and answers are strangers' text: their session pays for the reading
            view = read(messages)
            for rule in rules:
                if move := rule(view):
                    return _message(move)
        raise AssertionError("The last rule of a policy must always decide.")

    return decide


def _message(move: AgentAction) -> AIMessage:
    calls = [tool_call(name=name, args=arguments, id=None) for name, arguments in move.calls]
    return AIMessage(move.says, tool_calls=calls)
