"""The stored price series that a goal is about, and the conversion of durations to bars."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.agents.goals.tables.profiles import Column, TableProfile
from app.agents.goals.words.vocabulary import COINS
from app.agents.planner.tool_answers import PriceListing, PriceListingRow
from app.agents.runtime.conversation import ConversationView
from app.computations.bars.interval import DAY_S, interval_seconds
from app.datasets.price_series import find_coin

PRICES_TOOL = "get_available_coins"

# The profile of one day of five-minute bars represents all stored prices: only its spacing is used.
PRICES = TableProfile(
    "price_data_5min",
    0,
    (
        Column("ts", "datetime", "datetime", 289, low="2024-01-01", high="2024-01-02"),
        *(
            Column(name, "number", "numeric", distinct=1000)
            for name in ("open", "high", "low", "close", "volume")
        ),
    ),
)
BAR_COLUMNS = frozenset({"open", "high", "low", "close"})

_TOKEN = re.compile(r"[A-Za-z0-9^](?:[\w.:/=^-]{0,60}\w)?")
_MIN_LOWERCASE_LETTERS = 5
"""Letters from which a lower-case token such as `eurusd` is accepted as a symbol instead of a word."""
_MIN_ALWAYS_OPEN_SHARE = 0.8
"""Share of the time covered by bars from which a market counts as always open."""
_DEFAULT_INTERVAL = "5m"
"""The interval of bars that were stored before series had one."""
_WEEK_S = 7 * DAY_S
_WEEKDAYS = 5 / 7
"""Share of a week in which a market of five days trades."""


@dataclass(frozen=True)
class StoredSeries:
    """Bars of one coin at one interval. `open_share`: the share of the time from the first to the last bar that
    they cover; a market that closes at night and at weekends has a fifth or less."""

    coin: str
    interval_s: int
    open_share: float


def has_bars(table: TableProfile) -> bool:
    """Tell if a table has the columns of price bars."""
    return {column.name.casefold() for column in table.columns} >= BAR_COLUMNS


def stored_series(view: ConversationView[Any]) -> list[StoredSeries]:
    """Return the stored series, if they have been listed."""
    listing = view.last_success(PRICES_TOOL)
    return list(map(_make_stored_series, PriceListing.model_validate(listing.value).coins)) if listing else []


def coins_in_goal(text: str, series: Sequence[StoredSeries]) -> tuple[str, ...]:
    """Return the coins that a goal names, in its order, stored ones by their stored name."""
    names = list(dict.fromkeys(entry.coin for entry in series))
    coins = (_match_coin(token, names) for token in _TOKEN.findall(text))
    return tuple(dict.fromkeys(coin for coin in coins if coin))


def bar_seconds(coins: Sequence[str], series: Sequence[StoredSeries]) -> int | None:
    """Return the shortest bar length that all of these coins have, or None."""
    intervals = [{entry.interval_s for entry in series if entry.coin == coin} for coin in coins]
    common = set.intersection(*intervals) if intervals else set()
    return min(common) if common else None


def bars_ahead(seconds: float, interval_s: int, coin: str | None, series: Sequence[StoredSeries]) -> int:
    """Return the number of bars in that time, at least 1: a week of daily share prices has five."""
    candidates = [entry for entry in series if entry.coin == coin and entry.interval_s <= interval_s]
    share = max(candidates, key=lambda entry: entry.interval_s).open_share if candidates else 1.0
    if share > _MIN_ALWAYS_OPEN_SHARE or seconds < DAY_S:
        share = 1.0
    else:
        share = share if interval_s < DAY_S else _WEEKDAYS
        # Less than a week may hold no weekend, so that only the closed hours of a day are taken off.
        share = share if seconds >= _WEEK_S else share / _WEEKDAYS
    return max(1, round(seconds * min(share, 1.0) / interval_s))


def _make_stored_series(row: PriceListingRow) -> StoredSeries:
    interval_s = interval_seconds(row.interval or _DEFAULT_INTERVAL)
    span_s = (row.last - row.first).total_seconds() + interval_s if row.first and row.last else 0.0
    return StoredSeries(row.coin, interval_s, row.bars * interval_s / span_s if span_s else 1.0)


def _match_coin(token: str, names: Sequence[str]) -> str | None:
    symbol = COINS.get(token.lower())
    if symbol:
        # A coin that is not stored is returned, too: the user is then told that its prices are missing.
        return find_coin(symbol, names) or symbol
    # Symbols are mostly written in capitals: "near" is a word and `NEAR` a coin.
    in_capitals = len(token) > 1 and token == token.upper() and not token.isdigit()
    if in_capitals or len(token) >= _MIN_LOWERCASE_LETTERS:
        coin = find_coin(token, names)
        return coin if in_capitals or (coin and _is_same_symbol(token, coin)) else None
    return None


def _is_same_symbol(token: str, coin: str) -> bool:
    plain = re.compile(r"[^A-Z0-9]")
    return plain.sub("", token.upper()) == plain.sub("", coin)
