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
from app.computations.models.predict import predict as predict_rows
from app.computations.models.predict_table import predict_table
from app.computations.models.predict_unlabelled import predict_unlabelled
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
    return train_model(tmp_path_factory.mktemp("model"), {"target": "price"})


def train_model(folder: Path, problem: dict[str, Any], readings: dict[str, Any] | None = None) -> Path:
    (folder / "split").mkdir()
    (folder / "fit").mkdir()
    houses(400).to_parquet(folder / "table.parquet")
    locked: Any = split.split_table(
        CellWorkspace({"table": folder / "table.parquet"}, folder / "split"), problem, readings=readings or {}
    )
    fitting = CellWorkspace({"frame": folder / "split" / "train.parquet"}, folder / "fit")
    train.fit_candidate(fitting, locked["problem"], "Ridge", locked["folds"], [])
    return folder / "fit" / "model.skops"


@pytest.fixture
def predict(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predict:
    """Predicts a frame in batches of 1,000 rows."""

    def run(
        frame: pd.DataFrame,
        form: table_batches.Format = "parquet",
        report: Any = None,
        strict: bool = False,
        keep_columns: bool = False,
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
        said = predict_table(bench, form, strict=strict, keep_columns=keep_columns)
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


def test_numbers_in_another_unit_are_converted_to_that_of_training_and_it_is_named(tmp_path: Path) -> None:
    parser = {"op": "read_number", "after": {"m": 1.0, "cm": 0.01}}
    model = train_model(tmp_path, {"target": "price"}, {"size": parser})
    metres = houses(20).drop(columns="price")

    def run(frame: pd.DataFrame, units: dict[str, str]) -> dict[str, Any]:
        frame.to_parquet(tmp_path / "rows.parquet", index=False)
        facts: Any = predict_table(
            CellWorkspace({"model": model, "table": tmp_path / "rows.parquet"}, tmp_path), "csv", units=units
        )
        return dict(facts)

    plain = run(metres, {"size": "m"})
    centimetres = run(metres.assign(size=100 * metres["size"]), {"size": "cm"})
    np.testing.assert_allclose(
        [row["prediction"] for row in centimetres["predictions"]],
        [row["prediction"] for row in plain["predictions"]],
    )
    assert "converted_unit" not in {warning["kind"] for warning in plain["warnings"]}
    [warning] = [warning for warning in centimetres["warnings"] if warning["kind"] == "converted_unit"]
    assert warning["text"].startswith("size is in cm here")
    with pytest.raises(InvalidInput, match="size is in kg here, and in m where"):
        run(metres, {"size": "kg"})


def test_rows_that_those_of_the_model_are_made_of_are_refused_with_the_way(tmp_path: Path) -> None:
    model = train_model(tmp_path, {"target": "price", "made_of": "orders"})
    orders = pd.DataFrame({"customer": ["a", "b"], "town": ["Bern", "Thun"]})
    orders.to_parquet(tmp_path / "orders.parquet")
    workspace = CellWorkspace({"model": model, "table": tmp_path / "orders.parquet"}, tmp_path)
    for attempt in (
        lambda: predict_table(workspace, "csv"),
        lambda: predict_rows(CellWorkspace({"model": model}, tmp_path), orders.to_dict("records")),
    ):
        with pytest.raises(InvalidInput, match="run a session with that file and the same goal") as raised:
            attempt()
        assert raised.value.code == "missing_columns"
        assert raised.value.facts["missing"] == ["size"]
    predict_rows(CellWorkspace({"model": model}, tmp_path), houses(3).drop(columns="price").to_dict("records"))


def test_csv_holds_the_same_numbers(predict: Predict) -> None:
    frame = houses(ROWS)
    _, parquet = predict(frame)
    _, csv = predict(frame, "csv")
    np.testing.assert_allclose(parquet["prediction"], csv["prediction"])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_columns_of_the_table_stand_before_their_predictions(predict: Predict, form: Any) -> None:
    codes = [f"{number:05}" for number in range(ROWS)]
    # Columns that the model does not use, in another order than in training.
    frame = houses(ROWS).drop(columns="price")[["town", "size"]].assign(code=codes, note='a "b", c')
    _, alone = predict(frame)
    answer, beside = predict(frame, form, keep_columns=True)
    assert list(beside.columns) == ["town", "size", "code", "note", "prediction", "low", "high"]
    assert beside["code"].astype(int).tolist() == list(range(ROWS))
    assert beside["note"].unique().tolist() == ['a "b", c']
    np.testing.assert_allclose(beside["prediction"], alone["prediction"])
    assert set(answer["predictions"][0]) == {"prediction", "low", "high"}


def test_a_table_with_a_column_of_predictions_is_refused_before_it_is_predicted(predict: Predict) -> None:
    frame, reported = houses(ROWS).assign(low=0), []
    with pytest.raises(InvalidInput) as raised:
        predict(frame, report=lambda fraction, text: reported.append(fraction), keep_columns=True)
    assert (raised.value.code, raised.value.facts["column"]) == ("column_taken", "low")
    assert reported == []
    assert len(predict(frame)[1]) == ROWS


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


@pytest.fixture
def fill(model: Path, tmp_path: Path) -> Callable[..., tuple[dict[str, Any], pd.DataFrame | None]]:
    """Predicts the rows of a frame that have no price."""

    def run(
        frame: pd.DataFrame, max_rows: int = 1_000, ranked_by: str | None = None
    ) -> tuple[dict[str, Any], pd.DataFrame | None]:
        frame.to_parquet(tmp_path / "sent.parquet", index=False)
        output = tmp_path / f"filled-{len(list(tmp_path.iterdir()))}"
        output.mkdir()
        workspace = CellWorkspace({"model": model, "table": tmp_path / "sent.parquet"}, output)
        facts: Any = predict_unlabelled(workspace, max_rows, ranked_by)
        file = output / "predictions.csv"
        return facts, pd.read_csv(file) if file.exists() else None

    return run


def test_rows_without_a_target_are_predicted_beside_their_columns(fill: Any, predict: Predict) -> None:
    frame = houses(60).assign(row="a street")
    frame.loc[[4, 50], "price"] = np.nan
    facts, filled = fill(frame)
    assert facts == {"rows": 2, "unlabelled": 2, "file": "predictions.csv"}
    # The table has a column `row` of its own.
    assert list(filled.columns) == ["row_", "size", "town", "row", "prediction", "low", "high"]
    assert filled["row_"].tolist() == [5, 51]
    assert filled["size"].tolist() == pytest.approx(frame.loc[[4, 50], "size"].tolist())
    _, predictions = predict(frame.loc[[4, 50]].drop(columns=["price", "row"]))
    np.testing.assert_allclose(filled["prediction"], predictions["prediction"])


def test_ranked_rows_begin_with_the_highest_prediction(fill: Any) -> None:
    named = houses(60).assign(price=np.nan, owner=[f"owner {place}" for place in range(60)])
    facts, filled = fill(named, ranked_by="owner")
    assert [entry["name"] for entry in facts["first"]] == filled["owner"].head(5).tolist()
    assert [entry["value"] for entry in facts["first"]] == pytest.approx(filled["prediction"].head(5).tolist())
    assert filled["prediction"].is_monotonic_decreasing
    assert sorted(filled["row"]) == list(range(1, 61))
    assert filled["size"].tolist() == pytest.approx(houses(60)["size"].iloc[filled["row"] - 1].tolist())


def test_rows_beyond_the_limit_are_counted(fill: Any) -> None:
    facts, filled = fill(houses(30).assign(price=np.nan), max_rows=10)
    assert (facts["rows"], facts["unlabelled"], len(filled)) == (10, 30, 10)


def test_a_table_whose_rows_all_have_a_target_leaves_no_file(fill: Any) -> None:
    assert fill(houses(30)) == ({"rows": 0, "unlabelled": 0, "file": ""}, None)
