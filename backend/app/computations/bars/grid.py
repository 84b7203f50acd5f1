"""On which times a coin's bars stand: its interval and where on it, found from the data."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from app.computations.bars.interval import DAY_S, MONTH_S, interval_name
from app.computations.bars.runs import Flags, Ints, Stretch
from app.errors import InvalidInput, TooLarge

SECOND_US = 1_000_000
MAX_COINS = 10_000
_FEW = 3
_KEPT_STAMPS = 500
_DISTINCT_STEPS = 50_000
_SUMMER_TIME_US = 3_600 * SECOND_US


@dataclass(frozen=True)
class Grid:
    """`interval_us` between two bars; `phase_us`: where the bars stand within an interval."""

    interval_us: int
    phase_us: int

    @property
    def interval_s(self) -> int:
        return self.interval_us // SECOND_US

    @property
    def looks_like_ends(self) -> bool:
        """Times just before a bar ends, as 00:04:59.999 of five minutes."""
        whole = min(self.interval_us, DAY_S * SECOND_US)
        return whole > SECOND_US and self.phase_us >= whole - SECOND_US

    def holds(self, ts: Ints) -> Flags:
        """Which times stand on it.

        Bars longer than an hour may move by one with summer time. Of bars of days and more only the time of day
        is looked at: weeks and months begin on any day.
        """
        if self.interval_us <= _SUMMER_TIME_US:
            return np.equal((ts - self.phase_us) % self.interval_us, 0)
        whole = min(self.interval_us, DAY_S * SECOND_US)
        off = (ts - self.phase_us + _SUMMER_TIME_US) % whole
        if self.interval_us >= DAY_S * SECOND_US:
            return np.less_equal(off, 2 * _SUMMER_TIME_US)
        return np.isin(off, (0, _SUMMER_TIME_US, 2 * _SUMMER_TIME_US))


@dataclass
class _Seen:
    """What is known of one coin while its rows go by."""

    last: int | None = None
    steps: Counter[int] = field(default_factory=Counter)
    stamps: list[int] = field(default_factory=list)


@dataclass
class Spacing:
    """Steps between the times of each coin. `ordered`: every coin's rows stand together, oldest first."""

    coins: dict[str, _Seen] = field(default_factory=dict)
    ordered: bool = True

    def grids(self, asked_s: int | None) -> dict[str, Grid]:
        """Of each coin. Raises InvalidInput when the data tell of no interval, or of another than asked."""
        everywhere = sum((seen.steps for seen in self.coins.values()), Counter[int]())
        return {
            coin: _grid(coin, seen, everywhere, asked_s and asked_s * SECOND_US)
            for coin, seen in self.coins.items()
        }


def measure_spacing(rows: Iterable[Stretch]) -> Spacing:
    """One pass; stops, with `ordered` false, where rows are out of order. Raises TooLarge for many coins."""
    spacing, current = Spacing(), None
    for stretch in rows:
        if stretch.coin is None or not stretch.timed.any():
            continue
        ts = stretch.ts[stretch.timed]
        if stretch.coin != current and stretch.coin in spacing.coins:
            return Spacing(ordered=False)
        current = stretch.coin
        seen = spacing.coins.setdefault(current, _Seen())
        if len(spacing.coins) > MAX_COINS:
            raise TooLarge("too_many_coins", f"The file has more than {MAX_COINS:,} coins.", limit=MAX_COINS)
        steps = np.diff(ts) if seen.last is None else np.diff(ts, prepend=seen.last)
        if (steps < 0).any():
            return Spacing(ordered=False)
        seen.last = int(ts[-1])
        seen.stamps += ts[: _KEPT_STAMPS - len(seen.stamps)].tolist()
        sizes, counts = np.unique(steps[steps > 0], return_counts=True)
        seen.steps.update(dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
        if len(seen.steps) > _DISTINCT_STEPS:
            seen.steps = Counter(dict(seen.steps.most_common(_DISTINCT_STEPS // 2)))
    return spacing


def _grid(coin: str, seen: _Seen, everywhere: Counter[int], asked_us: int | None) -> Grid:
    counted = seen.steps if seen.steps.total() >= _FEW else everywhere
    found = _calendar(_commonest(counted)) if counted.total() >= _FEW else None
    if found is None and asked_us is None:
        raise InvalidInput(
            "no_interval",
            f"{coin} has too few bars to tell how long one lasts. Say it with `interval`.",
            coin=coin,
        )
    interval = asked_us or found or 0
    if asked_us and found and found < asked_us and 2 * max(counted.values()) >= counted.total():
        there = interval_name(max(found // SECOND_US, 1))
        raise InvalidInput(
            "other_interval",
            f"The bars of {coin} stand {there} apart, not {interval_name(asked_us // SECOND_US)}.",
            coin=coin,
            found=there,
        )
    if interval % SECOND_US:
        raise InvalidInput(
            "no_interval",
            f"The times of {coin} stand {interval / SECOND_US:g} s apart: these look like trades, not bars.",
            coin=coin,
        )
    stamps = np.asarray(seen.stamps, dtype=np.int64) % min(interval, DAY_S * SECOND_US)
    values, counts = np.unique(stamps, return_counts=True)
    return Grid(interval, int(values[counts.argmax()]))


def _commonest(steps: Counter[int]) -> int:
    """The most frequent step; of equally frequent ones the smallest."""
    return min(steps, key=lambda step: (-steps[step], step))


def _calendar(step_us: int) -> int:
    """Days of a month differ: 28 to 31 of them are a month."""
    day_us = DAY_S * SECOND_US
    if 28 * day_us <= step_us <= 31 * day_us:
        return MONTH_S * SECOND_US
    near = round(step_us / day_us) * day_us
    return near if near and abs(step_us - near) <= _SUMMER_TIME_US else step_us
