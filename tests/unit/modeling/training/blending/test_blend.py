"""Parts that were fitted apart become one model that says what its weights say it should."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import predict, train
from app.errors import InvalidInput
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.training.ensemble.average import list_members
from app.modeling.training.fitting import predict_all
from app.modeling.training.persistence import StoredModel, deserialize_model

from ...frames import houses, people, problem, series

FOLDS = {"kind": "stratified", "count": 3, "seed": 0}
Part = tuple[dict[str, Any], Path]


def part(tmp_path: Path, frame: pd.DataFrame, asked: Problem, estimator: str, **how: Any) -> Part:
    folder = tmp_path / f"{estimator}-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    frame.to_parquet(tmp_path / "frame.parquet")
    bench = CellWorkspace({"frame": tmp_path / "frame.parquet"}, folder)
    folds = how.pop("folds", FOLDS)
    facts: Any = train.fit_candidate(bench, asked.to_json(), estimator, folds, **how)
    return facts, folder


def together(tmp_path: Path, asked: Problem, parts: list[Part], folds: Any = FOLDS) -> Part:
    folder = tmp_path / "together"
    folder.mkdir(exist_ok=True)
    inputs = {f"model_{place}": folder / "model.skops" for place, (_, folder) in enumerate(parts)}
    inputs |= {f"oof_{place}": folder / "oof.parquet" for place, (_, folder) in enumerate(parts)}
    facts: Any = train.blend(
        CellWorkspace(inputs, folder), asked.to_json(), folds, [facts for facts, _ in parts]
    )
    return facts, folder


def stored(made: Part) -> StoredModel:
    return deserialize_model((made[1] / "model.skops").read_bytes())


def test_parts_of_one_candidate_are_merged_to_the_candidate(tmp_path: Path) -> None:
    frame = people(200)
    asked = problem(frame, "left")
    whole = part(tmp_path, frame, asked, "LogisticRegression", hyperparameters={"C": 0.1})
    pieces = [
        part(tmp_path, frame, asked, "LogisticRegression", hyperparameters={"C": 0.1}, run=run)
        for run in ([0], [2, 1])
    ]
    facts, folder = together(tmp_path, asked, pieces)
    assert facts["fold_scores"] == whole[0]["fold_scores"]
    assert facts["weights"] == {"LogisticRegression": 1.0}
    assert [member["weight"] for member in facts["members"]] == pytest.approx([1 / 3, 2 / 3], abs=1e-6)
    rows = select_inputs(frame, asked)
    said = predict_all(stored((facts, folder)).pipeline, rows, asked)
    assert said == pytest.approx(predict_all(stored(whole).pipeline, rows, asked))


def test_an_ensemble_predicts_the_weighted_average_also_after_reloading_in_a_new_process(
    tmp_path: Path,
) -> None:
    frame = people(240)
    asked = problem(frame, "left")
    parts = [part(tmp_path, frame, asked, name) for name in ("LogisticRegression", "LightGBM", "Network")]
    made = together(tmp_path, asked, parts)
    facts = made[0]
    assert sum(facts["weights"].values()) == pytest.approx(1, abs=1e-3)
    assert min(facts["weights"].values()) > 0
    assert [one["name"] for one in facts["candidates"]] == ["LogisticRegression", "LightGBM", "Network"]
    rows = select_inputs(frame, asked)
    said = predict_all(stored(made).pipeline, rows, asked)
    expected = sum(
        facts["weights"].get(one["name"], 0.0) * predict_all(stored((one, folder)).pipeline, rows, asked)
        for one, folder in parts
    )
    assert said == pytest.approx(expected, abs=1e-3)
    rows.to_parquet(tmp_path / "rows.parquet")
    program = (
        "import sys, numpy, pandas; from pathlib import Path;"
        "from app.modeling.training.persistence import deserialize_model;"
        "from app.modeling.training.fitting import predict_all;"
        "from app.modeling.problem.problem import Problem;"
        "model = deserialize_model(Path(sys.argv[1]).read_bytes());"
        "said = predict_all(model.pipeline, pandas.read_parquet(sys.argv[2]),"
        " Problem.from_json(model.metadata['problem'])); numpy.save(sys.argv[3], said)"
    )
    places = [made[1] / "model.skops", tmp_path / "rows.parquet", tmp_path / "said.npy"]
    subprocess.run([sys.executable, "-c", program, *map(str, places)], check=True)
    assert np.array_equal(np.load(tmp_path / "said.npy"), said)


def test_settings_of_a_first_part_give_later_parts_the_same_model(tmp_path: Path) -> None:
    frame = houses(200)
    asked = problem(frame, "price")
    folds = {**FOLDS, "kind": "random"}
    first, _ = part(tmp_path, frame, asked, "LightGBM", folds=folds, run=[0], time_limit_s=20)
    later, _ = part(tmp_path, frame, asked, "LightGBM", folds=folds, run=[1, 0], settings=first["settings"])
    assert later["settings"] == first["settings"]
    assert later["fold_scores"][0] == pytest.approx(first["fold_scores"][0], rel=1e-6)
    assert later["fold_scores"][2] is None
    assert later["run"] == [1, 0]


def test_in_time_order_the_fit_on_all_rows_gets_the_weight_of_the_scored_parts(
    tmp_path: Path,
) -> None:
    frame = series(160)
    asked = problem(frame, "sales", horizon=1)
    folds = {**FOLDS, "kind": "time"}
    recipe = [{"op": "lags", "columns": ["sales"], "periods": [1, 6]}]
    latest = part(tmp_path, frame, asked, "Ridge", folds=folds, run=[2], recipe=recipe)
    settings = latest[0]["settings"]
    on_all = part(tmp_path, frame, asked, "Ridge", folds=folds, run=[], recipe=recipe, settings=settings)
    assert on_all[0]["score"] is None
    facts, _ = made = together(tmp_path, asked, [latest, on_all], folds)
    assert [member["weight"] for member in facts["members"]] == [0.0, 1.0]
    assert facts["fold_scores"] == latest[0]["fold_scores"]
    rows = select_inputs(frame, asked).tail(20)
    said = predict_all(stored(made).pipeline, rows, asked)
    assert said == pytest.approx(predict_all(stored(on_all).pipeline, rows, asked))


def test_the_delivered_model_is_also_fitted_on_the_holdout_rows(tmp_path: Path) -> None:
    frame = people(240)
    asked = problem(frame, "left")
    parts = [part(tmp_path, frame[:180], asked, name) for name in ("LogisticRegression", "LightGBM")]
    facts, folder = together(tmp_path, asked, parts)
    frame[:180].to_parquet(tmp_path / "train.parquet")
    frame[180:].to_parquet(tmp_path / "holdout.parquet")
    bench = CellWorkspace({name: tmp_path / f"{name}.parquet" for name in ("train", "holdout")}, folder)
    done: Any = train.refit(bench, facts)
    assert done["rows"] == 240
    made = stored((facts, folder))
    assert made.metadata["threshold"] == facts["threshold"]
    answer: Any = predict.predict(
        CellWorkspace({"model": folder / "model.skops"}, tmp_path),
        [{"name": "x", "age": 60, "plan": "pro", "visits": 2}],
    )
    assert answer["rows"] == 1
    late: Any = train.refit(bench, facts, time_limit_s=0.0)
    assert late["rows"] == 0


@pytest.mark.parametrize(("kind", "rows"), [("time", 160), ("random", 0)])
def test_in_time_order_the_heaviest_candidates_are_fitted_on_all_rows_where_time_ends(
    tmp_path: Path, kind: str, rows: int
) -> None:
    frame = series(160) if kind == "time" else houses(160)
    asked = problem(frame, "sales", horizon=1) if kind == "time" else problem(frame, "price")
    folds = {**FOLDS, "kind": kind}
    parts = [part(tmp_path, frame[:120], asked, name, folds=folds) for name in ("Ridge", "LightGBM")]
    facts, folder = together(tmp_path, asked, parts, folds)
    facts["weights"] = {"Ridge": 0.4, "LightGBM": 0.6}
    slow = {"Ridge": 1e6, "LightGBM": facts["candidates"][1]["fit_s"]}
    facts["candidates"] = [{**one, "fit_s": slow[one["name"]]} for one in facts["candidates"]]
    frame[:120].to_parquet(tmp_path / "train.parquet")
    frame[120:].to_parquet(tmp_path / "holdout.parquet")
    bench = CellWorkspace({name: tmp_path / f"{name}.parquet" for name in ("train", "holdout")}, folder)
    refitted: Any = train.refit(bench, facts, time_limit_s=600)
    assert refitted["rows"] == rows
    if rows:
        names = {
            type(m.named_steps["estimator"]).__name__ for m in list_members(stored((facts, folder)).pipeline)
        }
        assert names == {"LightGBM"}
    facts["candidates"] = [{**one, "fit_s": 1e6} for one in facts["candidates"]]
    late: Any = train.refit(bench, facts, time_limit_s=600)
    assert late["rows"] == 0


def test_a_fold_that_does_not_exist_and_parts_without_a_common_row_are_refused(tmp_path: Path) -> None:
    frame = people(120)
    asked = problem(frame, "left")
    with pytest.raises(InvalidInput, match="Folds are numbered 0 to 2"):
        part(tmp_path, frame, asked, "LogisticRegression", run=[3])
    apart = [
        part(tmp_path, frame, asked, name, run=[place])
        for place, name in enumerate(["LogisticRegression", "LightGBM"])
    ]
    with pytest.raises(InvalidInput, match="no out-of-fold row"):
        together(tmp_path, asked, apart)
