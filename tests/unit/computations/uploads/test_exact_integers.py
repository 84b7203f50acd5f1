"""Whole numbers of more than 64 bits stay different from each other."""

import json
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.uploads.ingest import convert


def read(folder: Path, upload: Path, name: str) -> list[tuple[object, ...]]:
    output = folder / "out"
    output.mkdir()
    convert(CellWorkspace({"upload": upload}, output), name)
    return duckdb.sql(f"FROM read_parquet('{output / 'table.parquet'}')").fetchall()


def test_unsigned_integers_of_parquet_are_exact(tmp_path: Path) -> None:
    small, large = [2**53 + 1, 2**53 + 2], [2**64 - 1, 2**64 - 2]
    table = pa.table({"small": pa.array(small, pa.uint64()), "large": pa.array(large, pa.uint64())})
    pq.write_table(table, tmp_path / "t.parquet")
    rows = read(tmp_path, tmp_path / "t.parquet", "t.parquet")
    assert rows == [(number, str(id_)) for number, id_ in zip(small, large, strict=True)]


def test_long_integers_of_json_are_exact(tmp_path: Path) -> None:
    ids = [10**22 + n for n in range(3)]
    records = [{"id": id_, "half": 2**64 + n, "x": n + 0.5} for n, id_ in enumerate(ids)]
    (tmp_path / "t.json").write_text(json.dumps(records), encoding="utf-8")
    rows = read(tmp_path, tmp_path / "t.json", "t.json")
    assert rows == [(str(id_), str(2**64 + n), n + 0.5) for n, id_ in enumerate(ids)]


def test_numbers_with_large_and_fractional_values_stay_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([{"x": 1e30}, {"x": 0.5}]), encoding="utf-8")
    assert read(tmp_path, tmp_path / "t.json", "t.json") == [(1e30,), (0.5,)]
