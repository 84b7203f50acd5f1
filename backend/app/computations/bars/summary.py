"""Additive summary of a series of bars, updated without a new count."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from app.computations.bars.coin_runs import BarRun, Ints
from app.computations.bars.coverage import GapCounts, closes_at_weekends
from app.computations.bars.gaps import count_missing, count_weekend_bars
from app.computations.bars.grid import Grid
from app.json_types import JsonValue

MAX_GAPS = 50
"""Gaps that are listed per coin, the longest; all are counted."""
MAX_TOTAL_GAPS = 2_000
"""Gaps that are listed for all coins of a file."""

Gap = tuple[int, int, int]
"""Time of the bar before, time of the bar after (microseconds since 1970), and number of missing bars."""


@dataclass
class SeriesSummary:
    """Summary of one coin's good bars, added in order of time. `mean`, `spread` (sum of squares): of the
    closes."""

    grid: Grid
    bars: int = 0
    first: int = 0
    last: int = 0
    first_close: float = 0.0
    last_close: float = 0.0
    lowest: float = math.inf
    highest: float = -math.inf
    mean: float = 0.0
    spread: float = 0.0
    volume: float = 0.0
    gap_counts: GapCounts = field(default_factory=GapCounts)
    longest_gaps: dict[str, list[Gap]] = field(default_factory=lambda: {"always": [], "in_week": []})

    def add(self, bars: BarRun) -> None:
        """Add at least one bar, all later than those before."""
        close, volume = bars.measures["close"], bars.measures["volume"]
        self._count_gaps(bars.ts if not self.bars else np.concatenate([[self.last], bars.ts]))
        self.gap_counts = replace(
            self.gap_counts, weekend=self.gap_counts.weekend + count_weekend_bars(bars.ts)
        )
        if not self.bars:
            self.first, self.first_close = int(bars.ts[0]), float(close[0])
        self.last, self.last_close = int(bars.ts[-1]), float(close[-1])
        self.lowest = min(self.lowest, float(bars.measures["low"].min()))
        self.highest = max(self.highest, float(bars.measures["high"].max()))
        self.volume += float(volume.sum())
        # Chan, Golub and LeVeque (1979): combine the means and sums of squares of two parts.
        mean, previous_count, bars_now = float(close.mean()), self.bars, self.bars + len(bars)
        difference = mean - self.mean
        self.spread += (
            float(np.square(close - mean).sum()) + difference**2 * previous_count * len(bars) / bars_now
        )
        self.mean += difference * len(bars) / bars_now
        self.bars = bars_now

    def _count_gaps(self, ts: Ints) -> None:
        steps = count_missing(ts, self.grid.interval_us)
        in_week = (steps.within_day > 0) | (steps.days > 0)
        previous = self.gap_counts
        self.gap_counts = GapCounts(
            previous.gaps + int(np.count_nonzero(steps.always)),
            previous.missing + int(steps.always.sum()),
            previous.gaps_in_week + int(np.count_nonzero(in_week)),
            previous.missing_in_days + int(steps.within_day.sum()),
            previous.missing_days + int(steps.days.sum()),
            previous.weekend,
        )
        # Only the end shows whether nights and weekends are gaps, so the longest of both kinds are kept.
        for kind, missing in (("always", steps.always), ("in_week", np.where(in_week, steps.always, 0))):
            at = np.flatnonzero(missing)
            at = at[np.argsort(-missing[at], kind="stable")[:MAX_GAPS]]
            gaps = [(int(ts[i]), int(ts[i + 1]), int(missing[i])) for i in at]
            self.longest_gaps[kind] = sorted([*self.longest_gaps[kind], *gaps], key=lambda gap: -gap[2])[
                :MAX_GAPS
            ]

    def list_gaps(self, limit: int = MAX_GAPS) -> list[Gap]:
        """List the longest gaps, in order of time."""
        span_s = (self.last - self.first) / 1_000_000
        closes = closes_at_weekends(self.bars, self.gap_counts.weekend, span_s, self.grid.interval_s)
        return sorted(self.longest_gaps["in_week" if closes else "always"][:limit])

    def to_json(self) -> dict[str, JsonValue]:
        """Return the JSON of `price_series.summary`."""
        span_s = (self.last - self.first) / 1_000_000
        return {
            "lowest": self.lowest,
            "highest": self.highest,
            "mean_close": self.mean,
            "std_close": math.sqrt(self.spread / (self.bars - 1)) if self.bars > 1 else None,
            "mean_volume": self.volume / self.bars,
            "total_volume": self.volume,
            "first_close": self.first_close,
            "last_close": self.last_close,
            **self.gap_counts.to_json(self.bars, span_s, self.grid.interval_s),
        }
