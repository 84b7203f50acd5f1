"""Validation of raw bars: good bars are written as records for Postgres, all others are counted by reason."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from app.computations.bars.binary_batches import BatchWriter
from app.computations.bars.coin_runs import BarRun
from app.computations.bars.faults import NO_COIN, TOO_CLOSE, Faults, drop_repeated_times, select_valid
from app.computations.bars.grid import Grid
from app.computations.bars.summary import SeriesSummary


@dataclass
class BarValidator:
    """Validator of runs that are ordered by coin and time; writes good bars coin by coin."""

    grids: dict[str, Grid]
    now_us: int
    batches: BatchWriter
    faults: Faults = field(default_factory=Faults)
    summaries: dict[str, SeriesSummary] = field(default_factory=dict)

    def validate(self, runs: Iterable[BarRun], report: Callable[[int], object]) -> None:
        """Validate runs of bars; `report` is called with the number of rows so far."""
        done, pending = 0, None
        for run in runs:
            done += len(run)
            pending = self._validate_run(pending, run)
            report(done)
        if pending is not None:
            self._write(pending)
        self.batches.flush()

    def _validate_run(self, pending: BarRun | None, run: BarRun) -> BarRun | None:
        """Write the complete times of a run; return the rows of its last time, which may continue in the
        next run."""
        if run.coin is None:
            self.faults.add(NO_COIN, run)
            return pending
        if pending is not None and pending.coin != run.coin:
            self._write(pending)
            pending = None
        # Only a coin without a single time has no grid.
        if run.coin not in self.grids:
            self.faults.add("no time", run)
            return pending
        valid = select_valid(run, self.grids[run.coin], self.now_us, self.faults)
        if not len(valid):
            return pending
        if pending is not None:
            valid = pending.append(valid)
        # A repeated time may be split between two runs, and the last of its rows is the one that counts.
        last_time_start = int(np.searchsorted(valid.ts, valid.ts[-1]))
        if last_time_start:
            self._write(valid[:last_time_start])
        return valid[last_time_start:]

    def _write(self, rows: BarRun) -> None:
        coin = rows.coin or ""
        summary = self.summaries.setdefault(coin, SeriesSummary(self.grids[coin]))
        bars = self._drop_too_close(drop_repeated_times(rows, self.faults), summary)
        if len(bars):
            summary.add(bars)
            self.batches.add(bars, summary.grid.interval_s)

    def _drop_too_close(self, bars: BarRun, summary: SeriesSummary) -> BarRun:
        """Drop bars less than half an interval after the one before; a grid that allows for summer time
        admits them."""
        # The first bar of a series has none before it, so it is placed a whole interval after one.
        previous = bars.ts[0] - summary.grid.interval_us if not summary.bars else summary.last
        is_close = np.diff(bars.ts, prepend=previous) * 2 < summary.grid.interval_us
        if not is_close.any():
            return bars
        self.faults.add(TOO_CLOSE, bars[is_close])
        return bars[~is_close]
