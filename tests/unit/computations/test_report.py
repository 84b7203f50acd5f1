"""The report finds what the science answers today: real computations, recorded, written down and checked."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.computations import report
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import evaluate, train
from app.computations.preparation import explore, split
from app.errors import InvalidInput, LabError
from app.recorded_call import RecordedCall
from app.reporting.verification import verify_report

Compute = Callable[..., tuple[Any, Path]]
SESSION = {
    "id": "s",
    "goal": "Predict it.",
    "seed": 0,
    "created_at": "2026-03-14T00:00:00+00:00",
    "datasets": [{"name": "data", "table": "data", "rows": 320, "columns": 4, "digest": "ab"}],
}


@pytest.fixture
def compute(tmp_path: Path) -> Compute:
    def run(function: Any, inputs: Mapping[str, Path], **params: Any) -> tuple[Any, Path]:
        output = tmp_path / f"cell-{len(list(tmp_path.iterdir()))}"
        output.mkdir()
        return json.loads(json.dumps(function(CellWorkspace(inputs, output), **params))), output

    return run


def table(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = 320
    x = rng.normal(size=(rows, 2))
    y = x[:, 0] * 2 + rng.normal(size=rows)
    made = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": rng.choice(["u", "v"], rows)})
    target = {
        "binary": np.where(y > 0, "yes", "no"),
        "classes": np.select([y < -1, y > 1], ["low", "high"], "middle"),
        "number": y * 100,
    }
    made["y"] = target[kind]
    return made


def recorded(compute: Compute, kind: str, folder: Path) -> tuple[list[RecordedCall], dict[str, Path]]:
    """The calls of a short session, and the figures that they left."""
    made: list[RecordedCall] = []
    drawn: dict[str, Path] = {}

    def record(seq: int, node: str, tool: str, result: Any, left: Path) -> None:
        made.append(RecordedCall(seq, node, "tool:1.0", tool, "agent", {}, result))
        drawn.update({figure["file"]: left / figure["file"] for figure in result.get("figures", ())})

    source = folder / "table.parquet"
    table(kind).to_parquet(source)
    locked, files = compute(split.split_table, {"table": source}, problem={"target": "y"}, seed=0)
    given = {"problem": locked["problem"]}
    frame = {"frame": files / "train.parquet"}
    record(1, "split", "lock_holdout", locked, files)
    record(2, "data_analysis", "perform_eda", *compute(explore.perform_eda, frame, **given))
    name = "Ridge" if kind == "number" else "LogisticRegression"
    fits, models = [], {}
    for estimator in ("baseline", name):
        fit, left = compute(train.fit_candidate, frame, estimator=estimator, folds=locked["folds"], **given)
        fits.append(fit)
        models[fit["name"]] = left / "model.skops"
    record(3, "model_training", "train_classification_model", {"fits": fits, "left_out": []}, files)
    record(4, "model_evaluation", "compare_models", *compute(evaluate.compare_models, {}, fits=fits))
    importance = compute(
        evaluate.feature_importance, frame, estimator=name, folds=locked["folds"], repeats=2, **given
    )
    record(5, "model_evaluation", "feature_importance", *importance)
    opened = {"train": frame["frame"], "holdout": files / "holdout.parquet", "model": models[name]}
    record(6, "final_evaluation", "final_evaluation", *compute(evaluate.final_evaluation, opened))
    return made, drawn


def own() -> dict[str, Any]:
    call = RecordedCall(7, "reporting", "tool:1.0", "generate_summary", "reporter", None, {"session": SESSION})
    return dataclasses.asdict(call)


def dumped(calls: list[RecordedCall], folder: Path) -> Path:
    path = folder / "calls.json"
    path.write_text(json.dumps([dataclasses.asdict(call) for call in calls]))
    return path


@pytest.mark.parametrize(
    ("kind", "figures"),
    [
        ("binary", {"leaderboard", "roc", "precision_recall", "confusion", "calibration", "importances"}),
        ("classes", {"leaderboard", "confusion", "importances"}),
        ("number", {"leaderboard", "predicted_vs_actual", "residuals", "importances"}),
    ],
)
def test_a_real_session_gets_a_complete_report(
    kind: str, figures: set[str], compute: Compute, tmp_path: Path
) -> None:
    calls, drawn = recorded(compute, kind, tmp_path)
    assert {Path(file).stem for file in drawn} == figures | {"distributions", "association"} | (
        {"target_by_feature"} if kind != "classes" else set()
    )
    refs = [{"name": Path(file).stem, "digest": "ab", "step": 1, "call": "tool:1.0"} for file in drawn]
    inputs = {"calls": dumped(calls, tmp_path)} | {Path(file).stem: path for file, path in drawn.items()}

    facts, left = compute(report.write_report, inputs, own=own(), figures=refs)

    assert {f"{name}.png" for name in figures} <= {path.with_suffix(".png").name for path in drawn.values()}
    assert (left / "report.html").read_text().count("<img") == len(drawn)
    parts = ["understanding", "answer", "drivers", "evidence", "actions", "problem", "data", "split", "results"]
    assert facts["sections"] == [*parts, "importances", "trials", "reproducibility"]
    document = json.loads((left / "report.json").read_text())
    verdict = verify_report(document, [*calls, RecordedCall(**own())], (left / "report.html").read_text())
    assert verdict.mismatches == ()
    assert verdict.checked == facts["checked"] > 40
    assert (left / "model_card.md").stat().st_size > 1000


def test_nothing_is_written_of_candidates_that_do_not_exist(compute: Compute, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No candidates were compared yet"):
        compute(report.write_comparison, {"calls": dumped([], tmp_path)}, own=own())


def test_a_report_that_fails_verification_raises(compute: Compute, tmp_path: Path) -> None:
    with pytest.raises(report.ReportUnproven, match="fails its own verification") as unproven:
        compute(
            report.write_report,
            {"calls": dumped([], tmp_path)},
            own=own(),
            remarks=["It is right in 98.7% of all cases."],
        )
    assert not isinstance(unproven.value, LabError)
