"""The time grid of each coin's bars: the interval and its phase, inferred from the data."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from app.computations.bars.coin_runs import BarRun, Flags, Ints
from app.computations.bars.interval import DAY_S, MONTH_S, interval_name
from app.errors import InvalidInput, TooLarge

SECOND_US = 1_000_000
MAX_COINS = 10_000
"""Coins of a file: more are no list of coins but a wrong column."""
_MIN_STEPS = 3
"""Steps that show an interval; with fewer, those of all coins are used."""
_MAX_TIMES = 500
"""First times of a coin that the phase is inferred from."""
_MAX_DISTINCT_STEPS = 50_000
"""Distinct steps that are counted, to bound memory; then the rarer half is dropped."""
_SUMMER_TIME_US = 3_600 * SECOND_US
"""Shift of summer time."""


@dataclass(frozen=True)
class Grid:
    """Times of bars: `interval_us` between two bars, and the offset `phase_us` within an interval."""

    interval_us: int
    phase_us: int

    @property
    def interval_s(self) -> int:
        return self.interval_us // SECOND_US

    @property
    def looks_like_ends(self) -> bool:
        """True for times just before a bar ends, such as 00:04:59.999 of five minutes."""
        span = min(self.interval_us, DAY_S * SECOND_US)
        return span > SECOND_US and self.phase_us >= span - SECOND_US

    def contains(self, ts: Ints) -> Flags:
        """Return a mask of the times on the grid (bars,).

        Bars longer than an hour may shift by an hour with summer time. For bars of a day or more only the time
        of day is checked: weeks and months begin on any day.
        """
        if self.interval_us <= _SUMMER_TIME_US:
            return np.equal((ts - self.phase_us) % self.interval_us, 0)
        span = min(self.interval_us, DAY_S * SECOND_US)
        # Shifted by the hour, so that times an hour early do not wrap round to the end of the span.
        offset = (ts - self.phase_us + _SUMMER_TIME_US) % span
        if self.interval_us >= DAY_S * SECOND_US:
            return np.less_equal(offset, 2 * _SUMMER_TIME_US)
        return np.isin(offset, (0, _SUMMER_TIME_US, 2 * _SUMMER_TIME_US))


@dataclass
class _CoinTimes:
    """Times of one coin, collected while its rows are read."""

    last: int | None = None
    steps: Counter[int] = field(default_factory=Counter)
    first_times: list[int] = field(default_factory=list)


@dataclass
class Spacing:
    """Steps between the times of each coin. `ordered`: true if each coin's rows are contiguous, oldest
    first."""

    coins: dict[str, _CoinTimes] = field(default_factory=dict)
    ordered: bool = True

    def infer_grids(self, requested_s: int | None) -> dict[str, Grid]:
        """Infer the grid of each coin. Raises InvalidInput if the data show no interval, or another than the
        requested one."""
        all_steps = sum((times.steps for times in self.coins.values()), Counter[int]())
        return {
            coin: _infer_grid(coin, times, all_steps, requested_s and requested_s * SECOND_US)
            for coin, times in self.coins.items()
        }


def measure_spacing(runs: Iterable[BarRun]) -> Spacing:
    """Measure the steps of each coin in one pass; stops, with `ordered` false, at rows out of order.

    Raises TooLarge for too many coins.
    """
    spacing, current = Spacing(), None
    for run in runs:
        if run.coin is None or not run.timed.any():
            continue
        ts = run.ts[run.timed]
        if run.coin != current and run.coin in spacing.coins:
            return Spacing(ordered=False)
        current = run.coin
        times = spacing.coins.setdefault(current, _CoinTimes())
        if len(spacing.coins) > MAX_COINS:
            raise TooLarge("too_many_coins", f"The file has more than {MAX_COINS:,} coins.", limit=MAX_COINS)
        # The last time of the run before belongs to the same coin, so the step across two runs counts too.
        steps = np.diff(ts) if times.last is None else np.diff(ts, prepend=times.last)
        if (steps < 0).any():
            return Spacing(ordered=False)
        times.last = int(ts[-1])
        times.first_times += ts[: _MAX_TIMES - len(times.first_times)].tolist()
        # Steps of 0 are repeated rows, which validation drops.
        sizes, counts = np.unique(steps[steps > 0], return_counts=True)
        times.steps.update(dict(zip(sizes.tolist(), counts.tolist(), strict=True)))
        if len(times.steps) > _MAX_DISTINCT_STEPS:
            times.steps = Counter(dict(times.steps.most_common(_MAX_DISTINCT_STEPS // 2)))
    return spacing


def _infer_grid(coin: str, times: _CoinTimes, all_steps: Counter[int], requested_us: int | None) -> Grid:
    steps = times.steps if times.steps.total() >= _MIN_STEPS else all_steps
    inferred = _round_to_calendar(_most_frequent(steps)) if steps.total() >= _MIN_STEPS else None
    if inferred is None and requested_us is None:
        raise InvalidInput(
            "no_interval",
            f"{coin} has too few bars to infer their interval. Set it with `interval`.",
            coin=coin,
        )
    interval = requested_us or inferred or 0
    # Longer steps than requested are gaps. Shorter ones contradict the sender only if they are the rule.
    if requested_us and inferred and inferred < requested_us and 2 * max(steps.values()) >= steps.total():
        actual = interval_name(max(inferred // SECOND_US, 1))
        raise InvalidInput(
            "other_interval",
            f"The bars of {coin} are {actual} apart, not {interval_name(requested_us // SECOND_US)}.",
            coin=coin,
            found=actual,
        )
    # Bars are whole seconds apart; other steps are those between single trades.
    if interval % SECOND_US:
        raise InvalidInput(
            "no_interval",
            f"The times of {coin} are {interval / SECOND_US:g} s apart: these look like trades, not bars.",
            coin=coin,
        )
    # Weeks and months begin on any day, so the phase of longer bars is their time of day.
    stamps = np.asarray(times.first_times, dtype=np.int64) % min(interval, DAY_S * SECOND_US)
    values, counts = np.unique(stamps, return_counts=True)
    return Grid(interval, int(values[counts.argmax()]))


def _most_frequent(steps: Counter[int]) -> int:
    """The most frequent step; the smallest of equally frequent ones."""
    return min(steps, key=lambda step: (-steps[step], step))


def _round_to_calendar(step_us: int) -> int:
    """Round a step of 28 to 31 days to a month, and one near whole days to days."""
    day_us = DAY_S * SECOND_US
    if 28 * day_us <= step_us <= 31 * day_us:
        return MONTH_S * SECOND_US
    near = round(step_us / day_us) * day_us
    return near if near and abs(step_us - near) <= _SUMMER_TIME_US else step_us
