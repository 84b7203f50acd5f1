"""Providers of chat models: package, required settings, address and default model. Imports no client."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

from app.errors import InvalidInput
from app.llm.config import OFFLINE, ChatConfig, provider_of

PLACEHOLDER_KEY = "none"
"""API key for a server at LLM_BASE_URL that needs none: its client requires one."""


@dataclass(frozen=True)
class Provider:
    """A provider by its name in LangChain.

    `required`: client setting -> environment variable. `model`: the model that a key alone chooses; the rows
    were checked against the profiles of the pinned clients on 2026-11-23, which list each with tool calls.
    """

    package: str
    required: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    model: str | None = None


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        "langchain_openai", {"api_key": "OPENAI_API_KEY"}, "https://api.openai.com/v1", "gpt-5.5"
    ),
    "anthropic": Provider(
        "langchain_anthropic", {"api_key": "ANTHROPIC_API_KEY"}, "https://api.anthropic.com", "claude-sonnet-5"
    ),
    "google_genai": Provider(
        "langchain_google_genai",
        {"api_key": "GOOGLE_API_KEY or GEMINI_API_KEY"},
        "https://generativelanguage.googleapis.com",
        "gemini-3.5-flash",
    ),
    "openrouter": Provider(
        "langchain_openrouter",
        {"api_key": "OPENROUTER_API_KEY"},
        "https://openrouter.ai/api/v1",
        "anthropic/claude-sonnet-5",
    ),
    "azure_openai": Provider(
        "langchain_openai",
        {
            "api_key": "AZURE_OPENAI_API_KEY",
            "azure_endpoint": "AZURE_OPENAI_ENDPOINT",
            "api_version": "OPENAI_API_VERSION",
        },
    ),
    "ollama": Provider("langchain_ollama", address="http://127.0.0.1:11434"),
}
"""In the order in which a key alone chooses; those without a default model are never chosen so."""

_ALIASES: Mapping[str, str] = {
    "azure": "azure_openai",
    "google": "google_genai",
    "gemini": "google_genai",
    "claude": "anthropic",
}


def provider_name(text: str) -> str:
    """Return LangChain's name of a provider that users call otherwise (`azure`, `google`)."""
    name = text.strip().lower()
    return _ALIASES.get(name, name)


def canonical_model(model: str) -> str:
    """Return `provider:name` with LangChain's name of the provider."""
    provider, colon, name = model.partition(":")
    return f"{provider_name(provider)}:{name}" if colon else model


def provider_of_key(keys: Collection[str]) -> str | None:
    """Return the first provider with a key; None without any."""
    return next((name for name, provider in PROVIDERS.items() if name in keys and provider.model), None)


def check_chat_settings(config: ChatConfig, names: Collection[str] | None = None) -> None:
    """Check what can be checked without a request: packages and required settings of all models.

    `names`: models to check instead of all. Raises InvalidInput with one sentence that says what to do.
    """
    for name in names if names is not None else config.all_models:
        provider = PROVIDERS.get(provider_of(name))
        if name == OFFLINE or provider is None:
            continue
        if not _is_installed(provider.package):
            raise InvalidInput("chat_provider_missing", missing_package(name))
        settings = required_settings(config, name)
        missing = [variable for setting, variable in provider.required.items() if not settings.get(setting)]
        if missing:
            raise InvalidInput(
                "chat_model_not_set_up",
                f"The chat model {name!r} needs {' and '.join(missing)} to be set, or LLM_MODEL=offline.",
            )


def required_settings(config: ChatConfig, name: str) -> dict[str, str | None]:
    """Return key and addresses for the client of a model. A server of the user's own may need no key."""
    provider = provider_of(name)
    base_url = base_url_of(config, name)
    has_own_server = base_url is not None and provider in PROVIDERS and PROVIDERS[provider].required
    return {
        "api_key": config.keys.get(provider) or (PLACEHOLDER_KEY if has_own_server else None),
        "base_url": base_url,
        "azure_endpoint": config.azure_endpoint if provider == "azure_openai" else None,
        "api_version": config.azure_api_version if provider == "azure_openai" else None,
    }


def base_url_of(config: ChatConfig, name: str) -> str | None:
    """Return LLM_BASE_URL for the models of the chosen provider; Azure has an address of its own."""
    provider = provider_of(name)
    # Not for models of other providers, whose keys would go to this server.
    return config.base_url if provider == provider_of(config.model) != "azure_openai" else None


def missing_package(name: str) -> str:
    """Say which package the model of this name needs."""
    provider = PROVIDERS.get(provider_of(name))
    package = provider.package if provider else f"langchain_{provider_of(name)}"
    return (
        f"The chat model {name!r} needs the package {package.replace('_', '-')}, which is not installed: "
        f"pip install {package.replace('_', '-')}."
    )


def describe_use(config: ChatConfig) -> str:
    """Say in one line which models are used, what leaves the machine, and how to stop it."""
    names = [name for name in config.all_models if name != OFFLINE]
    if not names:
        return "offline: nothing leaves this machine"
    addresses = dict.fromkeys(_address(config, name) for name in names)
    return (
        f"{', '.join(names)}: goals, column names, some values and results are sent to "
        f"{' and '.join(addresses)}; LLM_MODEL=offline stops it"
    )


def _address(config: ChatConfig, name: str) -> str:
    provider = PROVIDERS.get(provider_of(name))
    own = base_url_of(config, name) or (config.azure_endpoint if provider_of(name) == "azure_openai" else None)
    address = own or (provider.address if provider else provider_of(name))
    return address.partition("://")[2].partition("/")[0] or address


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # a module that was put there without a spec, or taken away
        return False
