"""Slices of rows with larger errors than the others."""

import numpy as np
import pandas as pd

from app.modeling.evaluation.error_slices import find_error_slices, row_errors
from app.modeling.scoring.independent_units import IndependentUnits, UnitKind
from app.modeling.scoring.scores import Predicted

ROWS = 400


def inputs() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    day = pd.date_range("2025-01-01", periods=ROWS, freq="h")
    region = rng.choice(["north", "south", None], ROWS)
    return pd.DataFrame({"size": rng.normal(size=ROWS), "region": region, "day": day, "id": range(ROWS)})


def test_planted_slices_are_found_and_the_worst_comes_first() -> None:
    table, rng = inputs(), np.random.default_rng(1)
    errors = rng.exponential(1.0, ROWS)
    errors[(table["region"] == "south").to_numpy()] += 3.0
    errors[table["region"].isna().to_numpy()] += 9.0
    slices = find_error_slices(table, errors)
    assert [(entry["column"], entry["value"]) for entry in slices] == [("region", "missing")]
    errors = rng.exponential(1.0, ROWS) + 3.0 * (table["size"] > table["size"].quantile(0.75)).to_numpy()
    [entry] = find_error_slices(table, errors)
    assert (entry["column"], entry["rows"]) == ("size", ROWS // 4)
    assert entry["error"] is not None
    assert entry["error_elsewhere"] is not None
    assert entry["error"] - entry["error_elsewhere"] > 2.5


def test_errors_by_chance_make_no_slice() -> None:
    found = [
        find_error_slices(inputs(), np.random.default_rng(seed).exponential(1.0, ROWS)) for seed in range(40)
    ]
    assert sum(bool(slices) for slices in found) <= 6


def test_errors_of_entities_seldom_make_a_slice() -> None:
    entities, with_slices = np.repeat(np.arange(40), 50), 0
    units = IndependentUnits.of_clusters(entities, UnitKind.GROUPS)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({f"x{place}": rng.normal(size=40)[entities] for place in range(4)})
        errors = np.abs(rng.normal(size=40)[entities] + rng.normal(size=2000))
        with_slices += bool(find_error_slices(table, errors, units))
    assert with_slices <= 4


def test_few_rows_equal_errors_and_empty_tables_make_no_slice() -> None:
    assert find_error_slices(inputs(), np.ones(ROWS)) == []
    assert find_error_slices(inputs().head(30), np.arange(30.0)) == []
    assert find_error_slices(pd.DataFrame(index=range(50)), np.arange(50.0)) == []


def test_the_error_of_a_row_is_a_distance_or_the_missing_probability_of_its_class() -> None:
    numbers = Predicted(np.array([1.0, 5.0]), np.array([3.0, 4.0]))
    assert row_errors(numbers).tolist() == [2.0, 1.0]
    classes = Predicted(np.array([0, 1]), np.array([[0.75, 0.25], [0.5, 0.5]]))
    assert row_errors(classes).tolist() == [0.25, 0.5]
