"""Cost of a chat-model call by the operator's prices, else by those that its provider publishes."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.errors import InvalidInput

Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_TOKENS_PER_PRICE = 1_000_000
"""Tokens that a price is for, as providers publish them."""


class Price(BaseModel):
    """USD for a million tokens. `cached`: input that the provider had cached; None: as `input`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Rate
    output: Rate
    cached: Rate | None = None


Prices = Mapping[str, Price]
"""Model name (`provider:model`) -> price."""

_TABLE = TypeAdapter(dict[str, Price])


def cost_usd(prices: Prices, model: str, usage: Mapping[str, float]) -> float | None:
    """Compute the cost of `usage` (token counts) in USD; None for a model without a price.

    The operator's prices win over the published ones.
    """
    price = prices.get(model)
    if price is None:
        return published_cost_usd(model, usage)
    cached = usage.get("cached_tokens", 0)
    # Providers count cached tokens among those of the input, and LangChain reports them so.
    uncached = usage.get("input_tokens", 0) - cached
    cached_price = price.input if price.cached is None else price.cached
    output = usage.get("output_tokens", 0)
    return (uncached * price.input + cached * cached_price + output * price.output) / _TOKENS_PER_PRICE


def published_cost_usd(model: str, usage: Mapping[str, float]) -> float | None:
    """Compute the cost by the list price of the provider; None for a model that it does not list."""
    provider, _, name = model.partition(":")
    if provider not in _PUBLISHERS:
        return None
    # Only models without a price of the operator need the table, which takes half a second to import. It is the
    # one of the installed package: nothing fetches another.
    from genai_prices import Usage, calc_price  # noqa: PLC0415

    counts = Usage(
        input_tokens=int(usage.get("input_tokens", 0)),
        cache_read_tokens=int(usage.get("cached_tokens", 0)),
        output_tokens=int(usage.get("output_tokens", 0)),
    )
    try:
        return float(calc_price(counts, name, provider_id=_PUBLISHERS[provider]).total_price)
    except (LookupError, ValueError):
        return None


def has_price(prices: Prices, model: str) -> bool:
    return model in prices or published_cost_usd(model, {"input_tokens": 1}) is not None


_PUBLISHERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google_genai": "google",
    "openrouter": "openrouter",
    "azure_openai": "azure",
}
"""Provider -> its name in the table of published prices."""


def add_cost(prices: Prices, model: str, usage: Mapping[str, float]) -> Mapping[str, float]:
    """Return the usage with its `cost_usd`, if the model has a price and tokens were used."""
    cost = cost_usd(prices, model, usage) if usage else None
    return usage if cost is None else {**usage, "cost_usd": cost}


def load_prices(path: Path | None) -> Prices:
    """Read prices from a TOML or JSON file. Raises InvalidInput that says what is wrong with it.
    ["openai:gpt-5.5"]
    input = 1.25
    output = 10
    cached = 0.125
    """
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        return _TABLE.validate_python(json.loads(text) if path.suffix == ".json" else tomllib.loads(text))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()
        )
        raise InvalidInput("bad_prices", f"LLM_PRICES={path}: {wrong}.") from error
    except (OSError, ValueError) as error:
        raise InvalidInput("bad_prices", f"LLM_PRICES={path} cannot be read: {error}.") from error
