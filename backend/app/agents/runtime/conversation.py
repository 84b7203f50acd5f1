"""Conversion between facts and the messages of an agent's conversation.

Text that comes from data is untrusted. It is passed as JSON between `<data>` marks; `<` is escaped inside, so
that no cell and no column name can close the mark.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from typing_extensions import TypeVar

from app.json_types import JsonValue
from app.modeling.facts.code_in_facts import omit_source
from app.modeling.facts.conversion import parse_facts
from app.tools.tool_errors import get_refusal, get_rejected_action

_OPEN, _CLOSE = "<data>\n", "\n</data>"


def to_data_block(value: JsonValue) -> str:
    """Encode a value as JSON between marks that it cannot close."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f"{_OPEN}{text}{_CLOSE}"


def from_data_block(text: str) -> JsonValue:
    """Decode the value of `to_data_block`; None if the text has no such block."""
    start, end = text.find(_OPEN), text.rfind(_CLOSE)
    if start < 0 or end < start:
        return None
    value: JsonValue = json.loads(text[start + len(_OPEN) : end])
    return value


def make_brief_message(brief: Mapping[str, JsonValue]) -> HumanMessage:
    """Make the first message of a conversation: the facts known to the session, as data."""
    return HumanMessage(f"What is known so far:\n{to_data_block(omit_source(dict(brief)))}", id="brief")


Brief = TypeVar("Brief", default=Mapping[str, Any])
"""The brief of an agent: a dataclass, or the JSON itself where a policy takes it apart."""
Shape = TypeVar("Shape")


@dataclass(frozen=True)
class CompletedCall:
    """A tool call of the conversation with its return value, or with the reason of its refusal."""

    name: str
    arguments: Mapping[str, Any]
    value: Any
    refusal: str | None = None

    @property
    def rejected_action(self) -> str | None:
        """The call in words, if the user did not approve it."""
        return get_rejected_action(self.value, self.name)

    def read(self, shape: type[Shape]) -> Shape:
        """Return the value as a dataclass with the facts that a policy uses. Raises InvalidInput."""
        return parse_facts(shape, self.value)


@dataclass(frozen=True)
class UserAnswer:
    """The value of `ask_user`."""

    answer: str


@dataclass(frozen=True)
class ConversationView(Generic[Brief]):
    """A conversation as an offline policy reads it."""

    brief: Brief
    completed_calls: tuple[CompletedCall, ...]

    def successes(self, *names: str) -> list[CompletedCall]:
        """Return the successful calls of these tools, oldest first."""
        return [answer for answer in self.completed_calls if answer.name in names and answer.refusal is None]

    def last_success(self, *names: str) -> CompletedCall | None:
        """Return the newest successful call of these tools, or None."""
        return next(iter(reversed(self.successes(*names))), None)

    def refusals(self, *names: str) -> list[CompletedCall]:
        return [
            answer for answer in self.completed_calls if answer.name in names and answer.refusal is not None
        ]

    def was_called(self, *names: str) -> bool:
        return any(answer.name in names for answer in self.completed_calls)


def read_conversation(messages: Sequence[BaseMessage]) -> ConversationView:
    """Read the brief and all completed tool calls from the messages of a conversation."""
    brief: Any = {}
    requests: dict[str, tuple[str, Mapping[str, Any]]] = {}
    completed: list[CompletedCall] = []
    for message in messages:
        # Reminders are messages of the same kind, and come later.
        if isinstance(message, HumanMessage) and not brief:
            brief = from_data_block(message.text) or {}
        elif isinstance(message, AIMessage):
            requests.update({str(call["id"]): (call["name"], call["args"]) for call in message.tool_calls})
        elif isinstance(message, ToolMessage) and message.tool_call_id in requests:
            name, arguments = requests[message.tool_call_id]
            value = from_data_block(message.text)
            refusal = get_refusal(value) if value is not None else message.text
            completed.append(CompletedCall(name, arguments, value, refusal))
    return ConversationView(brief, tuple(completed))
