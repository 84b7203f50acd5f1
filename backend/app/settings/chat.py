"""Settings of chat models and of agents' tools."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from pydantic import Field, SecretStr

from app.errors import InvalidInput
from app.llm.config import OFFLINE, ChatConfig
from app.llm.cost import has_price, load_prices
from app.llm.provider_catalog import PROVIDERS, canonical_model, provider_name, provider_of_key
from app.modeling.problem.name_resolution import nearest_names
from app.settings.setting_types import HttpUrl, SettingsPart
from app.tools.agent_names import EVERY_AGENT

MIN_TURN_S = 300
"""Seconds below which many turns end before their agent has: 30 answers of some ten seconds each."""


class ChatSettings(SettingsPart):
    llm_provider: str | None = Field(
        None, description="Provider of the chat model (openai, anthropic, google, openrouter, ollama, azure)."
    )
    llm_model: str | None = Field(
        None,
        description="`offline`, or a model, alone or as `provider:name`; empty: by the key that is set.",
    )
    llm_agent_models: dict[str, str] = Field(
        {}, description='Agents with a model of their own, as JSON: {"reporter": "provider:name"}.'
    )
    llm_fallback_models: list[str] = Field(
        [], description='Models asked when another has failed for good, as JSON: ["provider:name", "offline"].'
    )
    llm_context_tokens: int | None = Field(
        None, ge=4_000, description="Most tokens sent to a model; empty: the limit in its profile."
    )
    llm_base_url: HttpUrl | None = Field(
        None, description="Address of the chosen provider's server, such as a local or a compatible one."
    )
    openai_api_key: SecretStr | None = Field(None, description="Key for OpenAI, or for LLM_BASE_URL.")
    openai_model: str | None = Field(None, description="Model of OpenAI when LLM_MODEL is not set.")
    azure_openai_api_key: SecretStr | None = Field(None, description="Key for Azure OpenAI.")
    azure_openai_endpoint: HttpUrl | None = Field(None, description="Address of the Azure OpenAI resource.")
    openai_api_version: str | None = Field(
        None, description="Version of the Azure interface, such as 2025-04-01."
    )
    anthropic_api_key: SecretStr | None = Field(None, description="Key for Anthropic.")
    google_api_key: SecretStr | None = Field(None, description="Key for Google.")
    gemini_api_key: SecretStr | None = Field(None, description="The same under Google's other name for it.")
    openrouter_api_key: SecretStr | None = Field(None, description="Key for OpenRouter.")
    openrouter_model: str | None = Field(None, description="Model of OpenRouter when LLM_MODEL is not set.")
    openrouter_app_name: str = Field(
        "Labcrew", description="Name of the application that OpenRouter lists beside its use."
    )
    openrouter_http_referer: HttpUrl | None = Field(
        None, description="Address of the application that OpenRouter lists; empty: none is sent."
    )
    max_tokens_per_request: int = Field(
        4096, ge=1, description="Most tokens that one answer of a chat model may have."
    )
    enable_streaming: bool = Field(True, description="Show a chat model's text while it is written.")
    agent_max_retries: int = Field(2, ge=0, le=20, description="Further attempts after a chat model failed.")
    agent_timeout_seconds: float = Field(
        600, gt=0, description="Seconds of chat models in one turn of an agent; rules finish it then."
    )
    llm_timeout_seconds: float = Field(
        120, gt=0, description="Seconds that one answer of a chat model may take."
    )
    thread_history_window: int = Field(
        12, ge=2, le=100, description="Turns before a message of a conversation that its answer may refer to."
    )
    tools_config: Path | None = Field(
        None, description="TOML or JSON file that narrows and describes the tools of agents."
    )
    llm_prices: Path | None = Field(
        None,
        description="TOML or JSON file with prices of chat models in USD for a million tokens, "
        "in place of those that providers publish.",
    )

    @cached_property
    def chat(self) -> ChatConfig:
        secrets = {
            "openai": self.openai_api_key,
            "azure_openai": self.azure_openai_api_key,
            "anthropic": self.anthropic_api_key,
            "google_genai": self.google_api_key or self.gemini_api_key,
            "openrouter": self.openrouter_api_key,
        }
        _check_agents(self.llm_agent_models)
        keys = {provider: key.get_secret_value() for provider, key in secrets.items() if key}
        return ChatConfig(
            model=chat_model_name(self.llm_provider, self.llm_model, self._models_of_providers, tuple(keys)),
            base_url=self.llm_base_url,
            keys=keys,
            by_agent={agent: canonical_model(name) for agent, name in self.llm_agent_models.items()},
            fallbacks=tuple(map(canonical_model, self.llm_fallback_models)),
            max_tokens=self.max_tokens_per_request,
            timeout_s=self.llm_timeout_seconds,
            turn_timeout_s=self.agent_timeout_seconds,
            max_retries=self.agent_max_retries,
            context_tokens=self.llm_context_tokens,
            azure_endpoint=self.azure_openai_endpoint,
            azure_api_version=self.openai_api_version,
            app_name=self.openrouter_app_name,
            app_address=self.openrouter_http_referer,
            streaming=self.enable_streaming,
            prices=load_prices(self.llm_prices),
        )

    @property
    def _models_of_providers(self) -> Mapping[str, str | None]:
        return {"openai": self.openai_model, "openrouter": self.openrouter_model}

    @property
    def short_turns(self) -> str:
        """Note on a bound of turns that looks as if it were meant for one answer; empty for any other."""
        if self.agent_timeout_seconds >= MIN_TURN_S or self.chat.model == OFFLINE:
            return ""
        return (
            f"AGENT_TIMEOUT_SECONDS={self.agent_timeout_seconds:g} bounds the whole turn of an agent; below "
            f"{MIN_TURN_S} many turns end early. LLM_TIMEOUT_SECONDS bounds one answer."
        )

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Chat models that sessions may use and that have no price."""
        chat = self.chat
        models = [model for model in chat.all_models if model != OFFLINE]
        return tuple(model for model in models if not has_price(chat.prices, model))


def chat_model_name(
    provider: str | None, model: str | None, own_models: Mapping[str, str | None], keys: Sequence[str] = ()
) -> str:
    """Combine the settings and the providers with a key to `offline` or `provider:name`.

    `own_models`: provider -> model of its own setting, unless another is named. `offline` always wins; without
    a provider or a model the first key in the order of `PROVIDERS` decides.
    Raises InvalidInput.
    """
    if OFFLINE in (model, provider):
        return OFFLINE
    if model and ":" in model and not provider:
        return canonical_model(model)
    service = provider_name(provider) if provider else provider_of_key(keys)
    if service is None:
        if not model:
            return OFFLINE
        raise InvalidInput(
            "bad_setting",
            f"LLM_MODEL={model} names no provider: write provider:{model}, or set LLM_PROVIDER.",
            settings=["LLM_MODEL", "LLM_PROVIDER"],
        )
    default = PROVIDERS[service].model if service in PROVIDERS else None
    name = model or own_models.get(service) or default
    if not name:
        raise InvalidInput(
            "bad_setting", f"LLM_PROVIDER={provider} needs a model: set LLM_MODEL.", settings=["LLM_MODEL"]
        )
    # LLM_MODEL may repeat the provider, by either of its names.
    return f"{service}:{name.removeprefix(f'{provider}:').removeprefix(f'{service}:')}"


def _check_agents(models: Mapping[str, str]) -> None:
    for agent in models:
        if agent not in EVERY_AGENT:
            raise InvalidInput(
                "bad_setting",
                f"LLM_AGENT_MODELS names {agent!r}; the agents are {', '.join(EVERY_AGENT)}.",
                settings=["LLM_AGENT_MODELS"],
                nearest=nearest_names(agent, EVERY_AGENT),
            )
