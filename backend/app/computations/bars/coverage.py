"""Missing bars of a series, by the trading hours of its market. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.computations.bars.interval import DAY_S

_OPEN_AT_WEEKENDS = 0.05
"""Share of bars at weekends up to which a market is closed then: currencies, which open on Sunday evening, have
a fiftieth."""
_MIN_DAYS = 7
"""A span of bars that contains a weekend."""


@dataclass(frozen=True)
class GapCounts:
    """Counts of `bars/gaps.py`. `weekend`: bars on Saturdays and Sundays (UTC)."""

    gaps: int = 0
    missing: int = 0
    gaps_in_week: int = 0
    missing_in_days: int = 0
    missing_days: int = 0
    weekend: int = 0

    def to_json(self, bars: int, span_s: float, interval_s: int) -> Mapping[str, int | bool]:
        """Return `{"gaps", "missing", "missing_days", "closes_at_weekends"}`; a missing day of daily bars is
        a bar."""
        if not closes_at_weekends(bars, self.weekend, span_s, interval_s):
            counts: dict[str, int | bool] = {"gaps": self.gaps, "missing": self.missing, "missing_days": 0}
            return counts | {"closes_at_weekends": False}
        days = self.missing_days if interval_s == DAY_S else 0
        return {
            "gaps": self.gaps_in_week,
            "missing": self.missing_in_days + days,
            "missing_days": self.missing_days,
            "closes_at_weekends": True,
        }


def closes_at_weekends(bars: int, at_weekends: int, span_s: float, interval_s: int) -> bool:
    """Return true if the market closes at weekends, going by at least a week of bars of a day or less."""
    long_enough = span_s >= _MIN_DAYS * DAY_S
    return long_enough and interval_s <= DAY_S and at_weekends <= _OPEN_AT_WEEKENDS * bars
