"""How facts are put to an agent and read back from its conversation.

Text that comes from data is untrusted. It stands as JSON between `<data>` marks; `<` is escaped inside, so
nothing in a cell or a column name can close the mark.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from app.json_types import JsonValue
from app.modeling.problem.custom_code import omit_source
from app.tools.invoke import get_refusal

_OPEN, _CLOSE = "<data>\n", "\n</data>"


def fenced(value: JsonValue) -> str:
    """The value as JSON between marks that it cannot close."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f"{_OPEN}{text}{_CLOSE}"


def unfenced(text: str) -> JsonValue:
    """What `fenced` was given; None when the text holds no such block."""
    start, end = text.find(_OPEN), text.rfind(_CLOSE)
    if start < 0 or end < start:
        return None
    value: JsonValue = json.loads(text[start + len(_OPEN) : end])
    return value


def brief_message(brief: Mapping[str, JsonValue]) -> HumanMessage:
    """The first message of every conversation: what the session knows, as data."""
    return HumanMessage(f"What is known so far:\n{fenced(omit_source(dict(brief)))}", id="brief")


@dataclass(frozen=True)
class Answered:
    """One tool call of the conversation and what came back."""

    name: str
    arguments: Mapping[str, Any]
    value: Any
    refusal: str | None = None


@dataclass(frozen=True)
class View:
    """A conversation as a policy reads it."""

    brief: Mapping[str, Any]
    answered: tuple[Answered, ...]

    def all(self, *names: str) -> list[Answered]:
        """Calls of these tools that were answered, oldest first."""
        return [answer for answer in self.answered if answer.name in names and answer.refusal is None]

    def last(self, *names: str) -> Answered | None:
        """The newest of `all`."""
        return next(iter(reversed(self.all(*names))), None)

    def refused(self, *names: str) -> list[Answered]:
        return [answer for answer in self.answered if answer.name in names and answer.refusal is not None]

    def tried(self, *names: str) -> bool:
        return any(answer.name in names for answer in self.answered)


def read(messages: Sequence[BaseMessage]) -> View:
    """The view of a conversation: its brief, and every tool call that has come back."""
    brief: Any = {}
    asked: dict[str, tuple[str, Mapping[str, Any]]] = {}
    answered: list[Answered] = []
    for message in messages:
        if isinstance(message, HumanMessage) and not brief:
            brief = unfenced(message.text) or {}
        elif isinstance(message, AIMessage):
            asked.update({str(call["id"]): (call["name"], call["args"]) for call in message.tool_calls})
        elif isinstance(message, ToolMessage) and message.tool_call_id in asked:
            name, arguments = asked[message.tool_call_id]
            value = unfenced(message.text)
            refusal = get_refusal(value) if value is not None else message.text
            answered.append(Answered(name, arguments, value, refusal))
    return View(brief, tuple(answered))
