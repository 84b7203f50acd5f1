"""Raw bars as runs: arrays of contiguous rows of one coin, with bounded memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from app.computations.bars.copy_records import MEASURES

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_BATCH_ROWS = 1 << 17
"""Rows read at a time: about 7 MB of arrays."""


@dataclass(frozen=True)
class BarRun:
    """Contiguous rows of one coin (None if the row has none). `n`: row numbers of the file, counted from 1.

    `ts`: microseconds since 1970, 0 if `timed` is false; `measures`: NaN if there is no number.
    """

    coin: str | None
    n: Ints
    ts: Ints
    timed: Flags
    measures: dict[str, Floats]

    def __len__(self) -> int:
        return len(self.n)

    def __getitem__(self, rows: slice | Flags | Ints) -> "BarRun":
        selected = {name: values[rows] for name, values in self.measures.items()}
        return replace(self, n=self.n[rows], ts=self.ts[rows], timed=self.timed[rows], measures=selected)

    def append(self, other: "BarRun") -> "BarRun":
        measures = {name: np.concatenate([self.measures[name], other.measures[name]]) for name in self.measures}
        return replace(
            self,
            n=np.concatenate([self.n, other.n]),
            ts=np.concatenate([self.ts, other.ts]),
            timed=np.concatenate([self.timed, other.timed]),
            measures=measures,
        )


def read_runs(path: Path, measures: bool = True) -> Iterator[BarRun]:
    """Yield all rows in file order; consecutive runs may have the same coin."""
    file = pq.ParquetFile(path, read_dictionary=["coin"])
    columns = ["coin", "ts", *(MEASURES if measures else ()), *({"n"} & set(file.schema_arrow.names))]
    row_offset = 0
    for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
        # Runs are cut where the code of the dictionary changes: millions of texts need not be compared.
        codes = batch.column("coin").indices.fill_null(-1).to_numpy(zero_copy_only=False)
        names = batch.column("coin").dictionary.to_pylist()
        arrays = _arrays(batch, row_offset, measures)
        row_offset += len(codes)
        cuts = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]
        for start, end in pairwise(cuts):
            if end > start:
                coin = names[codes[start]] if codes[start] >= 0 else None
                yield replace(arrays[start:end], coin=coin)


def _arrays(batch: "pq.pa.RecordBatch", row_offset: int, measures: bool) -> BarRun:
    rows = batch.num_rows
    ts = batch.column("ts")
    # A sorted file has lost its order, so it carries the row numbers of the original.
    n = (
        batch.column("n").to_numpy()
        if "n" in batch.schema.names
        else np.arange(row_offset + 1, row_offset + rows + 1)
    )
    values = {
        name: batch.column(name).to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        for name in (MEASURES if measures else ())
    }
    timed = ts.is_valid().to_numpy(zero_copy_only=False)
    return BarRun(None, n.astype(np.int64), ts.fill_null(0).to_numpy().astype(np.int64), timed, values)
