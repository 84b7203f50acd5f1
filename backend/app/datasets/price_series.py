"""Series of bars that one user sees: their own, and those that everybody shares."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.computations.bars.interval import DAY_S, MONTH_S, interval_name
from app.errors import NotFound


@dataclass(frozen=True)
class Series:
    """One coin's bars at one interval; `summary` is of all of them."""

    id: int
    coin: str
    interval_s: int
    bars: int
    first: datetime
    last: datetime
    summary: Mapping[str, Any]
    shared: bool

    @property
    def interval(self) -> str:
        return interval_name(self.interval_s)

    def listed(self) -> dict[str, Any]:
        return {
            "coin": self.coin,
            "interval": self.interval,
            "bars": self.bars,
            "first": self.first,
            "last": self.last,
            "shared": self.shared,
        }


# Of two symbols with the same base, the one that is quoted in the earlier of these is meant.
_QUOTES = ("USDT", "USD", "USDC", "FDUSD", "BUSD", "EUR", "GBP", "BTC", "ETH")
_MARKS = "/-_:^"
_FOREX = "=X"
"""How Yahoo ends a pair of currencies."""


def known_coin(wanted: str, coins: Iterable[str]) -> str | None:
    """The coin of that name; `BTC` also finds `BTCUSDT`, `BTC/USD` and the like, `btc-usdt` also `BTC/USDT`,
    and `MSFT` a share that is named with its exchange, `MSFT.US`."""
    by_plain = {_plain(coin): coin for coin in sorted(coins, reverse=True)}
    by_share = {name.partition(".")[0]: coin for name, coin in by_plain.items()}
    asked = _plain(wanted)
    found = (by_plain.get(asked + quote) for quote in ("", *_QUOTES))
    return next((coin for coin in found if coin), by_share.get(asked))


def _plain(coin: str) -> str:
    return "".join(letter for letter in coin.upper().removesuffix(_FOREX) if letter not in _MARKS)


def choose(series: Collection[Series], coins: Sequence[str], wanted_s: int | None) -> list[Series]:
    """One series for each coin, all of one interval: the wanted one, or the longest it can be summed up from.

    Without a wish the shortest that all of them have. Raises NotFound naming what there is.
    """
    by_interval = [
        {one.interval_s for one in series if one.coin == coin and _serves(one.interval_s, wanted_s)}
        for coin in coins
    ]
    all_have = set.intersection(*by_interval) if by_interval else set()
    if not all_have:
        raise NotFound("no_such_interval", _refusal(series, coins, wanted_s), coins=list(coins))
    interval = min(all_have) if wanted_s is None else max(all_have)
    found = {one.coin: one for one in series if one.interval_s == interval}
    return [found[coin] for coin in coins]


def _serves(interval_s: int, wanted_s: int | None) -> bool:
    if wanted_s is None or interval_s == wanted_s:
        return True
    if wanted_s % MONTH_S == 0 and wanted_s % DAY_S == 0:
        return DAY_S % interval_s == 0
    return interval_s < wanted_s and wanted_s % interval_s == 0


def _refusal(series: Collection[Series], coins: Sequence[str], wanted_s: int | None) -> str:
    there = "; ".join(
        f"{coin} at {', '.join(one.interval for one in series if one.coin == coin) or 'none'}" for coin in coins
    )
    if wanted_s is None:
        return (
            f"These coins have no interval in common: {there}. Say an `interval` that all can be summed up to."
        )
    return f"There are no bars to make {interval_name(wanted_s)} of: {there}."
