"""Tools for stored prices: available series, statistics, and bars as the session's table."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from app.computations.bars.interval import interval_name
from app.counts import describe_count
from app.datasets.price_series import PriceSeries, find_coin
from app.datasets.prices import Prices, to_utc
from app.errors import ToolRefused
from app.json_types import JsonValue
from app.modeling.problem.name_resolution import resolve_name
from app.sessions.step_scope import CallResult
from app.tools.context.tool_context import ToolContext
from app.tools.data.frames import RETRIEVED, make_artifact
from app.tools.registry import tool

RETRIEVAL = ("data_retrieval",)
PLANNING = ("planner", *RETRIEVAL)

Coin = Annotated[str, Field(description="As get_available_coins names it.", min_length=1, max_length=32)]
Interval = Annotated[
    str | None, Field(description="As 5m, 1h or 1d; without it as stored.", max_length=12, examples=["5m"])
]
Moment = Annotated[datetime | None, Field(description="ISO 8601; without a zone it is UTC.")]


@tool(agents=PLANNING)
async def get_available_coins(ctx: ToolContext) -> CallResult:
    """List the coins and intervals with stored bars, their number and first and last time."""
    coins = [_to_json(series.to_json()) for series in await _prices(ctx).list_series()]
    names = ", ".join(f"{row['coin']} {row['interval']} ({row['bars']:,} bars)" for row in coins)
    return CallResult(value={"coins": list(coins)}, summary=names or "There are no prices.")


@tool(agents=RETRIEVAL)
async def get_data_statistics(
    ctx: ToolContext,
    coin: Annotated[Coin | None, Field(description="One coin; without it all.")] = None,
    start: Moment = None,
    end: Moment = None,
) -> CallResult:
    """Summarise prices per coin and interval: bars, gaps, minimum, maximum, mean, deviation and change."""
    prices = _prices(ctx)
    coin_name = _resolve_coin(coin, await prices.list_series()) if coin else None
    rows = [_to_json(row) for row in await prices.statistics(coin_name, to_utc(start), to_utc(end))]
    return CallResult(value={"coins": list(rows)}, summary=f"{len(rows)} series.")


@tool(agents=RETRIEVAL)
async def fetch_price_data(
    ctx: ToolContext,
    coins: Annotated[list[Coin], Field(min_length=1, max_length=100)],
    start: Moment = None,
    end: Moment = None,
    interval: Interval = None,
) -> CallResult:
    """Take bars (ts, open, high, low, close, volume), oldest first, as the session's table.

    With several coins, the column `coin` names the coin. Longer intervals are aggregated from shorter ones.
    """
    prices = _prices(ctx)
    series = await prices.list_series()
    # Repetitions go after the names are resolved: `btc` and `BTC/USDT` may be the same series.
    coin_names = list(dict.fromkeys(_resolve_coin(coin, series) for coin in coins))
    fetched = await prices.fetch(coin_names, to_utc(start), to_utc(end), interval)
    facts = fetched.facts
    source: dict[str, JsonValue] = {
        "coins": list(fetched.coins),
        "interval": interval_name(fetched.interval_s),
        "seconds": fetched.interval_s,
    }
    meta = {"rows": facts["rows"], "columns": facts["columns"], "source": {"prices": source}}
    names = ", ".join(fetched.coins)
    lacking = facts["incomplete"]["count"]
    return CallResult(
        value={"frame": RETRIEVED, **source, **facts},
        summary=f"{names}: {describe_count(facts['rows'], 'bar')} of {source['interval']}."
        + (f" {lacking:,} of them lack a part." if lacking else ""),
        artifacts=[make_artifact(fetched.computed.file("frame.parquet"), "frame", RETRIEVED, meta)],
    )


def _prices(ctx: ToolContext) -> Prices:
    if ctx.prices is None:
        raise ToolRefused("This installation has no stored prices.")
    return ctx.prices


def _resolve_coin(coin: str, series: list[PriceSeries]) -> str:
    names = list(dict.fromkeys(entry.coin for entry in series))
    # Symbols of pairs first, by the rules of coins; then as any name, with the nearest ones in the refusal.
    return find_coin(coin, names) or resolve_name(coin, names, "coin")


def _to_json(row: dict[str, Any]) -> dict[str, JsonValue]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}
