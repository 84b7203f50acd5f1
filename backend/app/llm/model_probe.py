"""Check of keys and model names with their providers, by requests that use no tokens and no client."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from app.errors import LabError
from app.llm.config import OFFLINE, ChatConfig, provider_of
from app.llm.provider_catalog import PROVIDERS, base_url_of, check_chat_settings, required_settings

PROBE_TIMEOUT_S = 1.5
"""Seconds for a provider's answer. Readiness waits for it, and is itself given up after two."""
VALID_FOR_S = 300.0
"""Seconds that a good answer holds: readiness is asked every few seconds, and providers limit requests."""
RETRIED_AFTER_S = 30.0
"""Seconds until a fault is looked at again, so that a corrected account is noticed soon."""

_KEY_REFUSED = frozenset({400, 401, 403})
"""Answers to a wrong key; Google answers 400. The requests have no arguments that could be wrong."""


async def model_fault(config: ChatConfig, name: str, client: httpx.AsyncClient) -> str | None:
    """Say in one sentence why a model cannot be used; None if it can, or if its server does not tell."""
    if name == OFFLINE:
        return None
    try:
        check_chat_settings(config, [name])
        return await _provider_fault(config, name, client)
    except LabError as error:
        return error.detail
    except httpx.HTTPError as error:
        return f"The provider of the chat model {name!r} does not answer ({type(error).__name__})."


async def _provider_fault(config: ChatConfig, name: str, client: httpx.AsyncClient) -> str | None:
    provider, model = provider_of(name), name.partition(":")[2]
    if provider not in _LISTINGS:
        return None
    path, header, prefix = _LISTINGS[provider]
    address = (base_url_of(config, name) or PROVIDERS[provider].address).rstrip("/")
    key = required_settings(config, name)["api_key"] or ""
    # Anthropic refuses requests without a version; others ignore the header.
    headers = {header: f"{prefix}{key}", "anthropic-version": "2023-06-01"} if header else {}
    if provider == "openrouter":  # its list of models is public, so the key is checked apart
        answer = await client.get(f"{address}/key", headers=headers)
        if answer.status_code in _KEY_REFUSED:
            return _wrong_key(name)
        answer = await client.get(f"{address}/models", headers=headers)
        return None if answer.status_code != httpx.codes.OK or model in answer.text else _unknown(name)
    if provider == "ollama":
        answer = await client.post(f"{address}/api/show", json={"model": model})
        return _unknown(name, "ollama pull gets it.") if answer.status_code == httpx.codes.NOT_FOUND else None
    answer = await client.get(f"{address}{path}/{model}", headers=headers)
    if answer.status_code in _KEY_REFUSED:
        return _wrong_key(name)
    has_own_server = base_url_of(config, name) is not None
    if answer.status_code != httpx.codes.NOT_FOUND:
        return None
    if has_own_server:  # compatible servers have the list, and seldom its entries
        answer = await client.get(f"{address}{path}", headers=headers)
        return None if answer.status_code != httpx.codes.OK or model in answer.text else _unknown(name)
    return _unknown(name)


_LISTINGS: Mapping[str, tuple[str, str, str]] = {
    "openai": ("/models", "Authorization", "Bearer "),
    "anthropic": ("/v1/models", "x-api-key", ""),
    "google_genai": ("/v1beta/models", "x-goog-api-key", ""),
    "openrouter": ("/models", "Authorization", "Bearer "),
    "ollama": ("", "", ""),
}
"""Path of a provider's list of models, header of its key, and the text before the key."""


def _wrong_key(name: str) -> str:
    provider = PROVIDERS[provider_of(name)]
    variable = provider.required.get("api_key", "key")
    return f"The provider of {name!r} refuses the key: correct {variable}, or set LLM_MODEL=offline."


def _unknown(name: str, hint: str = "correct LLM_MODEL.") -> str:
    return f"The provider does not know the chat model {name!r}: {hint}"


@dataclass
class ModelHealth:
    """The faults of all models of a configuration, asked again when the last answer is too old."""

    config: ChatConfig
    checked_at: float | None = None
    faults: tuple[str, ...] = ()
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def find_faults(self) -> tuple[str, ...]:
        """Return one sentence for each model that cannot be used."""
        # Readiness requests that arrive together wait for one answer instead of each asking the provider.
        async with self._lock:
            # Chosen by the last answer: a fault is looked at again sooner than a good one.
            holds_for_s = RETRIED_AFTER_S if self.faults else VALID_FOR_S
            if self.checked_at is None or time.monotonic() - self.checked_at > holds_for_s:
                self.faults = await find_faults(self.config)
                self.checked_at = time.monotonic()
        return self.faults


async def find_faults(config: ChatConfig, timeout_s: float = PROBE_TIMEOUT_S) -> tuple[str, ...]:
    """Return one sentence for each of the models that cannot be used, in their order."""
    if set(config.all_models) == {OFFLINE}:
        return ()
    async with httpx.AsyncClient(timeout=timeout_s) as client:
        faults = await asyncio.gather(*(model_fault(config, name, client) for name in config.all_models))
    return tuple(dict.fromkeys(fault for fault in faults if fault))
