"""Cost of a chat-model call by the operator's price table."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.errors import InvalidInput

Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_TOKENS_PER_PRICE = 1_000_000


class Price(BaseModel):
    """USD for a million tokens. `cached`: input that the provider had read before; without it, as `input`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Rate
    output: Rate
    cached: Rate | None = None


Prices = Mapping[str, Price]
"""By the model's name: `provider:model`."""

_TABLE = TypeAdapter(dict[str, Price])


def cost_usd(prices: Prices, model: str, usage: Mapping[str, float]) -> float | None:
    """Compute the cost of `usage` (token counts) in USD; None without a price of the model."""
    price = prices.get(model)
    if price is None:
        return None
    cached = usage.get("cached_tokens", 0)
    fresh = usage.get("input_tokens", 0) - cached
    read = price.input if price.cached is None else price.cached
    return (
        fresh * price.input + cached * read + usage.get("output_tokens", 0) * price.output
    ) / _TOKENS_PER_PRICE


def add_cost(prices: Prices, model: str, usage: Mapping[str, float]) -> Mapping[str, float]:
    """The usage with its `cost_usd`, where that is known and anything was used."""
    cost = cost_usd(prices, model, usage) if usage else None
    return usage if cost is None else {**usage, "cost_usd": cost}


def load_prices(path: Path | None) -> Prices:
    """The table of a TOML or JSON file; raises InvalidInput that says what is wrong with it.

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
