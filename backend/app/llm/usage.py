"""What a chat-model call used."""

from collections.abc import Mapping

from langchain_core.messages import AIMessage


def usage_of(message: AIMessage) -> Mapping[str, float]:
    """Tokens of one answer as its provider counted them; empty when it did not say."""
    counted = message.usage_metadata
    if counted is None:
        return {}
    return {"input_tokens": counted["input_tokens"], "output_tokens": counted["output_tokens"]}
