"""Raw bars become good bars in records for Postgres; everything else is counted and named."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from app.computations.bars.binary_batches import Parcels
from app.computations.bars.faults import NO_COIN, TOO_CLOSE, Faults, sound, without_twins
from app.computations.bars.grid import Grid
from app.computations.bars.runs import Stretch
from app.computations.bars.summary import Summary


@dataclass
class Judge:
    """Takes stretches that are ordered by coin and time, and sends good bars on coin by coin."""

    grids: dict[str, Grid]
    now_us: int
    parcels: Parcels
    faults: Faults = field(default_factory=Faults)
    summaries: dict[str, Summary] = field(default_factory=dict)

    def judge(self, rows: Iterable[Stretch], report: Callable[[int], object]) -> None:
        """`report` hears how many rows were judged."""
        done, waiting = 0, None
        for stretch in rows:
            done += len(stretch)
            waiting = self._take(waiting, stretch)
            report(done)
        if waiting is not None:
            self._keep(waiting)
        self.parcels.send()

    def _take(self, waiting: Stretch | None, stretch: Stretch) -> Stretch | None:
        """Keep what is settled; give back the rows of the last time, which may go on."""
        if stretch.coin is None:
            self.faults.note(NO_COIN, stretch)
            return waiting
        if waiting is not None and waiting.coin != stretch.coin:
            self._keep(waiting)
            waiting = None
        if stretch.coin not in self.grids:
            self.faults.note("no time", stretch)
            return waiting
        good = sound(stretch, self.grids[stretch.coin], self.now_us, self.faults)
        if not len(good):
            return waiting
        if waiting is not None:
            good = waiting.then(good)
        open_from = int(np.searchsorted(good.ts, good.ts[-1]))
        if open_from:
            self._keep(good[:open_from])
        return good[open_from:]

    def _keep(self, rows: Stretch) -> None:
        coin = rows.coin or ""
        summary = self.summaries.setdefault(coin, Summary(self.grids[coin]))
        bars = self._apart(without_twins(rows, self.faults), summary)
        if len(bars):
            summary.add(bars)
            self.parcels.add(bars, summary.grid.interval_s)

    def _apart(self, bars: Stretch, summary: Summary) -> Stretch:
        """A grid that allows for summer time lets two bars of one interval through."""
        before = bars.ts[0] - summary.grid.interval_us if not summary.bars else summary.last
        near = np.diff(bars.ts, prepend=before) * 2 < summary.grid.interval_us
        if not near.any():
            return bars
        self.faults.note(TOO_CLOSE, bars[near])
        return bars[~near]
