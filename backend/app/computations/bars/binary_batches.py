"""Batches of good bars, written in the format of `bars/binary_format.py`."""

from dataclasses import dataclass, field
from typing import IO

from app.computations.bars.binary_format import BatchHeader
from app.computations.bars.coin_runs import BarRun
from app.computations.bars.copy_records import encode_records

_BATCH_ROWS = 1 << 16
"""Rows from which a batch is written: enough to outweigh the cost of a COPY."""


@dataclass
class BatchWriter:
    """Writer of batches of one coin each, large enough for a COPY, however small the additions are."""

    target: IO[bytes]
    _interval_s: int = 0
    _pending: list[BarRun] = field(default_factory=list)

    def add(self, bars: BarRun, interval_s: int) -> None:
        """Add at least one bar; those of one coin are added in succession, oldest first."""
        if self._pending and self._pending[0].coin != bars.coin:
            self.flush()
        self._interval_s = interval_s
        self._pending.append(bars)
        if sum(map(len, self._pending)) >= _BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write all pending bars as a batch."""
        if not self._pending:
            return
        first, last = self._pending[0], self._pending[-1]
        rows = sum(map(len, self._pending))
        head = BatchHeader(first.coin or "", self._interval_s, rows, int(first.ts[0]), int(last.ts[-1]))
        self.target.write(head.pack())
        for bars in self._pending:
            self.target.write(encode_records({"ts": bars.ts, **bars.measures}).data)
        self._pending = []
