"""The split parses a raw table, and a model parses raw rows the same way."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import predict, train
from app.computations.preparation import split
from app.modeling.type_inference.column_decisions import infer_types, make_parsers
from app.modeling.type_inference.parsers import parse_columns

from .inference import infer_parsers, parse_frame

ROWS = 200


def raw(seed: int = 0) -> pd.DataFrame:
    """A price that follows size and garden, all of it as text."""
    rng = np.random.default_rng(seed)
    size, garden = rng.uniform(30, 200, ROWS).round(1), rng.random(ROWS) < 0.5
    price = 3000 * size + 40_000 * garden + rng.normal(scale=5000, size=ROWS)
    days = pd.date_range("2023-01-01", periods=ROWS)
    table = pd.DataFrame(
        {
            "size": [f"{value:,} sqm" for value in size],
            "garden": np.where(garden, "Yes", "no"),
            "built": rng.integers(1900, 2020, ROWS),
            "sold": pd.Series(days.strftime("%d.%m.%Y")).sample(frac=1, random_state=0).array,
            "heating": rng.choice(["gas", "oil", "?"], ROWS),
            "floor": rng.integers(0, 9, ROWS),
            "price": [f"${value:,.2f}" for value in price],
        }
    )
    table.loc[3, "size"] = "n/a"
    table.loc[::9, "floor"] = -999
    return table


def test_every_column_gets_its_inferred_type() -> None:
    read = parse_frame(raw(), "price")
    kinds = {name: read[name].dtype.kind if read[name].dtype != "str" else "text" for name in read.columns}
    assert kinds == {
        "size": "f", "garden": "b", "built": "i", "sold": "M", "heating": "text", "floor": "f", "price": "f"
    }  # fmt: skip
    assert read["size"].isna()[3]
    assert set(read["heating"].dropna()) == {"gas", "oil"}
    assert read["floor"].min() == 0


@pytest.mark.parametrize("is_target", [True, False])
def test_a_code_that_repeats_as_the_only_negative_value_is_missing(
    is_target: bool,
) -> None:
    rent = np.exp(np.random.default_rng(0).normal(7, 0.6, 400)).round(2)
    rent[::50] = -999
    parsed = parse_frame(pd.DataFrame({"rent": rent, "size": rent**2}), "rent" if is_target else "size")
    assert (parsed["rent"].isna().sum(), parsed["rent"].min() > 0) == (8, True)


def test_parsing_twice_equals_parsing_once() -> None:
    parsers = infer_parsers(raw(), "price")
    parsed = parse_columns(raw(), parsers)
    pd.testing.assert_frame_equal(parse_columns(parsed, parsers), parsed)
    assert infer_types(parsed, "price") == []


def test_predictions_for_raw_rows_equal_those_for_typed_rows(tmp_path: Path) -> None:
    raw().to_parquet(tmp_path / "table.parquet")
    facts: Any = split.split_table(
        CellWorkspace({"table": tmp_path / "table.parquet"}, tmp_path), {"target": "price"}
    )
    assert facts["problem"]["kind"] == "regression"
    assert {column["column"]: column["reads_as"] for column in facts["reading"]} == {
        "size": "number",
        "garden": "boolean",
        "sold": "datetime",
        "heating": "text",
        "floor": "number",
        "price": "number",
    }
    holdout = pd.read_parquet(tmp_path / "holdout.parquet")
    assert holdout["price"].dtype == "float64"

    learning = CellWorkspace({"frame": tmp_path / "train.parquet"}, tmp_path)
    train.fit_candidate(learning, facts["problem"], "Ridge", facts["folds"])
    row: dict[str, object] = {
        "size": "101.5 sqm",
        "garden": "YES",
        "built": 1990,
        "sold": "3.4.2023",
        "heating": "?",
    }
    row |= {"heating": "?", "floor": "-999"}
    typed: dict[str, object] = {"size": 101.5, "garden": True, "built": 1990, "sold": "2023-04-03"}
    asking = CellWorkspace({"model": tmp_path / "model.skops"}, tmp_path)
    answers: Any = predict.predict(asking, [row, {**typed, "heating": None, "floor": None}])
    from_raw, from_typed = (row["prediction"] for row in answers["predictions"])
    assert from_raw == from_typed
    assert holdout["price"].min() < from_raw < holdout["price"].max()


def test_a_yes_no_column_is_recorded_with_the_most_frequent_words() -> None:
    cells = ["Y"] * 5 + ["N"] * 4 + ["yes", "no"]
    (decision,) = infer_types(pd.DataFrame({"smoker": cells}))
    assert decision.way["words"] == ("N", "Y")


def test_a_yes_no_target_has_two_classes_however_it_is_spelled() -> None:
    cells = ["Y"] * 50 + ["N"] * 40 + ["yes"] * 20 + ["No"] * 10 + ["unknown"] * 5
    frame = pd.DataFrame({"paid": cells})
    decisions = infer_types(frame, target="paid")
    parsed = parse_columns(frame, make_parsers(decisions))
    assert parsed["paid"].value_counts(dropna=False).to_dict() == {"yes": 70, "No": 50, "unknown": 5}
    assert "merged" in decisions[0].text
