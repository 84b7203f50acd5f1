"""Which chat model an operator chose. Imports nothing heavy: settings reads it at every start."""

from dataclasses import dataclass, field

OFFLINE = "offline"


@dataclass(frozen=True)
class ChatConfig:
    """`model` is `offline` or `provider:name`. `base_url` is for OpenAI-compatible servers."""

    model: str = OFFLINE
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    max_tokens: int | None = None
    timeout_s: float = 120.0
    max_retries: int = 2
    streaming: bool = False

    @property
    def is_offline(self) -> bool:
        return self.model == OFFLINE
