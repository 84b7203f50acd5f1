"""A long table is judged by every n-th of its rows, whatever its columns are called."""

from pathlib import Path

import duckdb
import pytest

from app.computations.uploads import column_meanings


@pytest.mark.parametrize("column", ["amount", "File_Row_Number", "rowid"])
@pytest.mark.parametrize("kept", ["file", "table"])
def test_rows_at_even_distances_stand_for_a_long_table(
    column: str, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_meanings, "MAX_CELLS", 1_000)
    path = tmp_path / "long.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 7 * i AS \"{column}\" FROM range(5000) r (i)) TO '{path}'")
        source = f"read_parquet('{path}')"
        if kept == "table":
            connection.execute(f"CREATE TEMP TABLE profiled AS FROM {source}")
            source = "profiled"
        sample = column_meanings.read_sample(connection, source, 5_000, [column])
    assert sample[column].tolist() == list(range(0, 35_000, 35))
