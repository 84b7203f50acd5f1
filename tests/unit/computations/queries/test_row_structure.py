"""Searches among the rows of a SELECT: what they answer, and the files they leave."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.queries.row_structure import GROUPS_FILE, UNUSUAL_FILE, row_groups, unusual_rows
from app.errors import InvalidInput

ROWS = 120


@pytest.fixture
def bench(tmp_path: Path) -> CellWorkspace:
    """A table of trips of two kinds, of which the one in row 41 took far too long."""
    random = np.random.default_rng(4)
    kind = random.choice(["bus", "ferry"], ROWS)
    km = np.where(kind == "bus", random.uniform(5, 15, ROWS), random.uniform(80, 120, ROWS))
    minutes = 3 * km + random.normal(0, 2, ROWS)
    minutes[40] = 260.0 if kind[40] == "bus" else 20.0
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, ROWS), "D")
    trips = pd.DataFrame(
        {"trip": [f"T-{n:04}" for n in range(ROWS)], "kind": kind, "km": km, "minutes": minutes, "day": day}
    )
    trips.to_parquet(tmp_path / "trips.parquet")
    (tmp_path / "out").mkdir()
    return CellWorkspace({"trips": tmp_path / "trips.parquet"}, tmp_path / "out")


def test_unusual_rows_are_an_answer_with_their_numbers_and_names(bench) -> None:
    facts = unusual_rows(bench, "SELECT * FROM trips")
    names = [column["name"] for column in facts["columns"]]
    first = dict(zip(names, facts["rows"][0], strict=True))
    assert (first["row"], first["trip"]) == (41, "T-0040")
    assert facts["unusual"] >= 1
    assert (facts["rows_used"], facts["tables"]) == (ROWS, ["trips"])
    assert sorted(file.name for file in bench.output.iterdir()) == ["result.parquet", UNUSUAL_FILE]
    table = pd.read_csv(bench.output / UNUSUAL_FILE)
    assert table.loc[0, ["row", "trip"]].tolist() == [41, "T-0040"]
    assert {"km", "minutes", "kind", "day", "expected"} <= set(table.columns)


def test_days_that_do_not_fit_are_told_as_dates(bench) -> None:
    facts = unusual_rows(bench, "SELECT * FROM trips", focus="day")
    place = [column["name"] for column in facts["columns"]].index("expected")
    assert all(str(row[place]).startswith("2024-") for row in facts["rows"])


def test_each_row_has_its_group_in_a_file(bench) -> None:
    facts = row_groups(bench, "SELECT * FROM trips", ["km", "kind"])
    assert [row[0] for row in facts["rows"]] == ["A", "B"]
    table = pd.read_csv(bench.output / GROUPS_FILE)
    assert len(table) == ROWS
    assert table.groupby("kind").group.nunique().tolist() == [1, 1]
    assert facts["is_separated"] is True


def test_a_column_that_is_not_there_is_refused_with_the_nearest(bench) -> None:
    with pytest.raises(InvalidInput, match="minutes"):
        unusual_rows(bench, "SELECT * FROM trips", focus="minute")
