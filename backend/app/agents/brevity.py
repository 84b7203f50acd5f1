"""Long tool answers, made short for a chat model that pays for every word. Policies read them whole."""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, ToolMessage

from app.agents.conversation import fenced, unfenced
from app.computations.bench import JsonValue

LONG_CHARACTERS = 12_000
_ITEMS = (60, 25, 10, 4)


def brief_messages(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The same conversation; tool answers over `LONG_CHARACTERS` lose the ends of their lists."""
    return [_brief(message) for message in messages]


def _brief(message: AnyMessage) -> AnyMessage:
    if not isinstance(message, ToolMessage) or len(message.text) <= LONG_CHARACTERS:
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
