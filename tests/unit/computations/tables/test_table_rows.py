"""Rows of a table by sort, filter and search, compared with sorted and filtered rows of Python."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.tables import table_rows
from app.computations.tables.table_rows import read_page

ROWS = 1_000_000
"""Nine row groups of 122,880 rows: a page of a sorted table touches more of them than Parquet reads fast."""


def _make_table(folder: Path, query: str) -> CellWorkspace:
    with duckdb.connect() as database:
        database.execute(f"COPY ({query}) TO '{folder}/table.parquet'")
    output = folder / "output"
    output.mkdir()
    return CellWorkspace({"table": folder / "table.parquet"}, output)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> CellWorkspace:
    query = f"SELECT i AS place, (i * 7919) % 1000003 AS key, i % 10 AS digit FROM range({ROWS}) r(i)"
    return _make_table(tmp_path_factory.mktemp("large"), query)


def _cells(page: dict[str, Any], column: int = 0) -> list[Any]:
    return [row[column] for row in page["rows"]]


def test_a_page_deep_in_a_sorted_table_has_its_rows(large: CellWorkspace) -> None:
    keys = sorted((place * 7919 % 1000003, place) for place in range(ROWS))
    for offset in (0, 600_000, ROWS - 3):
        page = read_page(large, limit=5, offset=offset, sort=[{"column": "key"}])
        assert [(row[1], row[0]) for row in page["rows"]] == keys[offset : offset + 5]
    assert page["matching"] == ROWS


def test_equal_rows_stay_in_file_order_in_both_directions(large: CellWorkspace) -> None:
    nines = [*range(9, ROWS, 10)]
    assert _cells(read_page(large, limit=3, sort=[{"column": "digit", "descending": True}])) == nines[:3]
    assert (
        _cells(read_page(large, limit=3, offset=len(nines) - 3, sort=[{"column": "digit", "descending": True}]))
        == nines[-3:]
    )


def test_a_filtered_page_goes_on_where_the_page_before_ended(large: CellWorkspace) -> None:
    by_digit = {"filter": {"column": "digit", "comparison": "=", "values": ["4"]}}
    pages = [read_page(large, limit=4, offset=offset, **by_digit) for offset in (50_000, 50_004)]
    assert [*_cells(pages[0]), *_cells(pages[1])] == [500_004 + 10 * step for step in range(8)]
    assert pages[0]["matching"] == ROWS // 10


def test_pages_are_the_same_whether_the_table_is_loaded_or_not(
    large: CellWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = read_page(large, limit=50, offset=1234, sort=[{"column": "key", "descending": True}])
    monkeypatch.setattr(table_rows, "MAX_LOADED_CELLS", 0)
    table_rows._open_rows.cache_clear()
    assert read_page(large, limit=50, offset=1234, sort=[{"column": "key", "descending": True}]) == loaded
    table_rows._open_rows.cache_clear()


def test_a_page_beyond_the_end_is_empty_and_names_the_columns(large: CellWorkspace) -> None:
    for selection in ({}, {"sort": [{"column": "key"}]}):
        page = read_page(large, limit=5, offset=ROWS + 7, **selection)
        assert (page["rows"], page["total"]) == ([], ROWS)
        assert [column["name"] for column in page["columns"]] == ["place", "key", "digit"]


@pytest.mark.parametrize("name", ["file_row_number", "rowid", "number", "loaded", "file", "c0"])
def test_a_column_may_have_any_name(tmp_path: Path, name: str) -> None:
    query = f'SELECT 1000000 - i AS "{name}", (i * 3) % 400009 AS other FROM range(700000) r(i)'
    workspace = _make_table(tmp_path, query)
    assert _cells(read_page(workspace, limit=2)) == [1000000, 999999]
    assert _cells(read_page(workspace, limit=2, sort=[{"column": name}])) == [300001, 300002]
    others = sorted((place * 3 % 400009, place) for place in range(700000))[5000:5002]
    assert _cells(read_page(workspace, limit=2, offset=5000, sort=[{"column": "other"}])) == [
        1000000 - place for _, place in others
    ]


def test_a_search_reads_numbers_dates_and_flags_as_they_are_written(tmp_path: Path) -> None:
    query = (
        "SELECT * FROM (VALUES (12, 1.5e300, TIMESTAMP '2024-03-01 10:00', true, 'Ünder'),"
        " (-7, 'NaN'::double, TIMESTAMP '2025-01-02', false, 'over')) t(whole, real, time, flag, word)"
    )
    workspace = _make_table(tmp_path, query)
    expected = {
        "E+300": [12],
        "nan": [-7],
        "03-01 1": [12],
        "TRUE": [12],
        "-7": [-7],
        "ÜNDER": [12],
        "e": [12, -7],
    }
    assert {text: _cells(read_page(workspace, search=text)) for text in expected} == expected


def test_a_day_is_compared_with_all_its_moments(tmp_path: Path) -> None:
    query = "SELECT i AS hour, TIMESTAMP '2024-03-01' + to_hours(i) AS time FROM range(72) r(i)"
    workspace = _make_table(tmp_path, query)

    def hours(comparison: str, value: str) -> list[Any]:
        condition = {"column": "time", "comparison": comparison, "values": [value]}
        return _cells(read_page(workspace, limit=100, filter=condition))

    assert hours("=", "2024-03-02") == [*range(24, 48)]
    assert hours(">", "2024-03-02") == [*range(48, 72)]
    assert hours("<=", "2024-03-01 02:00") == [0, 1, 2]
    assert hours("=", "2024-03-02T05:00:00") == [29]
    assert hours("=", "no day") == []
