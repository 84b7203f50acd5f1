"""Configuration of the chat models. Imports nothing heavy: settings reads it at every start."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.llm.cost import Prices

OFFLINE = "offline"


@dataclass(frozen=True)
class ChatConfig:
    """Chat models by name: `offline` or `provider:name`. `base_url`: server of the provider of `model`.

    `keys`: provider -> API key. `by_agent`: agent -> model of its own. `fallbacks`: models that are asked in
    order when the first has failed for good; with `offline` as the last one every session ends.
    """

    model: str = OFFLINE
    base_url: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    by_agent: Mapping[str, str] = field(default_factory=dict)
    fallbacks: tuple[str, ...] = ()
    max_tokens: int | None = None
    timeout_s: float = 120.0
    """Seconds that one answer may take, from the request to its last word."""
    turn_timeout_s: float = 600.0
    """Seconds that all answers of one turn of an agent may take together."""
    max_retries: int = 2
    context_tokens: int | None = None
    """Most tokens that are sent; None: the limit in the model's profile."""
    azure_endpoint: str | None = None
    azure_api_version: str | None = None
    app_name: str = ""
    app_address: str | None = None
    """Name and address of the application that a provider lists beside its use; OpenRouter does."""
    streaming: bool = False
    prices: Prices = field(default_factory=dict)
    """Price of each model."""

    @property
    def all_models(self) -> tuple[str, ...]:
        """The names of all models that some agent may ask."""
        return tuple(dict.fromkeys((self.model, *self.by_agent.values(), *self.fallbacks)))

    def models_of(self, agent: str) -> tuple[str, ...]:
        """Return the names of the models that an agent asks, in order."""
        return tuple(dict.fromkeys((self.by_agent.get(agent, self.model), *self.fallbacks)))


def provider_of(model: str) -> str:
    return model.partition(":")[0]
