"""Rows as files of each format."""

import json
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.file_formats import ENDINGS
from app.computations.queries.table_file import write


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_each_format_holds_the_rows_and_no_formula(ending: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT * FROM (VALUES ('=1+1', 2.5, TIMESTAMP '2024-05-01'), (NULL, 1, NULL))"
            ' AS v("a,b", number, day)'
        )
        connection.table("t").write_parquet(str(rows))
    output = tmp_path / "output"
    output.mkdir()
    name = f"rows{ending}"
    assert write(CellWorkspace({"rows": rows}, output), name) == {"rows": 2}
    path = output / name
    readers = {
        ".csv": pd.read_csv,
        ".tsv": lambda file: pd.read_csv(file, sep="\t"),
        ".json": lambda file: pd.DataFrame(json.loads(Path(file).read_text())),
        ".parquet": pd.read_parquet,
        ".xlsx": lambda file: pd.read_excel(file, engine="openpyxl"),
    }
    frame = readers[ending](path)
    assert list(frame.columns) == ["a,b", "number", "day"]
    assert frame["a,b"][0] == "=1+1"
    assert pd.isna(frame["a,b"][1])
    assert frame["number"].tolist() == [2.5, 1.0]
    assert pd.Timestamp(frame["day"][0]) == pd.Timestamp("2024-05-01")
