"""Settings of chat models and of agents' tools."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from app.errors import InvalidInput
from app.llm.config import OFFLINE, ChatConfig
from app.llm.cost import load_prices
from app.modeling.problem.name_resolution import nearest_names
from app.settings.setting_types import HttpUrl
from app.tools.registry import EVERY_AGENT


class ChatSettings(BaseSettings):
    llm_provider: str | None = Field(
        None, description="Provider of the chat model (openai, anthropic, google_genai, ollama, ...)."
    )
    llm_model: str = Field(
        OFFLINE, description="`offline` needs no key; else a model name, alone or as `provider:name`."
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
    llm_base_url: HttpUrl | None = Field(None, description="Address of an OpenAI-compatible server.")
    openai_api_key: SecretStr | None = Field(None, description="Key for OpenAI, or for LLM_BASE_URL.")
    openai_model: str | None = Field(
        None, description="Model when LLM_PROVIDER is openai and LLM_MODEL is not set."
    )
    azure_openai_api_key: SecretStr | None = Field(None, description="Key for Azure OpenAI.")
    azure_openai_endpoint: HttpUrl | None = Field(None, description="Address of the Azure OpenAI resource.")
    openai_api_version: str | None = Field(
        None, description="Version of the Azure interface, such as 2025-04-01."
    )
    anthropic_api_key: SecretStr | None = Field(None, description="Key for Anthropic.")
    google_api_key: SecretStr | None = Field(None, description="Key for Google.")
    openrouter_api_key: SecretStr | None = Field(None, description="Key for OpenRouter.")
    max_tokens_per_request: int = Field(
        4096, ge=1, description="Most tokens that one answer of a chat model may have."
    )
    enable_streaming: bool = Field(True, description="Show a chat model's text while it is written.")
    agent_max_retries: int = Field(2, ge=0, le=20, description="Further attempts after a chat model failed.")
    agent_timeout_seconds: float = Field(
        120, gt=0, description="Seconds that one answer of a chat model may take."
    )
    tools_config: Path | None = Field(
        None, description="TOML or JSON file that narrows the tools of each agent."
    )
    llm_prices: Path | None = Field(
        None, description="TOML or JSON file with the price of each chat model, in USD for a million tokens."
    )

    @cached_property
    def chat(self) -> ChatConfig:
        model = chat_model_name(self.llm_provider, self.llm_model, self.openai_model)
        keys = {
            "openai": self.openai_api_key,
            "azure_openai": self.azure_openai_api_key,
            "anthropic": self.anthropic_api_key,
            "google_genai": self.google_api_key,
            "openrouter": self.openrouter_api_key,
        }
        _check_agents(self.llm_agent_models)
        return ChatConfig(
            model=model,
            base_url=self.llm_base_url,
            keys={provider: key.get_secret_value() for provider, key in keys.items() if key},
            by_agent=self.llm_agent_models,
            fallbacks=tuple(self.llm_fallback_models),
            max_tokens=self.max_tokens_per_request,
            timeout_s=self.agent_timeout_seconds,
            max_retries=self.agent_max_retries,
            context_tokens=self.llm_context_tokens,
            azure_endpoint=self.azure_openai_endpoint,
            azure_api_version=self.openai_api_version,
            streaming=self.enable_streaming,
            prices=load_prices(self.llm_prices),
        )

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Chat models that sessions may use and that have no price."""
        chat = self.chat
        models = dict.fromkeys((chat.model, *chat.by_agent.values(), *chat.fallbacks))
        return tuple(model for model in models if model != OFFLINE and model not in chat.prices)


def chat_model_name(provider: str | None, model: str, openai_model: str | None) -> str:
    """Combine LLM_PROVIDER, LLM_MODEL and OPENAI_MODEL to `offline` or `provider:name`. Raises InvalidInput."""
    if ":" in model and not provider:
        return model
    if provider in (None, OFFLINE):
        if model == OFFLINE:
            return OFFLINE
        raise InvalidInput(
            "bad_setting",
            f"LLM_MODEL={model} names no provider: write provider:{model}, or set LLM_PROVIDER.",
            settings=["LLM_MODEL", "LLM_PROVIDER"],
        )
    name = openai_model if provider == "openai" and model == OFFLINE else model
    if not name or name == OFFLINE:
        raise InvalidInput(
            "bad_setting",
            f"LLM_PROVIDER={provider} needs a model: set LLM_MODEL"
            + (" or OPENAI_MODEL." if provider == "openai" else "."),
            settings=["LLM_MODEL"],
        )
    return f"{provider}:{name.removeprefix(f'{provider}:')}"


def _check_agents(models: Mapping[str, str]) -> None:
    for agent in models:
        if agent not in EVERY_AGENT:
            raise InvalidInput(
                "bad_setting",
                f"LLM_AGENT_MODELS names {agent!r}; the agents are {', '.join(EVERY_AGENT)}.",
                settings=["LLM_AGENT_MODELS"],
                nearest=nearest_names(agent, EVERY_AGENT),
            )
