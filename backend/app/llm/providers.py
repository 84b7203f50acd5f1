"""Chat models by name: the offline policies, or any that `init_chat_model` can open.

Clients take seconds to import, so only those of the chosen models are, when an agent is built.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from app.errors import InvalidInput, LabError, Unavailable
from app.llm.answer_stream import StreamCallback
from app.llm.config import OFFLINE, ChatConfig, provider_of
from app.llm.offline_chat_model import Decide, OfflineChatModel, make_unusable_model
from app.llm.provider_catalog import check_chat_settings, missing_package, required_settings

# `call_with_retries` repeats requests, alike for all providers and visible to the session, so clients must not.
# Google's client reads 0 as its default; Ollama's has no such option.
_SINGLE_ATTEMPT: Mapping[str, dict[str, int]] = {"google_genai": {"max_retries": 1}, "ollama": {}}
_MAX_TOKENS_PARAMETERS: Mapping[str, str] = {"ollama": "num_predict"}

# LangChain requests no usage in a stream when the address is not OpenAI's own; a session must count its tokens.
COUNTED_STREAMS = frozenset({"openai", "azure_openai"})

DEFAULT_CONTEXT_TOKENS = 100_000
"""Tokens that a model without a profile is assumed to read: the least that current models of providers take."""

THINKING_TOKENS = 16_000
"""Tokens for the thinking of a model that thinks, besides those of its answer: four times the default length of
an answer, so that thinking alone does not end it."""

MAX_ANSWER_CHARACTERS = 500_000
"""Characters of an answer without a limit of tokens: some 100,000 tokens, more than models give at once."""
MAX_CHARACTERS_PER_TOKEN = 20
"""More than any text has: a server that sends more ignores the limit of tokens."""


_MIN_KEY_CHARACTERS = 8
"""Keys of providers are far longer; PLACEHOLDER_KEY is shorter."""
_MAX_ERROR_CHARACTERS = 300
"""Characters of a provider's error that are recorded and shown."""


@dataclass(frozen=True)
class NamedChatModel:
    """A chat model and the name under which its calls are recorded.

    `context_tokens`: most that it reads at once. `max_characters`: length at which an answer is cut off.
    """

    name: str
    model: BaseChatModel
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    max_characters: int = MAX_ANSWER_CHARACTERS
    key: str = field(default="", repr=False)

    @property
    def is_offline(self) -> bool:
        return self.name == OFFLINE

    def describe_error(self, error: BaseException) -> str:
        """Format a failure without the API key, which a provider may repeat."""
        first_line, *_ = str(error).splitlines() or [""]
        message = f"{type(error).__name__}: {first_line}"
        # A key as short as a word is a placeholder, and would blank out parts of the text.
        has_secret = len(self.key) >= _MIN_KEY_CHARACTERS
        return (message.replace(self.key, "***") if has_secret else message)[:_MAX_ERROR_CHARACTERS]


def open_chat_models(config: ChatConfig, agent: str, decide: Decide) -> tuple[NamedChatModel, ...]:
    """Open the models of one agent, in the order in which they are asked; `decide` is its offline policy.

    Raises InvalidInput for an unknown name, Unavailable when a package is not installed.
    """
    return tuple(_open_named(config, name, decide) for name in config.models_of(agent))


def open_usable_models(config: ChatConfig, agent: str, decide: Decide) -> tuple[NamedChatModel, ...]:
    """Open the models of one agent. In place of one that cannot be opened stands one that says so when asked.

    A worker thus runs on, and a session whose fallbacks work is not affected.
    """
    return tuple(_open_or_replace(config, name, decide) for name in config.models_of(agent))


def _open_or_replace(config: ChatConfig, name: str, decide: Decide) -> NamedChatModel:
    try:
        return _open_named(config, name, decide)
    except LabError as error:
        return NamedChatModel(name, make_unusable_model(error.detail))


def prompt_caching(config: ChatConfig, agent: str) -> list[AgentMiddleware[Any, Any, Any]]:
    """Return the middleware that marks the constant part of prompts: Anthropic caches only marked parts."""
    if "anthropic" not in {provider_of(name) for name in config.models_of(agent)}:
        return []
    try:
        from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware  # noqa: PLC0415 - takes seconds
    except ImportError:
        return []  # the model itself says when it is asked that its package is missing

    return [AnthropicPromptCachingMiddleware(unsupported_model_behavior="ignore")]


def _open_named(config: ChatConfig, name: str, decide: Decide) -> NamedChatModel:
    if name == OFFLINE:
        return NamedChatModel(OFFLINE, OfflineChatModel(decide=decide))
    model = _open(config, name)
    if config.streaming:
        model.callbacks = [StreamCallback()]
    profile: Any = getattr(model, "profile", None) or {}
    context_tokens = config.context_tokens or profile.get("max_input_tokens") or DEFAULT_CONTEXT_TOKENS
    max_characters = (
        MAX_CHARACTERS_PER_TOKEN * config.max_tokens if config.max_tokens else MAX_ANSWER_CHARACTERS
    )
    return NamedChatModel(
        name, model, int(context_tokens), max_characters, config.keys.get(provider_of(name), "")
    )


def _open(config: ChatConfig, name: str) -> BaseChatModel:
    settings = _settings(config, name)
    try:
        model: BaseChatModel = init_chat_model(name, **settings)
    except ImportError as error:
        raise Unavailable("chat_provider_missing", missing_package(name)) from error
    except Exception as error:
        # After the client refused: a missing key is the likelier reason, and its sentence says what to do.
        check_chat_settings(config, [name])
        raise InvalidInput(
            "chat_model_unknown",
            f"{name!r} names no chat model that can be opened: {_error_text(error)} "
            "Write `offline` or `provider:model`, for example `openai:gpt-5.5`.",
        ) from error
    # Some clients open without a key and fail at their first request.
    check_chat_settings(config, [name])
    return _allow_thinking(model, name, settings)


def _allow_thinking(model: BaseChatModel, name: str, settings: Mapping[str, Any]) -> BaseChatModel:
    """Return the model with room for its thinking: providers count it among the tokens of an answer."""
    profile: Any = getattr(model, "profile", None) or {}
    parameter = _max_tokens_parameter(name)
    if not profile.get("reasoning_output") or parameter not in settings:
        return model
    wanted_tokens = int(settings[parameter]) + THINKING_TOKENS
    tokens = min(wanted_tokens, profile.get("max_output_tokens") or wanted_tokens)
    # Opened a second time, because whether it thinks stands in the profile that the first opening gave.
    roomier: BaseChatModel = init_chat_model(name, **{**settings, parameter: max(tokens, settings[parameter])})
    return roomier


def _error_text(error: Exception) -> str:
    """Format an error without the settings that Pydantic repeats: they may contain a key."""
    if isinstance(error, ValidationError):
        return " ".join(f"{problem['msg']}." for problem in error.errors(include_input=False))
    return f"{type(error).__name__}." if not isinstance(error, ValueError) else str(error)


def _settings(config: ChatConfig, name: str) -> dict[str, Any]:
    provider = provider_of(name)
    options = {
        **required_settings(config, name),
        _max_tokens_parameter(name): config.max_tokens,
        "stream_usage": provider in COUNTED_STREAMS or None,
        **_attribution(config, provider),
    }
    present = {key: value for key, value in options.items() if value is not None}
    return {**present, **_SINGLE_ATTEMPT.get(provider, {"max_retries": 0})}


def _attribution(config: ChatConfig, provider: str) -> dict[str, str]:
    # Empty texts are passed on: without them OpenRouter's client sends the name and address of LangChain.
    if provider != "openrouter":
        return {}
    return {"app_title": config.app_name, "app_url": config.app_address or ""}


def _max_tokens_parameter(name: str) -> str:
    return _MAX_TOKENS_PARAMETERS.get(provider_of(name), "max_tokens")
