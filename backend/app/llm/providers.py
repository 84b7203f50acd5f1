"""Which chat model answers: the offline policies, or any that `init_chat_model` knows."""

from collections.abc import Mapping
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel

from app.errors import InvalidInput, Unavailable
from app.llm.config import ChatConfig
from app.llm.offline import Decide, OfflineChatModel
from app.llm.words import Words

EXTRAS: Mapping[str, str] = {
    "openai": "openai",
    "azure_openai": "openai",
    "anthropic": "anthropic",
    "google_genai": "google",
    "ollama": "ollama",
    "openrouter": "openrouter",
}
"""Provider -> the extra of ours that installs it; others need their own LangChain package."""

# LangChain asks for no usage in a stream when the address is not OpenAI's own; a session must count its tokens.
COUNTED_STREAMS = frozenset({"openai", "azure_openai"})


def open_chat_model(config: ChatConfig, decide: Decide) -> BaseChatModel:
    """The chat model of one agent; `decide` is its offline policy.

    Raises InvalidInput for a name that nobody knows, Unavailable when its package is not installed.
    """
    if config.is_offline:
        return OfflineChatModel(decide=decide)
    settings: dict[str, Any] = {
        "base_url": config.base_url,
        "api_key": config.api_key,
        "max_tokens": config.max_tokens,
        "timeout": config.timeout_s,
        "max_retries": config.max_retries,
        "stream_usage": config.model.partition(":")[0] in COUNTED_STREAMS or None,
    }
    try:
        model: BaseChatModel = init_chat_model(
            config.model, **{k: v for k, v in settings.items() if v is not None}
        )
    except ImportError as error:
        raise Unavailable("chat_provider_missing", _how_to_install(config.model)) from error
    except ValueError as error:
        raise InvalidInput(
            "chat_model_unknown",
            f"LLM_MODEL={config.model!r} names no chat model that can be opened: {error} "
            "Write `offline` or `provider:model`, for example `openai:gpt-5.5`.",
        ) from error
    if config.streaming:
        model.callbacks = [Words()]
    return model


def _how_to_install(model: str) -> str:
    provider = model.partition(":")[0]
    if extra := EXTRAS.get(provider):
        return f"LLM_MODEL={model!r} needs a package that is not installed: pip install 'labcrew[{extra}]'."
    return f"LLM_MODEL={model!r} needs the LangChain package of {provider!r}, which is not installed."
