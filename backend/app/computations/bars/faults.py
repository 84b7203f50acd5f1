"""Faults of bars, in the order in which they are checked, so that each bar has one reason."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from app.computations.bars.coin_runs import BarRun, Flags, Ints
from app.computations.bars.grid import Grid
from app.json_types import JsonValue

MAX_EXAMPLES = 100
"""Rows that are listed for each reason; all are counted."""

NO_COIN = "no coin"
REPEATED = "repeated by a later row"
CONTRADICTED = "a later row of the same coin and time has other values"
TOO_CLOSE = "less than half an interval after the bar before"

Codes = npt.NDArray[np.int64]
Rule = Callable[[BarRun, Grid, int], Flags]


def _prices(rows: BarRun) -> "list[npt.NDArray[np.float64]]":
    return [rows.measures[name] for name in ("open", "high", "low", "close")]


def _incomplete(rows: BarRun, grid: Grid, now_us: int) -> Flags:
    finite = np.isfinite(np.stack(list(rows.measures.values())))
    return np.logical_not(finite.all(axis=0))


def _not_highest(rows: BarRun, grid: Grid, now_us: int) -> Flags:
    opens, high, low, close = _prices(rows)
    return high < np.maximum(np.maximum(opens, close), low)


def _not_lowest(rows: BarRun, grid: Grid, now_us: int) -> Flags:
    opens, _, low, close = _prices(rows)
    return low > np.minimum(opens, close)


# Comparisons with NaN are false, so incomplete rows are found before the rules on values.
RULES: tuple[tuple[str, Rule], ...] = (
    ("no time", lambda rows, grid, now_us: ~rows.timed),
    ("it ends in the future", lambda rows, grid, now_us: rows.ts > now_us - grid.interval_us),
    ("off the grid of its interval", lambda rows, grid, now_us: ~grid.contains(rows.ts)),
    ("a value is missing or not a finite number", _incomplete),
    ("a price is not positive", lambda rows, grid, now_us: np.stack(_prices(rows)).min(axis=0) <= 0),
    ("the volume is negative", lambda rows, grid, now_us: rows.measures["volume"] < 0),
    ("high is not the highest", _not_highest),
    ("low is not the lowest", _not_lowest),
)


@dataclass
class Faults:
    """Faulty rows: counts and first examples by reason."""

    counts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, list[tuple[int, str | None, int | None]]] = field(default_factory=dict)

    def add(self, reason: str, bars: BarRun) -> None:
        if not len(bars):
            return
        self.counts[reason] = self.counts.get(reason, 0) + len(bars)
        examples = self.rows.setdefault(reason, [])
        # Rows come by coin, so those of a later coin may stand earlier in the file.
        limit = examples[-1][0] if len(examples) >= MAX_EXAMPLES else None
        first = np.argsort(bars.n, kind="stable")[:MAX_EXAMPLES]
        examples += [
            (int(bars.n[row]), bars.coin, int(bars.ts[row]) if bars.timed[row] else None)
            for row in first
            if limit is None or bars.n[row] < limit
        ]
        examples.sort(key=lambda row: row[0])
        del examples[MAX_EXAMPLES:]

    def ranked(self) -> list[tuple[str, int]]:
        """Rank the reasons, the most frequent first."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))

    def to_json(self) -> dict[str, JsonValue]:
        """Return `{"count", "reasons": {reason: count}, "examples": [{"row", "reason", "coin", "time"}]}` by
        row."""
        examples: list[tuple[int, str, str | None, int | None]] = sorted(
            (n, reason, coin, ts) for reason, rows in self.rows.items() for n, coin, ts in rows
        )
        return {
            "count": sum(self.counts.values()),
            "reasons": dict(self.ranked()),
            "examples": [
                {"row": n, "reason": reason, "coin": coin, "time": None if ts is None else format_time(ts)}
                for n, reason, coin, ts in examples
            ],
        }


def format_time(ts_us: int) -> str | None:
    """Format a time as ISO 8601 in UTC; None outside the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(ts_us // 1_000_000, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None


def select_valid(rows: BarRun, grid: Grid, now_us: int, faults: Faults) -> BarRun:
    """Select the rows without faults; the others are added to `faults`."""
    good = np.ones(len(rows), dtype=np.bool_)
    for reason, is_faulty in RULES:
        # Rows with an earlier fault are not counted again.
        bad = good & is_faulty(rows, grid, now_us)
        if bad.any():
            faults.add(reason, rows[bad])
            good &= ~bad
    return rows if good.all() else rows[good]


def drop_repeated_times(rows: BarRun, faults: Faults) -> BarRun:
    """Keep the last of neighbouring rows with equal times."""
    earlier = np.append(rows.ts[:-1] == rows.ts[1:], False)
    if not earlier.any():
        return rows
    # The rows are in order of time, so the last one of each time is found by bisection.
    last_rows: Ints = np.searchsorted(rows.ts, rows.ts, side="right") - 1
    same = earlier.copy()
    for values in rows.measures.values():
        # Every measure is finite after `select_valid`, so no NaN makes equal rows differ.
        same &= values == values[last_rows]
    faults.add(REPEATED, rows[same])
    faults.add(CONTRADICTED, rows[earlier & ~same])
    return rows[~earlier]
