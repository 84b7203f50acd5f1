"""Chat models: the offline policies, or any that `init_chat_model` can open."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from app.errors import InvalidInput, Unavailable
from app.llm.answer_stream import StreamCallback
from app.llm.config import OFFLINE, ChatConfig, provider_of
from app.llm.offline import Decide, OfflineChatModel

EXTRAS: Mapping[str, str] = {
    "openai": "openai",
    "azure_openai": "openai",
    "anthropic": "anthropic",
    "google_genai": "google",
    "ollama": "ollama",
    "openrouter": "openrouter",
}
"""Provider -> the extra of ours that installs it; others need their own LangChain package."""

REQUIRED_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "openai": {"api_key": "OPENAI_API_KEY"},
    "azure_openai": {
        "api_key": "AZURE_OPENAI_API_KEY",
        "azure_endpoint": "AZURE_OPENAI_ENDPOINT",
        "api_version": "OPENAI_API_VERSION",
    },
    "anthropic": {"api_key": "ANTHROPIC_API_KEY"},
    "google_genai": {"api_key": "GOOGLE_API_KEY"},
    "openrouter": {"api_key": "OPENROUTER_API_KEY"},
}
"""Provider -> what it cannot do without, and the variable that gives it."""

PLACEHOLDER_KEY = "none"
"""For a server at LLM_BASE_URL that asks for no key; its client insists on one."""

# We ask again ourselves, alike for all providers and with the session watching. Google reads 0 as its default.
_SINGLE_ATTEMPT: Mapping[str, dict[str, int]] = {"google_genai": {"max_retries": 1}, "ollama": {}}
_MAX_TOKENS_PARAMETERS: Mapping[str, str] = {"ollama": "num_predict"}

# LangChain asks for no usage in a stream when the address is not OpenAI's own; a session must count its tokens.
COUNTED_STREAMS = frozenset({"openai", "azure_openai"})

DEFAULT_CONTEXT_TOKENS = 100_000
"""What a model is taken to read when nobody says: the smallest that today's providers offer."""

MAX_ANSWER_CHARACTERS = 500_000
MAX_CHARACTERS_PER_TOKEN = 20
"""More than any text has: who sends more does not keep to the tokens that it was allowed."""


@dataclass(frozen=True)
class NamedChatModel:
    """A chat model and what its calls are recorded under.

    `context_tokens`: most that it reads at once. `longest`: characters of an answer that are listened to.
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
        first, *_ = str(error).splitlines() or [""]
        message = f"{type(error).__name__}: {first}"
        return (message.replace(self.key, "***") if len(self.key) > 7 else message)[:300]


def open_chat_models(config: ChatConfig, agent: str, decide: Decide) -> tuple[NamedChatModel, ...]:
    """The models of one agent in the order in which they are asked; `decide` is its offline policy.

    Raises InvalidInput for a name that nobody knows, Unavailable when a package is not installed.
    """
    return tuple(_open_named(config, name, decide) for name in config.models_of(agent))


def prompt_caching(config: ChatConfig, agent: str) -> list[AgentMiddleware[Any, Any, Any]]:
    """Marks what stays the same between calls, for the provider that wants to be told; others find it."""
    if "anthropic" not in {provider_of(name) for name in config.models_of(agent)}:
        return []
    from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware  # noqa: PLC0415 - an extra

    return [AnthropicPromptCachingMiddleware(unsupported_model_behavior="ignore")]


def _open_named(config: ChatConfig, name: str, decide: Decide) -> NamedChatModel:
    if name == OFFLINE:
        return NamedChatModel(OFFLINE, OfflineChatModel(decide=decide))
    model = _open(config, name)
    if config.streaming:
        model.callbacks = [StreamCallback()]
    profile: Any = getattr(model, "profile", None) or {}
    room = config.context_tokens or profile.get("max_input_tokens") or DEFAULT_CONTEXT_TOKENS
    longest = MAX_CHARACTERS_PER_TOKEN * config.max_tokens if config.max_tokens else MAX_ANSWER_CHARACTERS
    return NamedChatModel(name, model, int(room), longest, config.keys.get(provider_of(name), ""))


def _open(config: ChatConfig, name: str) -> BaseChatModel:
    settings = _settings(config, name)
    try:
        model: BaseChatModel = init_chat_model(name, **settings)
    except ImportError as error:
        raise Unavailable("chat_provider_missing", _install_hint(name)) from error
    except Exception as error:
        _check_settings(name, settings)
        raise InvalidInput(
            "chat_model_unknown",
            f"{name!r} names no chat model that can be opened: {_error_text(error)} "
            "Write `offline` or `provider:model`, for example `openai:gpt-5.5`.",
        ) from error
    _check_settings(name, settings)
    return model


def _check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Raises InvalidInput that names the variables that the provider needs and that are not set."""
    needed = REQUIRED_SETTINGS.get(provider_of(name), {})
    missing = [variable for setting, variable in needed.items() if not settings.get(setting)]
    if missing:
        variables = " and ".join(missing)
        raise InvalidInput("chat_model_not_set_up", f"The chat model {name!r} needs {variables} to be set.")


def _error_text(error: Exception) -> str:
    """Format an error without the settings that Pydantic repeats: they may contain a key."""
    if isinstance(error, ValidationError):
        return " ".join(f"{problem['msg']}." for problem in error.errors(include_input=False))
    return f"{type(error).__name__}." if not isinstance(error, ValueError) else str(error)


def _settings(config: ChatConfig, name: str) -> dict[str, Any]:
    provider = provider_of(name)
    base_url = config.base_url if provider == provider_of(config.model) else None
    given = {
        "api_key": config.keys.get(provider)
        or (PLACEHOLDER_KEY if base_url and provider == "openai" else None),
        "base_url": base_url if provider != "azure_openai" else None,
        _MAX_TOKENS_PARAMETERS.get(provider, "max_tokens"): config.max_tokens,
        "stream_usage": provider in COUNTED_STREAMS or None,
        "azure_endpoint": config.azure_endpoint if provider == "azure_openai" else None,
        "api_version": config.azure_api_version if provider == "azure_openai" else None,
    }
    wanted = {key: value for key, value in given.items() if value is not None}
    return {**wanted, **_SINGLE_ATTEMPT.get(provider, {"max_retries": 0})}


def _install_hint(name: str) -> str:
    provider = provider_of(name)
    if extra := EXTRAS.get(provider):
        return f"The chat model {name!r} needs a package that is not installed: pip install 'labcrew[{extra}]'."
    return f"The chat model {name!r} needs the LangChain package of {provider!r}, which is not installed."
