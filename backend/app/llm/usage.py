"""Token usage of a chat-model call."""

from collections.abc import Mapping

from langchain_core.messages import AIMessage


def read_usage(message: AIMessage) -> Mapping[str, float]:
    """Tokens of one answer as its provider counted them; empty when it did not say.

    `cached_tokens` is the part of `input_tokens` that the provider had read before and charges less for.
    """
    counted = message.usage_metadata
    if counted is None:
        return {}
    cached = (counted.get("input_token_details") or {}).get("cache_read") or 0
    return {
        "input_tokens": counted["input_tokens"],
        "output_tokens": counted["output_tokens"],
        "cached_tokens": cached,
    }
