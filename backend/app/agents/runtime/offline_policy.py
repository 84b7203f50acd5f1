"""Offline policies: tables of rules, of which the first that applies decides.

A rule is a pure function of the conversation (`ConversationView`). It returns an `AgentAction`, or None if it
does not apply.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from pydantic import BaseModel

from app.agents.runtime.conversation import Brief, ConversationView, read_conversation
from app.llm.offline_chat_model import Decide
from app.sandbox.metering import meter_thread


@dataclass(frozen=True)
class AgentAction:
    """The tool calls of one turn and their message to the user. The last action calls the agent's output."""

    calls: tuple[tuple[str, dict[str, Any]], ...]
    message: str = ""


View = TypeVar("View")
Rule = Callable[[ConversationView[Brief]], AgentAction | None]


def call(tool: str, /, message: str = "", **arguments: Any) -> AgentAction:
    return AgentAction(((tool, arguments),), message)


def finish(output: BaseModel, message: str = "") -> AgentAction:
    """Make the action that ends the run with a typed output."""
    return AgentAction(((type(output).__name__, output.model_dump(mode="json")),), message)


def say(message: str) -> AgentAction:
    """Make the action that ends the run of an agent which ends with words."""
    return AgentAction((), message)


def make_policy(rules: Sequence[Rule[Brief]], read_brief: Callable[[Mapping[str, Any]], Brief]) -> Decide:
    """Make the policy of a table of rules, which see the brief as `read_brief` returns it.

    The last rule must apply to every conversation.
    """

    def read(messages: Sequence[BaseMessage]) -> ConversationView[Brief]:
        conversation = read_conversation(messages)
        return ConversationView(read_brief(conversation.brief), conversation.completed_calls)

    return make_view_policy(rules, read)


def make_view_policy(
    rules: Sequence[Callable[[View], AgentAction | None]], read: Callable[[Sequence[BaseMessage]], View]
) -> Decide:
    """Make the policy of rules that share a view of the conversation, which is `read` once for a decision."""

    def decide(messages: Sequence[BaseMessage]) -> AIMessage:
        with meter_thread():  # goals and answers are user input: parsing them is charged to their session
            view = read(messages)
            for rule in rules:
                if action := rule(view):
                    return _make_message(action)
        raise AssertionError("The last rule of a policy must apply to every conversation.")

    return decide


def _make_message(action: AgentAction) -> AIMessage:
    calls = [tool_call(name=name, args=arguments, id=None) for name, arguments in action.calls]
    return AIMessage(action.message, tool_calls=calls)
