"""Profiles of wide tables are made of parts, since a query binds all columns of its table."""

from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.computations.uploads import profile
from app.computations.uploads.profile import profile_table

COLUMNS = 250


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_queries_on_single_columns_bind_few_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_in_memory: bool
) -> None:
    if not is_in_memory:
        monkeypatch.setattr(profile, "_IN_MEMORY_CELLS", 10)
    frame = pd.DataFrame({f"c{n}": [n, n, n + 1] if n % 2 else ["a", "b", f"w{n}"] for n in range(COLUMNS)})
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "table.parquet")
    with duckdb.connect() as connection:
        profiled = profile_table(connection, tmp_path / "table.parquet")
        widths = connection.execute(
            "SELECT count(*) FROM duckdb_columns() WHERE table_name LIKE 'profiled%0' GROUP BY table_name"
        ).fetchall()
    assert sorted(width for (width,) in widths) == [50, 100, 100]
    columns = profiled["columns"]
    assert isinstance(columns, list)
    assert len(columns) == COLUMNS
    with duckdb.connect() as connection:
        pq.write_table(pa.Table.from_pandas(frame[["c240", "c241"]]), tmp_path / "narrow.parquet")
        narrow = profile_table(connection, tmp_path / "narrow.parquet")
    assert columns[240:242] == narrow["columns"]
