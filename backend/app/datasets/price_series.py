"""Price series visible to a user, and the choice of series for requested coins."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from app.computations.bars.interval import DAY_S, MONTH_S, interval_name
from app.errors import NotFound


@dataclass(frozen=True)
class PriceSeries:
    """Bars of one coin at one interval; `summary` covers all of them."""

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


# Quote currencies in order of preference: `BTC` means BTCUSDT rather than BTCEUR.
_QUOTES = ("USDT", "USD", "USDC", "FDUSD", "BUSD", "EUR", "GBP", "BTC", "ETH")
_SEPARATORS = "/-_:^"
_FOREX_SUFFIX = "=X"
"""Suffix of currency pairs at Yahoo."""


def find_coin(name: str, coins: Iterable[str]) -> str | None:
    """Find a coin by name; None without a match.

    `BTC` also matches `BTCUSDT` or `BTC/USD`, `btc-usdt` also `BTC/USDT`, and `MSFT` the share `MSFT.US`.
    """
    # In reverse, so that of names that are normalized alike the first by alphabet stays.
    by_name = {_normalize(coin): coin for coin in sorted(coins, reverse=True)}
    by_share = {name.partition(".")[0]: coin for name, coin in by_name.items()}
    base = _normalize(name)
    matches = (by_name.get(base + quote) for quote in ("", *_QUOTES))
    return next((coin for coin in matches if coin), by_share.get(base))


def _normalize(coin: str) -> str:
    return "".join(letter for letter in coin.upper().removesuffix(_FOREX_SUFFIX) if letter not in _SEPARATORS)


def choose_series(
    series: Collection[PriceSeries], coins: Sequence[str], interval_s: int | None
) -> list[PriceSeries]:
    """Choose one series per coin, all of one interval: `interval_s`, or the longest that aggregates to it.

    Without `interval_s` the shortest interval that all coins have. Raises NotFound with the stored intervals.
    """
    by_interval = [
        {
            candidate.interval_s
            for candidate in series
            if candidate.coin == coin and _can_make(candidate.interval_s, interval_s)
        }
        for coin in coins
    ]
    common = set.intersection(*by_interval) if by_interval else set()
    if not common:
        raise NotFound("no_such_interval", _refusal(series, coins, interval_s), coins=list(coins))
    # With a wanted interval the longest that makes it, which has the fewest bars to read.
    chosen_s = min(common) if interval_s is None else max(common)
    by_coin = {candidate.coin: candidate for candidate in series if candidate.interval_s == chosen_s}
    return [by_coin[coin] for coin in coins]


def _can_make(interval_s: int, target_s: int | None) -> bool:
    if target_s is None or interval_s == target_s:
        return True
    # Months differ in length but are whole days, so the bars must fit into a day.
    if target_s % MONTH_S == 0:
        return DAY_S % interval_s == 0
    return interval_s < target_s and target_s % interval_s == 0


def _refusal(series: Collection[PriceSeries], coins: Sequence[str], interval_s: int | None) -> str:
    intervals = {coin: ", ".join(stored.interval for stored in series if stored.coin == coin) for coin in coins}
    stored_bars = "; ".join(f"{coin} at {names or 'none'}" for coin, names in intervals.items())
    if interval_s is None:
        return (
            f"These coins have no interval in common: {stored_bars}. "
            "Give an `interval` that all can be aggregated to."
        )
    return f"No stored bars can be aggregated to {interval_name(interval_s)}: {stored_bars}."
