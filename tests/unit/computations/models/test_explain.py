"""An ensemble of real fits is explained on its hold-out, with every figure that its facts allow."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import explain, train
from app.computations.preparation import split

Compute = Callable[..., tuple[Any, Path]]


@pytest.fixture
def compute(tmp_path: Path) -> Compute:
    def run(function: Any, inputs: Mapping[str, Path], **params: Any) -> tuple[Any, Path]:
        output = tmp_path / f"cell-{len(list(tmp_path.iterdir()))}"
        output.mkdir()
        return json.loads(json.dumps(function(CellWorkspace(inputs, output), **params))), output

    return run


def table(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = 900
    made = pd.DataFrame(
        {"a": rng.normal(size=rows), "noise": rng.normal(size=rows), "place": rng.choice(["u", "v", "w"], rows)}
    )
    y = (
        2 * np.sign(made["a"])
        + (made["place"] == "u")
        + np.where(made["place"] == "w", 3, 0.3) * rng.normal(size=rows)
    )
    target = {
        "binary": np.where(y > 0.3, "yes", "no"),
        "classes": np.select([y < -1, y > 1], ["low", "high"], "middle"),
        "number": y * 100,
    }
    return made.assign(y=target[kind])


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_an_ensemble_is_explained_on_holdout_rows(kind: str, compute: Compute, tmp_path: Path) -> None:
    source = tmp_path / "table.parquet"
    table(kind).to_parquet(source)
    locked, files = compute(split.split_table, {"table": source}, problem={"target": "y"}, seed=0)
    given = {"problem": locked["problem"], "folds": locked["folds"]}
    fits, inputs = [], {}
    for place, estimator in enumerate(("LightGBM", "Ridge" if kind == "number" else "LogisticRegression")):
        fit, left = compute(
            train.fit_candidate, {"frame": files / "train.parquet"}, estimator=estimator, run=[0, 1], **given
        )
        fits.append(fit)
        inputs |= {f"model_{place}": left / "model.skops", f"oof_{place}": left / "oof.parquet"}
    _, blended = compute(train.blend, inputs, fits=fits, seed=0, **given)
    opened = {"holdout": files / "holdout.parquet", "model": blended / "model.skops"}

    facts, left = compute(explain.explain_model, opened)

    assert facts["importances"][0]["column"] == "a"
    assert {entry["column"]: entry["helps"] for entry in facts["importances"]}["noise"] is False
    assert facts["dependence"][0]["column"] == "a"
    assert facts["contributions"]["features"][0]["feature"] == "a"
    assert facts["contributions"]["features"][0]["direction"] is not None
    unit = {"binary": "log_odds", "classes": "log_odds", "number": "target"}[kind]
    assert facts["contributions"]["unit"] == unit
    worst = facts["segments"]["worst"]
    assert not worst or (worst[0]["column"], worst[0]["text"]) == ("place", "is w")
    assert worst or kind == "classes"
    drawn = {"importances", "dependence", "contributions", *(["segments"] if worst else [])}
    assert {Path(figure["file"]).stem for figure in facts["figures"]} == drawn
    assert {path.name for path in left.iterdir()} == {
        f"{name}.{kind}" for name in drawn for kind in ("svg", "png")
    }
    again, _ = compute(explain.explain_model, opened)
    assert {**again, "explain_s": 0} == {**facts, "explain_s": 0}


def test_a_column_that_the_model_dropped_is_not_listed(compute: Compute, tmp_path: Path) -> None:
    source = tmp_path / "table.parquet"
    table("number").assign(row=range(900)).to_parquet(source)
    locked, files = compute(split.split_table, {"table": source}, problem={"target": "y"}, seed=0)
    given = {"problem": locked["problem"], "folds": locked["folds"], "estimator": "Ridge"}
    recipe = [{"op": "drop", "columns": ["row"]}]
    _, fitted = compute(
        train.fit_candidate, {"frame": files / "train.parquet"}, recipe=recipe, run=[0], **given
    )
    opened = {"holdout": files / "holdout.parquet", "model": fitted / "model.skops"}
    facts, _ = compute(explain.explain_model, opened)
    assert {entry["column"] for entry in facts["importances"]} == {"a", "noise", "place"}
