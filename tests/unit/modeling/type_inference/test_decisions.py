"""A raw table is read once, and a model reads raw rows the same way."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from app.computations import predict, split, train
from app.computations.bench import Bench
from app.modeling.type_inference.decisions import decide, decide_reading
from app.modeling.type_inference.parsers import apply_reading

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


def test_every_column_becomes_what_it_means() -> None:
    read = apply_reading(raw(), decide_reading(raw(), "price"))
    kinds = {name: read[name].dtype.kind if read[name].dtype != "str" else "text" for name in read.columns}
    assert kinds == {
        "size": "f", "garden": "b", "built": "i", "sold": "M", "heating": "text", "floor": "f", "price": "f"
    }  # fmt: skip
    assert read["size"].isna()[3]
    assert set(read["heating"].dropna()) == {"gas", "oil"}
    assert read["floor"].min() == 0


def test_reading_twice_is_reading_once() -> None:
    reading = decide_reading(raw(), "price")
    once = apply_reading(raw(), reading)
    pd.testing.assert_frame_equal(apply_reading(once, reading), once)
    assert decide(once, "price") == []


def test_the_split_holds_typed_values_and_predict_reads_raw_rows_alike(tmp_path: Path) -> None:
    raw().to_parquet(tmp_path / "table.parquet")
    facts: Any = split.lock_holdout(Bench({"table": tmp_path / "table.parquet"}, tmp_path), {"target": "price"})
    assert facts["problem"]["kind"] == "regression"
    assert {one["column"]: one["reads_as"] for one in facts["reading"]} == {
        "size": "number",
        "garden": "boolean",
        "sold": "datetime",
        "heating": "text",
        "floor": "number",
        "price": "number",
    }
    held = pd.read_parquet(tmp_path / "holdout.parquet")
    assert held["price"].dtype == "float64"

    learning = Bench({"frame": tmp_path / "train.parquet"}, tmp_path)
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
    asking = Bench({"model": tmp_path / "model.skops"}, tmp_path)
    answers: Any = predict.predict(asking, [row, {**typed, "heating": None, "floor": None}])
    one, other = (said["prediction"] for said in answers["predictions"])
    assert one == other
    assert held["price"].min() < one < held["price"].max()
