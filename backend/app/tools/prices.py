"""Prices of coins: what there is, how it looks, and one coin's bars as the session's table."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from app.computations.bench import JsonValue
from app.datasets.prices import Prices, in_utc
from app.errors import ToolRefused
from app.modeling.nearest import must_know
from app.sessions.scope import Recorded
from app.tools.context import ToolContext
from app.tools.frames import RETRIEVED, artifact
from app.tools.registry import tool

RETRIEVAL = ("data_retrieval",)

Coin = Annotated[str, Field(description="As get_available_coins names it.", min_length=1, max_length=32)]
Moment = Annotated[datetime | None, Field(description="ISO 8601; without a zone it is UTC.")]


@tool(agents=RETRIEVAL)
async def get_available_coins(ctx: ToolContext) -> Recorded:
    """The coins that there are five-minute prices of, with the number of bars and the first and last time."""
    coins = [_plain(row) for row in await _prices(ctx).coins()]
    names = ", ".join(f"{row['coin']} ({row['bars']} bars)" for row in coins)
    return Recorded(value={"coins": list(coins)}, summary=names or "There are no prices.")


@tool(agents=RETRIEVAL)
async def get_data_statistics(
    ctx: ToolContext,
    coin: Annotated[Coin | None, Field(description="One coin; without it all.")] = None,
    start: Moment = None,
    end: Moment = None,
) -> Recorded:
    """Prices summed up per coin: bars, missing bars, lowest, highest, mean and change."""
    known = await _known(ctx, coin) if coin else None
    rows = [_plain(row) for row in await _prices(ctx).statistics(known, in_utc(start), in_utc(end))]
    return Recorded(value={"coins": list(rows)}, summary=f"{len(rows)} coins.")


@tool(agents=RETRIEVAL)
async def fetch_price_data(ctx: ToolContext, coin: Coin, start: Moment = None, end: Moment = None) -> Recorded:
    """Take one coin's bars (ts, open, high, low, close, volume), oldest first, as the session's table."""
    known = await _known(ctx, coin)
    computed = await _prices(ctx).fetch(known, in_utc(start), in_utc(end))
    facts: Any = computed.value
    meta = {"rows": facts["rows"], "columns": facts["columns"], "source": {"prices": known}}
    return Recorded(
        value={"frame": RETRIEVED, "coin": known, **facts},
        summary=f"{known}: {facts['rows']} bars.",
        artifacts=[artifact(computed.file("frame.parquet"), "frame", RETRIEVED, meta)],
    )


def _prices(ctx: ToolContext) -> Prices:
    if ctx.prices is None:
        raise ToolRefused("There are no prices here.")
    return ctx.prices


async def _known(ctx: ToolContext, coin: str) -> str:
    return must_know(coin, [row["coin"] for row in await _prices(ctx).coins()], "coin")


def _plain(row: dict[str, Any]) -> dict[str, JsonValue]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}
