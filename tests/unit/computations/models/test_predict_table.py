"""Tables predicted batch by batch: the same as at once, with what is wrong named first."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files import table_batches
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import train
from app.computations.models.predict_table import predict_table
from app.computations.preparation import split
from app.errors import InvalidInput

ROWS = 2_500
Predict = Callable[..., tuple[dict[str, Any], pd.DataFrame]]


def houses(rows: int) -> pd.DataFrame:
    draw = np.random.default_rng(7)
    size = draw.uniform(30, 300, rows)
    town = draw.choice(["Bern", "Thun", "Biel"], rows)
    price = 3 * size + np.where(town == "Bern", 200, 0) + draw.normal(0, 5, rows)
    return pd.DataFrame({"size": size, "town": town, "price": price.round(1)})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    (folder / "split").mkdir()
    (folder / "fit").mkdir()
    houses(400).to_parquet(folder / "table.parquet")
    locked: Any = split.split_table(
        CellWorkspace({"table": folder / "table.parquet"}, folder / "split"), {"target": "price"}
    )
    fitting = CellWorkspace({"frame": folder / "split" / "train.parquet"}, folder / "fit")
    train.fit_candidate(fitting, locked["problem"], "Ridge", locked["folds"], [])
    return folder / "fit" / "model.skops"


@pytest.fixture
def predict(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predict:
    """Predicts a frame in batches of 1,000 rows."""

    def run(
        frame: pd.DataFrame, form: table_batches.Format = "parquet", report: Any = None, strict: bool = False
    ) -> Any:
        monkeypatch.setattr(table_batches, "BATCH_BYTES", 1)
        frame.to_parquet(tmp_path / "given.parquet", index=False)
        output = tmp_path / f"output-{len(list(tmp_path.iterdir()))}"
        output.mkdir()
        bench = CellWorkspace(
            {"model": model, "table": tmp_path / "given.parquet"},
            output,
            report=report or (lambda fraction, text: None),
        )
        said = predict_table(bench, form, strict=strict)
        file = output / f"predictions.{form}"
        return said, pd.read_parquet(file) if form == "parquet" else pd.read_csv(file)

    return run


def test_rows_are_predicted_in_order(predict: Predict) -> None:
    frame = houses(ROWS).drop(columns="price")
    said, predictions = predict(frame)
    assert (said["rows"], len(predictions), len(said["predictions"])) == (ROWS, ROWS, 1_000)
    _, backwards = predict(frame[::-1])
    np.testing.assert_allclose(predictions["prediction"], backwards["prediction"][::-1])
    assert np.corrcoef(predictions["prediction"], frame["size"])[0, 1] > 0.8


def test_csv_holds_the_same_numbers(predict: Predict) -> None:
    frame = houses(ROWS)
    _, parquet = predict(frame)
    _, csv = predict(frame, "csv")
    np.testing.assert_allclose(parquet["prediction"], csv["prediction"])


def test_progress_increases_to_one(predict: Predict) -> None:
    seen: list[float] = []
    predict(houses(ROWS), report=lambda fraction, text: seen.append(fraction))
    assert seen == sorted(seen)
    assert len(seen) == 3
    assert seen[-1] == 1.0


def test_warnings_of_batches_are_merged(predict: Predict) -> None:
    frame = houses(ROWS).assign(town=["Chur"] * ROWS, extra=1)
    said, _ = predict(frame)
    rows = {(warning["kind"], warning["column"]): warning["rows"] for warning in said["warnings"]}
    assert rows[("unseen_category", "town")] == ROWS
    assert rows[("extra_column", "extra")] == ROWS
    assert len(rows) == len(said["warnings"])


def test_rows_outside_of_the_training_range_are_marked_and_the_farthest_is_named(predict: Predict) -> None:
    frame = houses(ROWS)
    frame.loc[[3, ROWS - 3], "size"] = [400.0, 9_000.0]  # in the first batch and in the last
    answer, _ = predict(frame)
    marked = answer["outside_training"]
    assert {3, ROWS - 3} < {entry["row"] for entry in marked}
    assert all(entry["columns"] == ["size"] for entry in marked)
    (warning,) = [entry for entry in answer["warnings"] if entry["column"] == "size"]
    assert (warning["kind"], warning["rows"]) == ("outside_range", len(marked))
    assert "by up to 8" in warning["text"]
    assert set(warning) == {"kind", "column", "text", "rows"}


def test_a_cell_that_is_wrong_at_the_end_is_named_before_anything_is_predicted(predict: Predict) -> None:
    frame = houses(ROWS).astype({"size": object})
    frame.loc[ROWS - 3, "size"] = "large"
    frame["size"] = frame["size"].astype(str)
    seen: list[float] = []
    with pytest.raises(InvalidInput) as raised:
        predict(frame, report=lambda fraction, text: seen.append(fraction), strict=True)
    assert (raised.value.code, raised.value.facts["row"]) == ("wrong_type", ROWS - 3)
    assert "'large'" in raised.value.detail
    assert all(fraction <= 0.1 for fraction in seen)


def test_an_unreadable_cell_is_named_and_the_other_rows_are_predicted_as_without_it(predict: Predict) -> None:
    frame = houses(ROWS)
    _, plain = predict(frame)
    wrong = frame.astype({"size": object})
    wrong.loc[ROWS - 3, "size"] = "large"
    wrong["size"] = wrong["size"].astype(str)
    answer, predictions = predict(wrong)
    assert answer["problems"] == [{"row": ROWS - 3, "column": "size", "value": "large", "taken_as": None}]
    assert [w["rows"] for w in answer["warnings"] if w["kind"] == "unreadable_value"] == [1]
    others = np.arange(ROWS) != ROWS - 3
    np.testing.assert_allclose(predictions["prediction"][others], plain["prediction"][others])


def test_columns_that_lack_are_named_with_the_nearest(predict: Predict) -> None:
    with pytest.raises(InvalidInput) as raised:
        predict(houses(10).rename(columns={"size": "sizes"}))
    assert (raised.value.code, raised.value.facts["nearest"]) == ("missing_columns", {"size": ["sizes"]})


def test_a_table_without_rows_is_refused(predict: Predict) -> None:
    with pytest.raises(InvalidInput, match="no rows"):
        predict(houses(1).head(0))


def test_a_file_that_is_not_parquet_is_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"no table")
    with pytest.raises(InvalidInput, match="not a readable Parquet table"):
        predict_table(CellWorkspace({"model": model, "table": tmp_path / "x"}, tmp_path))
