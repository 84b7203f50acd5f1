"""Trimming of conversations to the context window of a chat model.

Offline policies read the untrimmed conversation.
"""

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from app.agents.runtime.conversation import from_data_block, to_data_block
from app.agents.runtime.results_table import shorten_fits
from app.json_types import JsonValue

MAX_MESSAGE_CHARACTERS = 12_000
"""Longest message that is sent untrimmed, about 4,000 tokens: a dozen such answers fit a 64k context."""
OMITTED_ANSWER = "Omitted because the conversation is too long. Call the tool again if you need its result."
_LIST_LENGTHS = (60, 25, 10, 4)
"""Numbers of list items to keep, tried in turn until the message is short enough."""
_CHARACTERS_PER_TOKEN = 3
"""JSON with many numbers has fewer characters per token than prose, which has about 4."""
_CONVERSATION_SHARE = 0.7
"""Share of the context window. The rest is for the prompt, the tools and the answer."""


def trim_messages(messages: Sequence[AnyMessage], context_tokens: int) -> list[AnyMessage]:
    """Trim the conversation to `context_tokens`.

    First the lists of long tool answers are cut, then the oldest answers are omitted, then the brief is cut.
    """
    tabulated = [_tabulate_fits(m) for m in messages]
    trimmed = [_shorten_message(m) if isinstance(m, ToolMessage) else m for m in tabulated]
    excess = sum(len(m.text) for m in trimmed) - int(
        context_tokens * _CHARACTERS_PER_TOKEN * _CONVERSATION_SHARE
    )
    for position, message in enumerate(trimmed):
        if excess <= 0:
            break
        # The newest answer stays: the model has just asked for it, and would ask again.
        if isinstance(message, ToolMessage) and position < len(trimmed) - 1:
            excess -= len(message.text)
            trimmed[position] = message.model_copy(update={"content": to_data_block(OMITTED_ANSWER)})
    # The brief goes last: goal and problem stand in it, and no tool returns them again.
    if excess > 0 and trimmed and isinstance(trimmed[0], HumanMessage):
        trimmed[0] = _shorten_message(trimmed[0])
    return trimmed


def _tabulate_fits(message: AnyMessage) -> AnyMessage:
    """Replace the facts of fits by the table of results, which is short enough to be read whole."""
    if not isinstance(message, ToolMessage | HumanMessage) or '"fold_scores"' not in message.text:
        return message
    value = from_data_block(message.text)
    if value is None or (table := shorten_fits(value)) == value:
        return message
    head = message.text[: message.text.find("<data>")]
    return message.model_copy(update={"content": f"{head}{to_data_block(table)}"})


def _shorten_message(message: AnyMessage) -> AnyMessage:
    if len(message.text) <= MAX_MESSAGE_CHARACTERS:
        return message
    value = from_data_block(message.text)
    for max_items in _LIST_LENGTHS:
        text = to_data_block(shorten_lists(value, max_items))
        if len(text) <= MAX_MESSAGE_CHARACTERS:
            break
    return message.model_copy(update={"content": text})


def shorten_lists(value: JsonValue, max_items: int) -> JsonValue:
    """Cut all lists after `max_items` items and append the number of omitted ones."""
    if isinstance(value, dict):
        return {key: shorten_lists(item, max_items) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [shorten_lists(item, max_items) for item in value[:max_items]]
    return items if len(value) <= max_items else [*items, f"... and {len(value) - max_items} more"]
