"""A delivered model predicts rows of known entities by fits that read their name."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import predict, train
from app.modeling.problem_definition.resolve_problem import resolve_problem

USERS, LENGTH = 40, 12
FOLDS = {"kind": "grouped", "count": 3, "seed": 0}


def visits(kind: str, seed: int = 0) -> pd.DataFrame:
    """Visits of users with a level that no other column tells; users 40 to 49 have no training rows."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(USERS + 10), LENGTH)
    price = rng.normal(size=len(user))
    score = 3 * rng.normal(size=USERS + 10)[user] + price + 0.3 * rng.normal(size=len(user))
    target = score if kind == "regression" else np.where(score > 0, "yes", "no")
    return pd.DataFrame({"user_id": user, "price": price, "target": target})


def deliver(tmp_path: Path, frame: pd.DataFrame, by_entity: bool) -> CellWorkspace:
    """Fit on the known users, refit, and return the workspace of predictions."""
    request = {"target": "target", "group_column": "user_id"}
    problem = resolve_problem(frame, request).to_json()
    folder = tmp_path / str(by_entity)
    folder.mkdir()
    for name, rows in (("train", frame[::2]), ("holdout", frame[1::2])):
        rows.to_parquet(folder / f"{name}.parquet")
    files = {name: folder / f"{name}.parquet" for name in ("train", "holdout")}
    fitted: Any = train.fit_candidate(
        CellWorkspace({"frame": files["train"]}, folder), problem, "LightGBM", FOLDS, run=[0]
    )
    done: Any = train.refit(CellWorkspace(files, folder), fitted, time_limit_s=60, by_entity=by_entity)
    assert done.get("by_entity", False) is by_entity
    return CellWorkspace({"model": folder / "model.skops"}, folder)


def outputs(workspace: CellWorkspace, rows: pd.DataFrame) -> np.ndarray:
    """Predicted numbers, or probabilities of `yes` (rows,)."""
    answer: Any = predict.predict(workspace, rows.drop(columns="target", errors="ignore").to_dict("records"))
    return np.array(
        [row.get("probabilities", {}).get("yes", row["prediction"]) for row in answer["predictions"]]
    )


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_known_entities_are_predicted_by_fits_that_read_their_name(tmp_path: Path, kind: str) -> None:
    frame = visits(kind)
    known, new = frame[frame["user_id"] < USERS], frame[frame["user_id"] >= USERS]
    usual, by_entity = (deliver(tmp_path, known, flag) for flag in (False, True))
    truth = known["target"] if kind == "regression" else (known["target"] == "yes").astype(float)
    errors = [float(np.mean((outputs(model, known) - truth) ** 2)) for model in (usual, by_entity)]
    assert errors[1] < 0.7 * errors[0]
    assert outputs(by_entity, new) == pytest.approx(outputs(usual, new), abs=0.5)
    # Without their name, rows of known entities are like those of new ones.
    unnamed = known.drop(columns="user_id")
    assert outputs(by_entity, unnamed) == pytest.approx(outputs(by_entity, unnamed.assign(user_id=USERS + 1)))


def test_a_refitted_model_has_the_wider_intervals_that_the_hold_out_asks_for(tmp_path: Path) -> None:
    frame, spans = visits("regression"), []
    frame.to_parquet(tmp_path / "rows.parquet")
    problem = resolve_problem(frame, {"target": "target"}).to_json()
    workspace = CellWorkspace({"frame": tmp_path / "rows.parquet"}, tmp_path)
    fitted: Any = train.fit_candidate(workspace, problem, "Ridge", FOLDS)
    files = dict.fromkeys(("train", "holdout"), tmp_path / "rows.parquet")
    for widening in (None, 1.5):
        folder = tmp_path / str(widening)
        folder.mkdir()
        refitted: Any = train.refit(CellWorkspace(files, folder), fitted, time_limit_s=60, widening=widening)
        assert refitted.get("widening") == widening
        model = CellWorkspace({"model": folder / "model.skops"}, folder)
        answer: Any = predict.predict(model, frame.drop(columns="target").head(5).to_dict("records"))
        spans.append([row["high"] - row["low"] for row in answer["predictions"]])
    assert np.array(spans[1]) == pytest.approx(1.5 * np.array(spans[0]), rel=0.01)
