"""Token usage of a chat-model call."""

from collections.abc import Mapping

from langchain_core.messages import AIMessage


def read_usage(message: AIMessage) -> Mapping[str, float]:
    """Return the tokens of one answer as its provider counted them; empty where it did not.

    `cached_tokens`: the part of `input_tokens` that the provider had cached, and charges less for.
    """
    usage = message.usage_metadata
    if usage is None:
        return {}
    cached = (usage.get("input_token_details") or {}).get("cache_read") or 0
    return {
        "input_tokens": usage["input_tokens"],
        "output_tokens": usage["output_tokens"],
        "cached_tokens": cached,
    }
