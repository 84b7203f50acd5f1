"""Parquet tables read in batches of bounded memory, and tables written batch by batch as Parquet or CSV."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, Self

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from app.errors import InvalidInput

Format = Literal["parquet", "csv"]

BATCH_BYTES = 32 << 20
"""Uncompressed bytes of a batch; features and predictions take several times as many."""
MAX_ROWS = 100_000
"""Rows of a batch, however narrow: progress is reported after each."""


class BatchedTable:
    """A Parquet file, read in batches.

    Raises InvalidInput `not_a_table` for a file that is not Parquet, or has a column twice.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = pq.ParquetFile(path, memory_map=True)
        except pa.ArrowException as error:
            raise InvalidInput("not_a_table", f"The file is not a readable Parquet table: {error}") from error
        self.rows = int(self._file.metadata.num_rows)
        self.schema: pa.Schema = self._file.schema_arrow
        names = self.schema.names
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise InvalidInput(
                "not_a_table", f"The table holds {', '.join(map(repr, repeated))} more than once."
            )

    @property
    def batch_rows(self) -> int:
        """Number of rows with about BATCH_BYTES uncompressed bytes."""
        groups = [self._file.metadata.row_group(number) for number in range(self._file.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        # At least 1,000: each batch has a fixed cost, however wide its rows are.
        return int(max(1_000, min(MAX_ROWS, BATCH_BYTES * self.rows // max(1, size))))

    def batches(self, columns: Sequence[str], rows: int | None = None) -> Iterator[pd.DataFrame]:
        """Yield frames of `rows` rows in order; the index continues from frame to frame."""
        start = 0
        for batch in self._file.iter_batches(rows or self.batch_rows, columns=list(columns)):
            frame = pa.Table.from_batches([batch]).to_pandas()
            # Warnings name rows of the table, not of the batch.
            yield frame.set_axis(range(start, start + len(frame)))
            start += len(frame)


class TableWriter:
    """Writer of frames with the same columns; the first frame determines their types."""

    def __init__(self, path: Path, form: Format) -> None:
        self._path = path
        self._form = form
        self._schema: pa.Schema | None = None
        self._writer: pq.ParquetWriter | pc.CSVWriter | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, frame: pd.DataFrame) -> None:
        # A later batch may hold only missing or whole numbers, whose own types would differ.
        table = pa.Table.from_pandas(frame, schema=self._schema, preserve_index=False)
        if self._writer is None:
            self._schema = table.schema
            self._writer = _WRITERS[self._form](self._path, table.schema)
        self._writer.write_table(table)


_WRITERS: dict[Format, Callable[[Path, pa.Schema], pq.ParquetWriter | pc.CSVWriter]] = {
    "parquet": lambda path, schema: pq.ParquetWriter(path, schema, compression="zstd"),
    "csv": lambda path, schema: pc.CSVWriter(path, schema),
}
