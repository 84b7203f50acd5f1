"""Series of bars that one user sees: their own, and those that everybody shares."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from app.computations.bars.interval import DAY_S, MONTH_S, interval_name
from app.errors import NotFound


@dataclass(frozen=True)
class PriceSeries:
    """One coin's bars at one interval; `summary` is of all of them."""

    id: int
    coin: str
    interval_s: int
    bars: int
    first: datetime
    last: datetime
    summary: Mapping[str, Any]
    is_shared: bool

    @classmethod
    def from_row(cls, summary: str, **columns: Any) -> Self:
        """Make a series from a row of `price_queries.VISIBLE`, whose summary is JSON text."""
        return cls(summary=json.loads(summary), **columns)

    @property
    def interval(self) -> str:
        return interval_name(self.interval_s)

    def to_json(self) -> dict[str, Any]:
        return {
            "coin": self.coin,
            "interval": self.interval,
            "bars": self.bars,
            "first": self.first,
            "last": self.last,
            "shared": self.is_shared,
        }


# Of two symbols with the same base, the one that is quoted in the earlier of these is meant.
_QUOTES = ("USDT", "USD", "USDC", "FDUSD", "BUSD", "EUR", "GBP", "BTC", "ETH")
_SEPARATORS = "/-_:^"
_FOREX_SUFFIX = "=X"
"""How Yahoo ends a pair of currencies."""


def find_coin(name: str, coins: Iterable[str]) -> str | None:
    """The coin of that name; `BTC` also finds `BTCUSDT`, `BTC/USD` and the like, `btc-usdt` also `BTC/USDT`,
    and `MSFT` a share that is named with its exchange, `MSFT.US`."""
    by_plain = {_normalize(coin): coin for coin in sorted(coins, reverse=True)}
    by_share = {name.partition(".")[0]: coin for name, coin in by_plain.items()}
    asked = _normalize(name)
    found = (by_plain.get(asked + quote) for quote in ("", *_QUOTES))
    return next((coin for coin in found if coin), by_share.get(asked))


def _normalize(coin: str) -> str:
    return "".join(letter for letter in coin.upper().removesuffix(_FOREX_SUFFIX) if letter not in _SEPARATORS)


def choose_series(
    series: Collection[PriceSeries], coins: Sequence[str], interval_s: int | None
) -> list[PriceSeries]:
    """One series for each coin, all of one interval: the wanted one, or the longest it can be summed up from.

    Without a wish the shortest that all of them have. Raises NotFound naming what there is.
    """
    by_interval = [
        {one.interval_s for one in series if one.coin == coin and _can_make(one.interval_s, interval_s)}
        for coin in coins
    ]
    all_have = set.intersection(*by_interval) if by_interval else set()
    if not all_have:
        raise NotFound("no_such_interval", _refusal(series, coins, interval_s), coins=list(coins))
    interval = min(all_have) if interval_s is None else max(all_have)
    found = {one.coin: one for one in series if one.interval_s == interval}
    return [found[coin] for coin in coins]


def _can_make(interval_s: int, target_s: int | None) -> bool:
    if target_s is None or interval_s == target_s:
        return True
    if target_s % MONTH_S == 0 and target_s % DAY_S == 0:
        return DAY_S % interval_s == 0
    return interval_s < target_s and target_s % interval_s == 0


def _refusal(series: Collection[PriceSeries], coins: Sequence[str], interval_s: int | None) -> str:
    there = "; ".join(
        f"{coin} at {', '.join(one.interval for one in series if one.coin == coin) or 'none'}" for coin in coins
    )
    if interval_s is None:
        return (
            f"These coins have no interval in common: {there}. Say an `interval` that all can be summed up to."
        )
    return f"There are no bars to make {interval_name(interval_s)} of: {there}."
