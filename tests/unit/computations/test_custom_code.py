"""Code that agents wrote through all computations: tried, fitted, judged apart from the answers, repeated."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from tests.patience import HANG_GUARD_S

from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models import evaluate, explain, predict, train
from app.computations.preparation import custom_code as computation
from app.computations.preparation import split
from app.errors import InvalidInput, Unavailable
from app.modeling.custom_code.functions import allow_code
from app.recorded_call import RecordedCall
from app.reporting.script import notebook_to_script
from app.sandbox.policy.custom_functions import define

from .test_notebook import Compute, written

FEATURE = """
import numpy as np

def transform(frame, state):
    '''Which ring a point lies in: "0", "1", ...'''
    return frame[[]].assign(ring=np.floor(np.hypot(frame["a"], frame["b"]) * 2) % 2)
"""
NEAREST = """
from sklearn.neighbors import KNeighborsClassifier

def fit(X, y):
    return KNeighborsClassifier(15, algorithm="brute").fit(X, y)

def predict_proba(X, state):
    return state.predict_proba(X)
"""


@pytest.fixture(scope="module", autouse=True)
def _where_code_may_run() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, allow_code(define):
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("session")


@pytest.fixture(scope="module")
def compute(folder: Path) -> Compute:
    def run(function: Any, inputs: Mapping[str, Path], **params: Any) -> tuple[Any, Path]:
        output = folder / f"cell-{len(list(folder.iterdir()))}"
        output.mkdir()
        return json.loads(json.dumps(function(CellWorkspace(inputs, output), **params))), output

    return run


@pytest.fixture(scope="module")
def source(folder: Path) -> Path:
    """Rings around the middle, which no single column shows."""
    rng = np.random.default_rng(0)
    made = pd.DataFrame({name: rng.normal(size=400) for name in ("a", "b", "c")})
    ring = np.floor(np.hypot(made["a"], made["b"]) * 2) % 2
    path = folder / "archive" / "data" / "table.parquet"
    path.parent.mkdir(parents=True)
    made.assign(y=np.where(ring > 0, "yes", "no")).to_parquet(path)
    return path


class Session:
    """A short session whose feature and one of whose candidates are code."""

    def __init__(self, compute: Compute, source: Path) -> None:
        self.compute = compute
        self.calls: list[RecordedCall] = []
        self._record("fetch_dataset", {"frame": "data"}, "data_retrieval", {"dataset": "table"})
        locked, self.files = compute(split.split_table, {"table": source}, problem={"target": "y"}, seed=7)
        self._record("lock_holdout", locked, "split")
        self.given = {"problem": locked["problem"], "folds": locked["folds"], "seed": 7}
        self.train = {"frame": self.files / "train.parquet"}
        problem = {"problem": locked["problem"]}
        asked = {"name": "rings", "columns": ["a", "b"], "source": FEATURE}
        features, left = compute(computation.write_features, self.train, **problem, **asked)
        assert (left / "rings.py").read_text() == FEATURE
        self._record("write_features", {**features, "frame": "rings"}, "feature_engineering")
        self.recipe = features["recipe"]
        self.own, _ = compute(
            computation.write_estimator, self.train, **problem, name="Near", source=NEAREST, recipe=self.recipe
        )
        spec = {key: self.own[key] for key in ("estimator", "hyperparameters")}
        fits = [
            self._fitted(name="Near", **spec),
            self._fitted(estimator="LightGBM", time_limit_s=1.5),
        ]
        inputs = {f"model_{place}": left / "model.skops" for place, (_, left) in enumerate(fits)}
        inputs |= {f"oof_{place}": left / "oof.parquet" for place, (_, left) in enumerate(fits)}
        self.blend, self.blended = compute(train.blend, inputs, fits=[fit for fit, _ in fits], **self.given)
        self._record("build_ensemble", self.blend, "model_evaluation")
        compared, _ = compute(evaluate.compare_models, {}, fits=[fit for fit, _ in fits])
        self._record("compare_models", {**compared, "chosen": "Ensemble"}, "model_evaluation")
        self.opened = {
            "train": self.files / "train.parquet",
            "holdout": self.files / "holdout.parquet",
            "model": self.blended / "model.skops",
        }
        self.final, _ = compute(evaluate.final_evaluation, self.opened, seed=7)
        self._record("final_evaluation", {**self.final, "model": "Ensemble"}, "final_evaluation")

    def _fitted(self, **candidate: Any) -> tuple[Any, Path]:
        fit, left = self.compute(
            train.fit_candidate, self.train, recipe=self.recipe, run=[0, 1], **self.given, **candidate
        )
        self._record(
            "train_classification_model",
            {"fits": [{key: fit[key] for key in fit if key != "schema"}], "left_out": []},
        )
        return fit, left

    def _record(self, tool: str, result: Any, node: str = "model_training", request: Any = None) -> None:
        place = len(self.calls) + 1
        self.calls.append(RecordedCall(place, node, "tool:0.0", tool, "agent", request or {}, result))


@pytest.fixture(scope="module")
def session(compute: Compute, source: Path) -> Session:
    return Session(compute, source)


def test_a_session_with_custom_code_is_evaluated_reported_and_reproduced(
    session: Session,
    compute: Compute,
    source: Path,
    folder: Path,
) -> None:
    assert session.final["metrics"]["roc_auc"]["value"] > 0.97

    notebook = written(compute, session.calls, source, folder)
    nbformat.validate(nbformat.from_dict(notebook))
    code = notebook_to_script(notebook)
    assert code.count("def transform(frame, state):") == 1  # however many fits learned from it
    beside = source.parents[1]
    (beside / "session.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "-I", "session.py"], cwd=beside, capture_output=True, text=True, timeout=HANG_GUARD_S
    )
    assert ran.returncode == 0, ran.stderr

    left = next(path.parent for path in folder.rglob("report.json"))
    report = json.loads((left / "report.json").read_text())
    [section] = [each for each in report["blocks"] if each["kind"] == "code"]
    shown = [block["source"]["name"] for block in section["elements"] if block["kind"] == "listing"]
    assert sorted(shown) == sorted([FEATURE, NEAREST])
    card = next(folder.rglob("model_card.md")).read_text()
    assert "KNeighborsClassifier(15" in card
    assert "def transform(frame, state):" in (left / "report.html").read_text()


def test_separate_predictions_of_custom_code_score_as_direct_ones(
    session: Session,
    compute: Compute,
) -> None:
    holdout = {"holdout": session.opened["holdout"]}
    _, left = compute(evaluate.questions_of_holdout, holdout, problem=session.given["problem"])
    questions = left / "questions.parquet"
    assert "y" not in pd.read_parquet(questions).columns
    _, left = compute(evaluate.answers_of_model, {"questions": questions, "model": session.opened["model"]})
    apart, _ = compute(
        evaluate.final_evaluation,
        {"train": session.opened["train"], **holdout, "answers": left / "answers.parquet"},
        seed=7,
        fit=session.blend,
    )
    assert {key: apart[key] for key in apart if key != "figures"} == {
        key: session.final[key] for key in session.final if key != "figures"
    }


def test_a_model_with_code_predicts_and_is_explained_where_code_may_run_and_nowhere_else(
    session: Session,
    compute: Compute,
) -> None:
    model = {"model": session.opened["model"]}
    rows = [{"a": 0.1, "b": 0.1, "c": 0.0}, {"a": 0.7, "b": 0.1, "c": None}, {"a": None, "b": 3.0, "c": 1.0}]
    said, _ = compute(predict.predict, model, rows=rows)
    assert [each["prediction"] for each in said["predictions"]][:2] == ["no", "yes"]
    explained, _ = compute(explain.explain_model, {**model, "holdout": session.opened["holdout"]}, seed=7)
    assert {"a", "b"} <= {each["column"] for each in explained["importances"] if each["helps"]}
    with allow_code(None), pytest.raises(Unavailable, match="only in cells for untrusted work"):  # type: ignore[arg-type]
        compute(predict.predict, model, rows=rows)


@pytest.mark.parametrize(
    ("columns", "code", "says"),
    [
        (["a", "y"], "target_is_no_input", "'y' is the target"),
        (["a", "bb"], "unknown_column", "Did you mean b"),
    ],
)
def test_a_feature_of_forbidden_columns_is_refused(
    session: Session,
    compute: Compute,
    columns: list[str],
    code: str,
    says: str,
) -> None:
    with pytest.raises(InvalidInput, match=says) as refused:
        compute(
            computation.write_features,
            session.train,
            problem=session.given["problem"],
            name="x",
            columns=columns,
            source=FEATURE,
        )
    assert refused.value.code == code


def test_code_that_takes_too_long_for_all_rows_is_refused(session: Session, compute: Compute) -> None:
    with pytest.raises(InvalidInput, match="whole columns") as refused:
        compute(
            computation.write_features,
            session.train,
            problem=session.given["problem"],
            name="x",
            columns=["a", "b"],
            source=FEATURE,
            limit_s=0.0,
        )
    assert refused.value.code == "code_too_slow"


def test_a_feature_that_fails_on_a_row_to_predict_is_named_with_its_line(
    session: Session, compute: Compute
) -> None:
    source = FEATURE.replace(
        "    return", "    if (frame['a'] == 77).any():\n        raise ValueError('no')\n    return"
    )
    made, _ = compute(
        computation.write_features,
        session.train,
        problem=session.given["problem"],
        name="moody",
        columns=["a", "b"],
        source=source,
    )
    _, left = compute(
        train.fit_candidate,
        session.train,
        recipe=made["recipe"],
        estimator="LogisticRegression",
        run=[0],
        **session.given,
    )
    rows = [{"a": 77, "b": 0.0, "c": 0.0}]
    with pytest.raises(InvalidInput, match=r"'moody' failed in `transform` on line 7: ValueError: no"):
        compute(predict.predict, {"model": left / "model.skops"}, rows=rows)
