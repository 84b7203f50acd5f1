"""Configuration of the chat models. Imports nothing heavy: settings reads it at every start."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.llm.cost import Prices

OFFLINE = "offline"


@dataclass(frozen=True)
class ChatConfig:
    """A model is `offline` or `provider:name`. `base_url`: an OpenAI-compatible server, that of `model`.

    `keys`: provider -> API key. `by_agent`: agents that think with another model. `fallbacks`: asked in their
    order when the first has failed for good; `offline` as the last one lets the session always end.
    """

    model: str = OFFLINE
    base_url: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    by_agent: Mapping[str, str] = field(default_factory=dict)
    fallbacks: tuple[str, ...] = ()
    max_tokens: int | None = None
    timeout_s: float = 120.0
    """Longest that one answer may take, first word to last."""
    max_retries: int = 2
    context_tokens: int | None = None
    """Most tokens that are sent; None: what the model is known to take."""
    azure_endpoint: str | None = None
    azure_api_version: str | None = None
    streaming: bool = False
    prices: Prices = field(default_factory=dict)
    """What a million tokens of each model cost."""

    def models_of(self, agent: str) -> tuple[str, ...]:
        """The names of the models that an agent asks, in order."""
        return tuple(dict.fromkeys((self.by_agent.get(agent, self.model), *self.fallbacks)))


def provider_of(model: str) -> str:
    return model.partition(":")[0]
