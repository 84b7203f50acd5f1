"""From a table to predictions through the computations alone, as cells run them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bokeh_sampledata
import pandas as pd
import pytest

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import evaluate, predict, predict_table, train
from app.computations.preparation import clean, explore, features, split
from app.errors import InvalidInput
from app.modeling.facts.fits import CandidateFit, merge_parts

DATA = Path(bokeh_sampledata.__file__).parent / "_data"
NewBench = Callable[..., CellWorkspace]


@pytest.fixture
def bench(tmp_path: Path) -> NewBench:
    def make(**inputs: Path) -> CellWorkspace:
        folder = tmp_path / f"bench{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        return CellWorkspace(inputs, folder)

    return make


def table(folder: Path, frame: pd.DataFrame) -> Path:
    path = folder / "table.parquet"
    frame.to_parquet(path)
    return path


def strict(facts: Any) -> Any:
    """The facts, which must be JSON without NaN and without numpy."""
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    return facts


def test_the_titanic_from_table_to_predictions(bench: NewBench, tmp_path: Path) -> None:
    locking = bench(table=table(tmp_path, pd.read_csv(DATA / "titanic_all.csv")))
    locked = strict(split.split_table(locking, {"target": "survived"}))
    assert (locked["kind"], locked["train_rows"], locked["holdout_rows"]) == ("stratified", 1050, 263)
    frame, problem = locking.output / "train.parquet", locked["problem"]

    looking = bench(frame=frame)
    seen = strict(explore.perform_eda(looking, problem))
    assert seen["leaks"] == []
    assert {figure["file"] for figure in seen["figures"]} <= {path.name for path in looking.output.iterdir()}
    relation = {column["name"]: column["relation"] for column in seen["columns"]}
    assert relation["sex"] > 0.7 > relation["name"]

    cleaned = strict(clean.clean_data(bench(frame=frame), problem))
    assert cleaned["effects"] == ["Marked where age is missing."]
    made = strict(features.create_features(bench(frame=frame), problem, cleaned["recipe"]))
    assert "name_title" in made["new_columns"]

    fits, outputs = [], {}
    for estimator in ("baseline", "LogisticRegression"):
        fitting = bench(frame=frame)
        fit = train.fit_candidate(fitting, problem, estimator, locked["folds"], made["recipe"])
        fits.append(strict(fit))
        outputs[estimator] = fitting.output
    compared = strict(evaluate.compare_models(bench(), fits))
    assert (compared["chosen"], compared["beats_baseline"]) == ("LogisticRegression", True)
    chosen = fits[1]
    assert chosen["score"] > 0.83

    oof = outputs["LogisticRegression"] / "oof.parquet"
    judging = bench(frame=frame, oof_0_0=oof)
    judged = strict(evaluate.evaluate_model(judging, problem, chosen, locked["folds"]))
    assert (judged["on"], judged["rows"], judged["model"]) == ("cross-validation", 1050, "LogisticRegression")
    errors = pd.read_parquet(judging.output / "errors.parquet")
    assert len(errors) == 1050
    assert {"age", "truth", "p_1", "error"} <= {*errors.columns}
    assert "survived" not in errors.columns
    for entry in judged["slices"]:
        assert entry["error"] > entry["error_elsewhere"]

    model = outputs["LogisticRegression"] / "model.skops"
    closing = bench(train=frame, holdout=locking.output / "holdout.parquet", model=model)
    final = strict(evaluate.final_evaluation(closing))
    assert (final["on"], final["rows"], final["agrees_with_cv"]) == ("hold-out", 263, True)
    assert final["metrics"]["roc_auc"]["low"] > 0.75
    assert {figure["file"] for figure in final["figures"]} >= {"roc.svg", "confusion.svg", "calibration.svg"}

    said = strict(predict_table.predict_table(bench(model=model, table=locking.output / "holdout.parquet")))
    assert said["rows"] == 263
    assert set(said["predictions"][0]["probabilities"]) == {"0", "1"}


def test_a_candidate_whose_folds_were_fitted_in_two_calls_is_judged_on_all_of_them(
    bench: NewBench, tmp_path: Path
) -> None:
    locking = bench(table=table(tmp_path, pd.read_csv(DATA / "titanic_all.csv")))
    locked = strict(split.split_table(locking, {"target": "survived"}))
    frame, problem = locking.output / "train.parquet", locked["problem"]
    benches = [bench(frame=frame), bench(frame=frame)]
    parts = [
        CandidateFit.from_json(
            strict(train.fit_candidate(one, problem, "LogisticRegression", locked["folds"], run=run))
        )
        for one, run in zip(benches, ([0, 1], [2, 3, 4]), strict=True)
    ]
    oofs = {f"oof_0_{number}": one.output / "oof.parquet" for number, one in enumerate(benches)}
    judged = evaluate.evaluate_model(
        bench(frame=frame, **oofs), problem, merge_parts(parts).to_json(), locked["folds"]
    )
    assert strict(judged)["rows"] == locked["train_rows"]


def test_importance_names_the_columns_that_matter(bench: NewBench, tmp_path: Path) -> None:
    locking = bench(table=table(tmp_path, pd.read_csv(DATA / "titanic_all.csv")))
    locked = split.split_table(locking, {"target": "survived"})
    facts = strict(
        evaluate.feature_importance(
            bench(frame=locking.output / "train.parquet"),
            locked["problem"],
            "LogisticRegression",
            locked["folds"],
        )
    )
    first, *rest = facts["importances"]
    assert (first["column"], first["grouped_by"], first["helps"]) == ("sex, name", "words", True)
    assert {entry["column"] for entry in rest} == {"class", "age"}


def test_prices_of_several_tickers_ahead_in_time(bench: NewBench, tmp_path: Path) -> None:
    stocks = pd.read_csv(DATA / "stocks.csv.gz").groupby("Ticker").tail(250)
    wish = {
        "target": "Close",
        "horizon": 1,
        "kind": "classification",
        "time_column": "Date",
        "group_column": "Ticker",
    }
    locking = bench(table=table(tmp_path, stocks))
    locked = strict(split.split_table(locking, wish))
    assert (locked["kind"], locked["problem"]["classes"]) == ("time", ["down", "up"])
    frame, problem = locking.output / "train.parquet", locked["problem"]
    names = ["SMA_20", "EMA_20", "RSI_14", "MACD", "BBANDS_20", "ATR_14", "OBV"]
    columns = {"close": "Close", "high": "High", "low": "Low", "volume": "Volume"}
    made = strict(features.technical_indicators(bench(frame=frame), problem, [], names, **columns))
    assert {"RSI_14", "ATR_14", "OBV", "MACD", "MACD_HIST", "BBANDS_20_UPPERBAND"} <= set(made["new_columns"])
    fitting = bench(frame=frame)
    fit = strict(train.fit_candidate(fitting, problem, "LogisticRegression", locked["folds"], made["recipe"]))
    assert 0.35 < fit["score"] < 0.65
    holdout = locking.output / "holdout.parquet"
    final = strict(
        evaluate.final_evaluation(bench(train=frame, holdout=holdout, model=fitting.output / "model.skops"))
    )
    assert "blocks of" in final["interval_method"]
    assert not final["beats_baseline"]


def test_a_number_ahead_starts_from_its_present_value(bench: NewBench, tmp_path: Path) -> None:
    stocks = pd.read_csv(DATA / "stocks.csv.gz").query("Ticker == 'MSFT'").tail(400)
    locking = bench(table=table(tmp_path, stocks))
    locked = split.split_table(locking, {"target": "Close", "horizon": 5, "time_column": "Date"})
    frame = locking.output / "train.parquet"
    made = features.create_features(bench(frame=frame), locked["problem"], [])
    fitting = bench(frame=frame)
    fit = strict(train.fit_candidate(fitting, locked["problem"], "Ridge", locked["folds"], made["recipe"]))
    naive = train.fit_candidate(bench(frame=frame), locked["problem"], "baseline", locked["folds"])
    assert fit["score"] < 2 * naive["score"]
    rows = pd.read_parquet(locking.output / "holdout.parquet").head(3)
    said = predict.predict(
        bench(model=fitting.output / "model.skops"),
        json.loads(rows.to_json(orient="records", date_format="iso")),
    )
    for prediction, close in zip(said["predictions"], rows["Close"], strict=True):
        assert prediction["prediction"] == pytest.approx(close, rel=0.15)


@pytest.mark.parametrize(
    ("frame", "wish", "code"),
    [
        (pd.DataFrame({"x": range(5), "y": [0, 1, 0, 1, 0]}), {"target": "y"}, "too_little_data"),
        (pd.DataFrame({"x": range(50), "y": [1] * 50}), {"target": "y"}, "target_constant"),
        (pd.DataFrame({"x": range(50), "y": [None] * 50}), {"target": "y"}, "target_empty"),
        (pd.DataFrame({"x": range(50), "y": [1, 0] * 25}), {"target": "z"}, "unknown_column"),
        (
            pd.DataFrame({"x": ["a"] * 50, "y": [1, 0] * 25}),
            {"target": "y", "time_column": "x"},
            "time_column_is_no_date",
        ),
    ],
)
def test_a_table_that_cannot_be_split_is_refused(
    bench: NewBench, tmp_path: Path, frame: pd.DataFrame, wish: dict[str, Any], code: str
) -> None:
    locking = bench(table=table(tmp_path, frame))
    with pytest.raises(InvalidInput) as caught:
        split.split_table(locking, wish)
    assert caught.value.code == code
    assert list(locking.output.iterdir()) == []


def test_a_missing_input_is_named(bench: NewBench) -> None:
    with pytest.raises(InvalidInput, match="needs the input 'table'"):
        split.split_table(bench(), {"target": "y"})
