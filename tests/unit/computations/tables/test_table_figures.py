"""Summaries and aggregates of tables, compared with the same figures computed by pandas."""

import datetime as dt
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.tables import open_table
from app.computations.tables.table_aggregate import aggregate
from app.computations.tables.table_summary import summarize
from app.errors import InvalidInput

ROWS = 20_000


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    seeded = np.random.default_rng(7)
    amount = seeded.lognormal(3, 1, ROWS)
    amount[::97] = np.nan
    return pd.DataFrame(
        {
            "amount": amount,
            "age": seeded.integers(18, 81, ROWS),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(seeded.integers(0, 400 * 24, ROWS), "h"),
            "region": seeded.choice(["north", "south", "east"], ROWS, p=[0.6, 0.3, 0.1]),
            "is_new": seeded.random(ROWS) < 0.25,
            "code": [f"c{n}" for n in range(ROWS)],
            "r0": seeded.integers(0, 3, ROWS),
        }
    )


def _workspace(folder: Path, frame: pd.DataFrame) -> CellWorkspace:
    with duckdb.connect() as database:
        database.register("frame", frame)
        database.execute(f"COPY (SELECT * FROM frame) TO '{folder}/table.parquet'")
    output = folder / "output"
    output.mkdir()
    return CellWorkspace({"table": folder / "table.parquet"}, output)


@pytest.fixture(scope="module")
def table(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> CellWorkspace:
    return _workspace(tmp_path_factory.mktemp("figures"), frame)


def _by_name(summary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {column["name"]: column for column in summary["columns"]}


NORTH_OR_YOUNG = {
    "or": [
        {"column": "region", "comparison": "=", "values": ["north"]},
        {"and": [
            {"column": "age", "comparison": "between", "values": [20, 30]},
            {"column": "is_new", "comparison": "=", "values": [True]},
        ]},
    ]
}  # fmt: skip


def _is_north_or_young(frame: pd.DataFrame) -> "pd.Series[bool]":
    return (frame.region == "north") | (frame.age.between(20, 30) & frame.is_new)


def test_histograms_count_each_row_of_the_filter_once(frame: pd.DataFrame, table: CellWorkspace) -> None:
    summary: dict[str, Any] = summarize(table, filter=NORTH_OR_YOUNG)
    rows, columns = frame[_is_north_or_young(frame)], _by_name(summary)
    assert (summary["total"], summary["matching"]) == (ROWS, len(rows))
    for name in ("amount", "age"):
        values = rows[name].dropna()
        counts, _ = np.histogram(values, bins=columns[name]["edges"])
        assert columns[name]["counts"] == counts.tolist()
        assert columns[name]["missing"] == rows[name].isna().sum()
        assert [columns[name]["low"], columns[name]["high"]] == [values.min(), values.max()]
    moments = pd.to_datetime(columns["day"]["edges"]).astype("datetime64[us]").astype("int64")
    counts, _ = np.histogram(rows.day.astype("datetime64[us]").astype("int64"), bins=moments)
    assert columns["day"]["counts"] == counts.tolist()
    # Numbers of a bin of whole numbers are as many as those of its neighbour.
    assert {b - a for a, b in zip(columns["age"]["edges"], columns["age"]["edges"][1:], strict=False)} == {4}


def test_commonest_values_are_those_of_the_filter(frame: pd.DataFrame, table: CellWorkspace) -> None:
    columns = _by_name(summarize(table, top=2, filter=NORTH_OR_YOUNG))
    counts = frame[_is_north_or_young(frame)].region.value_counts()
    assert columns["region"]["top"] == [{"value": name, "count": counts[name]} for name in counts.index[:2]]
    assert (columns["region"]["distinct"], columns["region"]["counts"]) == (3, [])
    # Of a column of names nothing is common.
    assert columns["code"]["top"] == []


def test_a_search_is_a_filter_too(frame: pd.DataFrame, table: CellWorkspace) -> None:
    summary: dict[str, Any] = summarize(table, columns=["region"], search="C1999")
    assert summary["matching"] == sum("c1999" in code for code in frame.code)


def test_nothing_is_drawn_of_no_rows(table: CellWorkspace) -> None:
    none = {"column": "age", "comparison": ">", "values": ["200"]}
    for column in summarize(table, filter=none)["columns"]:  # type: ignore[union-attr]
        assert isinstance(column, dict)
        assert [column[part] for part in ("missing", "distinct", "low", "edges", "counts", "top")] == [
            0,
            0,
            None,
            [],
            [],
            [],
        ]


@pytest.mark.parametrize(
    "numbers",
    [
        [-1.7e308, 1.7e308, 0.0],
        [0.1, 0.1],
        [float("inf"), float("nan"), 1.0, 2.0],
        [9007199254740993.0, 9007199254740994.0],
        [5e-324, 1e-323],
    ],
)
def test_numbers_of_any_size_have_bins(tmp_path: Path, numbers: list[float]) -> None:
    workspace = _workspace(tmp_path, pd.DataFrame({"value": np.array(numbers)}))
    open_table._open_once.cache_clear()
    (column,) = summarize(workspace)["columns"]  # type: ignore[misc]
    assert isinstance(column, dict)
    finite = [number for number in numbers if np.isfinite(number)]
    assert sum(column["counts"]) == len(finite)  # type: ignore[arg-type]
    assert column["missing"] == len(numbers) - len(finite)
    open_table._open_once.cache_clear()


def _as_pandas(frame: pd.DataFrame) -> list[list[Any]]:
    return [list(row) for row in frame.itertuples(index=False)]


def test_groups_have_the_figures_of_their_rows(frame: pd.DataFrame, table: CellWorkspace) -> None:
    measures = [
        {"function": "count"},
        {"function": "mean", "column": "amount", "name": "mean"},
        {"function": "sum", "column": "is_new", "name": "new"},
        {"function": "distinct", "column": "age", "name": "ages"},
    ]
    result: dict[str, Any] = aggregate(table, [{"column": "region"}, {"column": "r0"}], measures)
    expected = frame.groupby(["region", "r0"], as_index=False).agg(
        count=("age", "size"), mean=("amount", "mean"), new=("is_new", "sum"), ages=("age", "nunique")
    )
    assert [column["name"] for column in result["columns"]] == [*expected.columns]
    for row, other in zip(result["rows"], _as_pandas(expected), strict=True):
        assert row == [*other[:3], pytest.approx(other[3]), *other[4:]]
    assert (result["matching"], result["truncated"]) == (ROWS, False)


def test_months_and_bins_are_groups(frame: pd.DataFrame, table: CellWorkspace) -> None:
    measures = [{"function": "count"}]
    months: dict[str, Any] = aggregate(table, [{"column": "day", "unit": "month"}], measures)
    expected = frame.groupby(frame.day.dt.to_period("M").dt.start_time).size()
    assert months["rows"] == [[month.isoformat(), count] for month, count in expected.items()]
    bins: dict[str, Any] = aggregate(table, [{"column": "amount", "bins": 10}], measures)
    width = bins["columns"][0]["bin_width"]
    edges = frame.amount.min() + width * np.arange(11)
    edges[-1] = frame.amount.max()
    counts, _ = np.histogram(frame.amount.dropna(), bins=edges)
    assert [count for _, count in bins["rows"][:-1]] == [count for count in counts.tolist() if count]
    assert bins["rows"][-1] == [None, frame.amount.isna().sum()]


def test_largest_groups_come_first_where_sorted_so(frame: pd.DataFrame, table: CellWorkspace) -> None:
    measures = [{"function": "count", "name": "rows"}]
    sort = [{"column": "rows", "descending": True}]
    result: dict[str, Any] = aggregate(table, [{"column": "region"}], measures, limit=1, sort=sort)
    counts = frame.region.value_counts()
    assert (result["rows"], result["truncated"]) == ([[counts.index[0], counts.iloc[0]]], True)


def test_one_group_of_all_rows_needs_no_column(frame: pd.DataFrame, table: CellWorkspace) -> None:
    measures = [{"function": "max", "column": "day"}, {"function": "median", "column": "age"}]
    result: dict[str, Any] = aggregate(table, measures=measures)
    latest: dt.datetime = frame.day.max()
    assert result["rows"] == [[latest.isoformat(), frame.age.median()]]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"groups": [{"column": "regoin"}]}, "column_not_found"),
        ({"groups": [{"column": "region", "bins": 5}]}, "column_not_numeric"),
        ({"groups": [{"column": "age", "unit": "month"}]}, "column_not_datetime"),
        ({"measures": [{"function": "mean", "column": "region"}]}, "column_not_numeric"),
        ({"measures": [{"function": "count"}, {"function": "count"}]}, "column_repeated"),
        ({"measures": [{"function": "count"}], "sort": [{"column": "age"}]}, "column_not_found"),
    ],
)
def test_what_a_table_does_not_have_is_named(table: CellWorkspace, request_: dict[str, Any], code: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        aggregate(table, **{"measures": [{"function": "count"}], **request_})
    assert refusal.value.code == code
