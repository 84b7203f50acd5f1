"""What is kept of a series of bars: numbers that add up, so that nothing has to be counted again."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from app.computations.bars.coverage import Absence, closes_at_weekends
from app.computations.bars.gaps import at_weekends, steps_between
from app.computations.bars.grid import Grid
from app.computations.bars.runs import Ints, Stretch
from app.json_types import JsonValue

SHOWN_GAPS = 50
"""Gaps that are named of one coin; all are counted."""
SHOWN_OF_ALL = 2_000

Gap = tuple[int, int, int]
"""Time of the bar before, of the bar after (microseconds since 1970), and bars that lack."""


@dataclass
class Summary:
    """Of one coin's good bars, added in order of time. `mean`, `spread` (squares around it): the closes'."""

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
    absence: Absence = field(default_factory=Absence)
    shown: dict[str, list[Gap]] = field(default_factory=lambda: {"always": [], "in_week": []})

    def add(self, bars: Stretch) -> None:
        """Bars that come after all that were added; at least one."""
        close, volume = bars.measures["close"], bars.measures["volume"]
        self._count_gaps(bars.ts if not self.bars else np.concatenate([[self.last], bars.ts]))
        self.absence = replace(self.absence, weekend=self.absence.weekend + at_weekends(bars.ts))
        if not self.bars:
            self.first, self.first_close = int(bars.ts[0]), float(close[0])
        self.last, self.last_close = int(bars.ts[-1]), float(close[-1])
        self.lowest = min(self.lowest, float(bars.measures["low"].min()))
        self.highest = max(self.highest, float(bars.measures["high"].max()))
        self.volume += float(volume.sum())
        # Chan, Golub and LeVeque (1979): means and squares of two parts make those of the whole.
        mean, before, bars_now = float(close.mean()), self.bars, self.bars + len(bars)
        apart = mean - self.mean
        self.spread += float(np.square(close - mean).sum()) + apart**2 * before * len(bars) / bars_now
        self.mean += apart * len(bars) / bars_now
        self.bars = bars_now

    def _count_gaps(self, ts: Ints) -> None:
        steps = steps_between(ts, self.grid.interval_us)
        in_week = (steps.within_day > 0) | (steps.days > 0)
        before = self.absence
        self.absence = Absence(
            before.gaps + int(np.count_nonzero(steps.always)),
            before.missing + int(steps.always.sum()),
            before.gaps_in_week + int(np.count_nonzero(in_week)),
            before.missing_in_days + int(steps.within_day.sum()),
            before.missing_days + int(steps.days.sum()),
            before.weekend,
        )
        # Whether nights and weekends are gaps shows at the end: the longest of both kinds are kept.
        for kind, lacking in (("always", steps.always), ("in_week", np.where(in_week, steps.always, 0))):
            at = np.flatnonzero(lacking)
            at = at[np.argsort(-lacking[at], kind="stable")[:SHOWN_GAPS]]
            found = [(int(ts[i]), int(ts[i + 1]), int(lacking[i])) for i in at]
            self.shown[kind] = sorted([*self.shown[kind], *found], key=lambda gap: -gap[2])[:SHOWN_GAPS]

    def gaps(self, most: int = SHOWN_GAPS) -> list[Gap]:
        """The longest, by time."""
        span_s = (self.last - self.first) / 1_000_000
        closes = closes_at_weekends(self.bars, self.absence.weekend, span_s, self.grid.interval_s)
        return sorted(self.shown["in_week" if closes else "always"][:most])

    def kept(self) -> dict[str, JsonValue]:
        """As `price_series.summary` has it."""
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
            **self.absence.told(self.bars, span_s, self.grid.interval_s),
        }
