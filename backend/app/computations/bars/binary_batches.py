"""Good bars out of the cell, in the order of `bars/layout.py`."""

from dataclasses import dataclass, field
from typing import IO

from app.computations.bars.layout import Head
from app.computations.bars.record import encoded
from app.computations.bars.runs import Stretch

_ROWS = 1 << 16


@dataclass
class Parcels:
    """Bars of one coin travel together, in parcels that are worth a COPY each, however small they come."""

    target: IO[bytes]
    _interval_s: int = 0
    _waiting: list[Stretch] = field(default_factory=list)

    def add(self, bars: Stretch, interval_s: int) -> None:
        """At least one bar; those of one coin come one after another, oldest first."""
        if self._waiting and self._waiting[0].coin != bars.coin:
            self.send()
        self._interval_s = interval_s
        self._waiting.append(bars)
        if sum(map(len, self._waiting)) >= _ROWS:
            self.send()

    def send(self) -> None:
        """All that waits."""
        if not self._waiting:
            return
        first, last = self._waiting[0], self._waiting[-1]
        rows = sum(map(len, self._waiting))
        head = Head(first.coin or "", self._interval_s, rows, int(first.ts[0]), int(last.ts[-1]))
        self.target.write(head.packed())
        for bars in self._waiting:
            self.target.write(encoded({"ts": bars.ts, **bars.measures}).data)
        self._waiting = []
