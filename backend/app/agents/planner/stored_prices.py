"""The stored prices that a goal is about: whose they are, and how many of their bars lie in a time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.agents.goals.patterns import COINS
from app.agents.runtime.conversation import ConversationView
from app.computations.bars.interval import DAY_S, interval_seconds
from app.datasets.price_series import known_coin

_TOKEN = re.compile(r"[A-Za-z0-9^](?:[\w.:/=^-]{0,60}\w)?")
_MIN_PLAIN = 5
"""Letters from which on a name in small letters is no word of the goal by chance, as `eurusd`."""
_ALWAYS_OPEN = 0.8
"""The share of its time from which on a market that has bars counts as one that does not close."""
_WEEK_S, _WEEKDAYS = 7 * DAY_S, 5 / 7


@dataclass(frozen=True)
class Stored:
    """Bars of one coin at one interval. `open_share`: how much of the time between the first and the last they
    cover; a market that closes at night and at weekends has a fifth or less."""

    coin: str
    interval_s: int
    open_share: float


def stored(view: ConversationView) -> list[Stored]:
    """What there is, once it was looked at."""
    listed = view.last_success("get_available_coins")
    return [_stored(row) for row in listed.value["coins"]] if listed else []


def named(text: str, there: Sequence[Stored]) -> tuple[str, ...]:
    """Coins that a goal names, in its order: stored ones by their stored name, well-known others by theirs."""
    names = list(dict.fromkeys(one.coin for one in there))
    found = (_coin(token, names) for token in _TOKEN.findall(text))
    return tuple(dict.fromkeys(coin for coin in found if coin))


def bar_seconds(coins: Sequence[str], there: Sequence[Stored]) -> int | None:
    """How long the bars of these coins are where the goal does not say: the shortest that all of them have."""
    each = [{one.interval_s for one in there if one.coin == coin} for coin in coins]
    common = set.intersection(*each) if each else set()
    return min(common) if common else None


def bars_ahead(seconds: float, interval_s: int, coin: str | None, there: Sequence[Stored]) -> int:
    """The bars that come in that time, at least one: a week of daily shares has five, and their day is one of
    trading."""
    own = [one for one in there if one.coin == coin and one.interval_s <= interval_s]
    share = max(own, key=lambda one: one.interval_s).open_share if own else 1.0
    if share > _ALWAYS_OPEN or seconds < DAY_S:
        share = 1.0
    else:
        share = share if interval_s < DAY_S else _WEEKDAYS
        share = share if seconds >= _WEEK_S else share / _WEEKDAYS
    return max(1, round(seconds * min(share, 1.0) / interval_s))


def _stored(row: dict[str, str | int]) -> Stored:
    interval_s = interval_seconds(str(row.get("interval") or "5m"))
    begin, end = (datetime.fromisoformat(str(row[key])) if row.get(key) else None for key in ("first", "last"))
    span = (end - begin).total_seconds() + interval_s if begin and end else 0.0
    return Stored(str(row["coin"]), interval_s, int(row["bars"]) * interval_s / span if span else 1.0)


def _coin(token: str, names: Sequence[str]) -> str | None:
    symbol = COINS.get(token.lower())
    if symbol:
        return known_coin(symbol, names) or symbol
    in_capitals = len(token) > 1 and token == token.upper() and not token.isdigit()
    if in_capitals or len(token) >= _MIN_PLAIN:
        found = known_coin(token, names)
        return found if in_capitals or (found and _same(token, found)) else None
    return None


def _same(token: str, coin: str) -> bool:
    plain = re.compile(r"[^A-Z0-9]")
    return plain.sub("", token.upper()) == plain.sub("", coin)
