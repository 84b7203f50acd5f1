"""Conversations made short for a chat model, which pays for every word and reads only so many.

Policies read them whole.
"""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from app.agents.runtime.conversation import fenced, unfenced
from app.json_types import JsonValue

LONG_CHARACTERS = 12_000
LEFT_OUT = "Left out, because the conversation has become long. Call the tool again if you need it."
_ITEMS = (60, 25, 10, 4)
_CHARACTERS_A_TOKEN = 3
"""JSON full of numbers has fewer characters a token than prose, which has about 4."""
_CONVERSATION_SHARE = 0.7
"""The rest of the room is for the prompt, the tools and the answer."""


def brief_messages(messages: Sequence[AnyMessage], room_tokens: int) -> list[AnyMessage]:
    """The same conversation in `room_tokens`: long tool answers lose the ends of their lists, then the oldest
    answers are left out, then the brief is shortened."""
    short = [_shortened(m) if isinstance(m, ToolMessage) else m for m in messages]
    excess = sum(len(m.text) for m in short) - int(room_tokens * _CHARACTERS_A_TOKEN * _CONVERSATION_SHARE)
    for place, message in enumerate(short):
        if excess <= 0:
            break
        if isinstance(message, ToolMessage) and place < len(short) - 1:
            excess -= len(message.text)
            short[place] = message.model_copy(update={"content": fenced(LEFT_OUT)})
    if excess > 0 and short and isinstance(short[0], HumanMessage):
        short[0] = _shortened(short[0])
    return short


def _shortened(message: AnyMessage) -> AnyMessage:
    if len(message.text) <= LONG_CHARACTERS:
        return message
    value = unfenced(message.text)
    for most in _ITEMS:
        text = fenced(shortened(value, most))
        if len(text) <= LONG_CHARACTERS:
            break
    return message.model_copy(update={"content": text})


def shortened(value: JsonValue, most: int) -> JsonValue:
    """Lists cut after `most` items, and told how many are missing."""
    if isinstance(value, dict):
        return {key: shortened(item, most) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    kept = [shortened(item, most) for item in value[:most]]
    return kept if len(value) <= most else [*kept, f"... and {len(value) - most} more"]
