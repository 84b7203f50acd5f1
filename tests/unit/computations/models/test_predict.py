"""What a stored model says beside its prediction: calibrated probabilities, the threshold's choice, bounds."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import train
from app.computations.models.predict import OpenModel, open_model
from app.computations.preparation import split
from app.computations.uploads.ingest import ingest


def fitted(folder: Path, target: str, name: str) -> OpenModel:
    draw = np.random.default_rng(3)
    size = draw.uniform(0, 10, 400)
    noisy = size + draw.normal(0, 2, 400)
    table = pd.DataFrame({"size": size, "price": 3 * noisy, "sold": np.where(noisy > 5, "yes", "no")})
    return fitted_on(folder, table[["size", target]], target, name)


def fitted_on(
    folder: Path, table: pd.DataFrame, target: str, name: str, readings: dict[str, Any] | None = None
) -> OpenModel:
    for made in ("split", "fit", "use"):
        (folder / made).mkdir()
    table.to_parquet(folder / "table.parquet")
    locked: Any = split.split_table(
        CellWorkspace({"table": folder / "table.parquet"}, folder / "split"),
        {"target": target},
        readings=readings,
    )
    fitting = CellWorkspace({"frame": folder / "split" / "train.parquet"}, folder / "fit")
    train.fit_candidate(fitting, locked["problem"], name, locked["folds"], [])
    return open_model(CellWorkspace({"model": folder / "fit" / "model.skops"}, folder / "use"))


def having(model: OpenModel, **metadata: Any) -> OpenModel:
    stored = replace(model.stored, metadata={**model.stored.metadata, **metadata})
    return replace(model, stored=stored)


ROWS = pd.DataFrame({"size": [1.0, 4.9, 9.0]})


def test_a_number_comes_with_its_interval_where_the_model_has_one(tmp_path: Path) -> None:
    model = fitted(tmp_path, "price", "Ridge")
    intervals = {
        "level": 0.9,
        "errors": {"0.9": [-2.0, 5.0]},
        "predictions": [0.0],
        "scales": [1.0],
        "lowest": None,
    }
    predictions = having(model, prediction_intervals=intervals).predictions(ROWS).predictions
    np.testing.assert_allclose(predictions["low"], predictions["prediction"] - 2)
    np.testing.assert_allclose(predictions["high"], predictions["prediction"] + 5)
    said = model.to_records(predictions)[0]
    assert set(said) == {"prediction", "low", "high"}
    without = having(model, prediction_intervals=None).predictions(ROWS).predictions
    assert list(without.columns) == ["prediction"]


def test_the_threshold_applies_to_calibrated_probabilities(tmp_path: Path) -> None:
    model = fitted(tmp_path, "sold", "LogisticRegression")
    plain = having(model, calibration=None, threshold=None).predictions(ROWS).predictions
    positive = model.problem.classes[model.problem.positive_index]  # type: ignore[index]  # it is binary
    share = plain[f"probability_{positive}"]
    strict = having(model, calibration=None, threshold=float(share.max())).predictions(ROWS).predictions
    assert (strict["prediction"] == positive).sum() == 1
    calibrations = {"method": "platt", "parameters": {"slope": 0.25, "shift": 0.0}}
    milder = having(model, calibration=calibrations, threshold=float(share.max())).predictions(ROWS).predictions
    assert milder[f"probability_{positive}"].max() < share.max()
    assert (milder["prediction"] == positive).sum() == 0


@pytest.mark.parametrize(
    ("values", "gap", "names"),
    [([0.0, 1.0], False, ["0.0", "1.0"]), ([0, 1], False, ["0", "1"]), ([0, 1], True, ["0", "1"])],
)
def test_classes_that_look_like_numbers_come_back_as_the_table_writes_them(
    tmp_path: Path, values: list[float], gap: bool, names: list[str]
) -> None:
    draw = np.random.default_rng(3)
    size = draw.uniform(0, 10, 400)
    written = pd.Series(np.where(size + draw.normal(0, 2, 400) > 5, *values[::-1]))
    if isinstance(values[0], int):
        written = written.astype("Int64").mask(pd.Series(size < 1) & gap)
    model = fitted_on(tmp_path, pd.DataFrame({"size": size, "sold": written}), "sold", "LogisticRegression")
    record = model.to_records(model.predictions(ROWS).predictions)[0]
    assert list(record["probabilities"]) == names
    assert str(record["prediction"]) in names


@pytest.mark.parametrize("texts", [("1", "2"), ("4 kg", "6 kg"), ("1.0", "2.0")])
@pytest.mark.parametrize("is_uploaded", [True, False])
def test_classes_that_are_numbers_as_text_come_back_as_text(
    tmp_path: Path, texts: tuple[str, str], is_uploaded: bool
) -> None:
    draw = np.random.default_rng(3)
    size = draw.uniform(0, 10, 400)
    frame = pd.DataFrame({"size": size, "kind": np.where(size + draw.normal(0, 2, 400) > 5, *texts[::-1])})
    readings: dict[str, Any] = {}
    if is_uploaded:
        frame.to_parquet(tmp_path / "upload")
        (tmp_path / "ingest").mkdir()
        uploaded: Any = ingest(CellWorkspace({"upload": tmp_path / "upload"}, tmp_path / "ingest"), "t.parquet")
        frame = pd.read_parquet(tmp_path / "ingest" / "table.parquet")
        assert (frame["kind"].dtype == "float64") == texts[0].replace(".", "").isdigit()
        readings = {column["column"]: column["parser"] for column in uploaded["reading"]["columns"]}
    model = fitted_on(tmp_path, frame, "kind", "LogisticRegression", readings)
    record = model.to_records(model.predictions(ROWS).predictions)[0]
    assert list(record["probabilities"]) == list(texts)
    assert record["prediction"] in texts


@pytest.mark.parametrize("rows", [1, 3])
def test_one_row_is_predicted_as_in_a_batch(tmp_path: Path, rows: int) -> None:
    model = fitted(tmp_path, "price", "Ridge")
    predictions = model.predictions(ROWS.head(rows)).predictions
    alone = model.predictions(ROWS.head(1)).predictions
    assert predictions["prediction"].iloc[0] == alone["prediction"].iloc[0]
