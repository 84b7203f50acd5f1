"""Why a bar cannot be used: each reason once, in the order in which they are asked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from app.computations.bars.grid import Grid
from app.computations.bars.runs import Flags, Ints, Stretch
from app.json_types import JsonValue

SHOWN = 100
"""Rows that are named for each reason; all of them are counted."""

NO_COIN = "no coin"
REPEATED = "a later row says the same"
CONTRADICTED = "a later row of the same coin and time has other values"
TOO_CLOSE = "less than half an interval after the bar before"

Codes = npt.NDArray[np.int64]
Rule = Callable[[Stretch, Grid, int], Flags]


def _prices(rows: Stretch) -> "list[npt.NDArray[np.float64]]":
    return [rows.measures[name] for name in ("open", "high", "low", "close")]


def _incomplete(rows: Stretch, grid: Grid, now_us: int) -> Flags:
    finite = np.isfinite(np.stack(list(rows.measures.values())))
    return np.logical_not(finite.all(axis=0))


def _not_highest(rows: Stretch, grid: Grid, now_us: int) -> Flags:
    opened, high, low, close = _prices(rows)
    return high < np.maximum(np.maximum(opened, close), low)


def _not_lowest(rows: Stretch, grid: Grid, now_us: int) -> Flags:
    opened, _, low, close = _prices(rows)
    return low > np.minimum(opened, close)


# Comparisons with NaN are false: what is incomplete is told before what is asked of its values.
RULES: tuple[tuple[str, Rule], ...] = (
    ("no time", lambda rows, grid, now_us: ~rows.timed),
    ("it ends in the future", lambda rows, grid, now_us: rows.ts > now_us - grid.interval_us),
    ("off the grid of its interval", lambda rows, grid, now_us: ~grid.holds(rows.ts)),
    ("a value is missing or not a finite number", _incomplete),
    ("a price is not positive", lambda rows, grid, now_us: np.stack(_prices(rows)).min(axis=0) <= 0),
    ("the volume is negative", lambda rows, grid, now_us: rows.measures["volume"] < 0),
    ("high is not the highest", _not_highest),
    ("low is not the lowest", _not_lowest),
)


@dataclass
class Faults:
    """What was found: how often, and which rows first."""

    counts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, list[tuple[int, str | None, int | None]]] = field(default_factory=dict)

    def note(self, reason: str, bars: Stretch) -> None:
        if not len(bars):
            return
        self.counts[reason] = self.counts.get(reason, 0) + len(bars)
        shown = self.rows.setdefault(reason, [])
        limit = shown[-1][0] if len(shown) >= SHOWN else None
        first = np.argsort(bars.n, kind="stable")[:SHOWN]
        shown += [
            (int(bars.n[at]), bars.coin, int(bars.ts[at]) if bars.timed[at] else None)
            for at in first
            if limit is None or bars.n[at] < limit
        ]
        shown.sort(key=lambda row: row[0])
        del shown[SHOWN:]

    def ranked(self) -> list[tuple[str, int]]:
        """Reasons, the most frequent first."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))

    def told(self) -> dict[str, JsonValue]:
        """`{"count", "reasons": {reason: count}, "examples": [{"row", "reason", "coin", "time"}]}` by row."""
        examples: list[tuple[int, str, str | None, int | None]] = sorted(
            (n, reason, coin, ts) for reason, rows in self.rows.items() for n, coin, ts in rows
        )
        return {
            "count": sum(self.counts.values()),
            "reasons": dict(self.ranked()),
            "examples": [
                {"row": n, "reason": reason, "coin": coin, "time": None if ts is None else moment(ts)}
                for n, reason, coin, ts in examples
            ],
        }


def moment(ts_us: int) -> str | None:
    """ISO 8601 in UTC, None for a time outside the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(ts_us // 1_000_000, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None


def sound(rows: Stretch, grid: Grid, now_us: int, faults: Faults) -> Stretch:
    """The rows that no rule speaks against; the others are noted."""
    good = np.ones(len(rows), dtype=np.bool_)
    for reason, speaks_against in RULES:
        bad = good & speaks_against(rows, grid, now_us)
        if bad.any():
            faults.note(reason, rows[bad])
            good &= ~bad
    return rows if good.all() else rows[good]


def without_twins(rows: Stretch, faults: Faults) -> Stretch:
    """Of rows of one time (they stand together) the last."""
    earlier = np.append(rows.ts[:-1] == rows.ts[1:], False)
    if not earlier.any():
        return rows
    last_of: Ints = np.searchsorted(rows.ts, rows.ts, side="right") - 1
    same = earlier.copy()
    for values in rows.measures.values():
        same &= values == values[last_of]
    faults.note(REPEATED, rows[same])
    faults.note(CONTRADICTED, rows[earlier & ~same])
    return rows[~earlier]
