"""A stored model says the same in another process, and nothing else is loaded from a file."""

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from app.errors import InvalidInput
from app.modeling.recipe.recipe import select_inputs
from app.modeling.training.fitting import CandidateSpec, fit, predict_all
from app.modeling.training.persistence import StoredModel, deserialize_model, serialize_model
from app.modeling.training.stored_types import RENAMED, TRUSTED
from app.modeling.training.training_set import TrainingSet

from ..frames import houses, people, problem, series

FRESH = """
import sys, json
from pathlib import Path
import pandas as pd
from app.modeling.training.persistence import deserialize_model
from app.modeling.training.fitting import predict_all
from app.modeling.problem.problem import Problem
said = {}
for folder in sorted(Path(sys.argv[1]).iterdir()):
    stored = deserialize_model((folder / "model.skops").read_bytes())
    rows = pd.read_parquet(folder / "rows.parquet")
    predictions = predict_all(stored.pipeline, rows, Problem.from_json(stored.metadata["problem"]))
    said[folder.name] = predictions.tolist()
print(json.dumps(said))
"""
MIXED = [{"op": "mark_missing", "columns": ["age"]}, {"op": "group_rare", "columns": ["plan"]}]
PAST = [
    {"op": "lags", "columns": ["sales"], "periods": [1, 7]},
    {"op": "parse_dates", "columns": ["day"], "keep": True},
]


MODELS = (
    (people(), "left", "baseline", {}, []),
    (people(), "left", "LogisticRegression", {}, MIXED),
    (people(), "left", "RandomForest", {"n_estimators": 20}, MIXED),
    (people(), "left", "XGBoost", {}, MIXED),
    (people(), "plan", "GradientBoosting", {"max_iter": 20}, []),
    (houses(), "price", "Ridge", {}, []),
    (houses(), "price", "ExtraTrees", {"n_estimators": 20}, []),
    (houses(), "price", "XGBoost", {}, []),
    (series(), "sales", "GradientBoosting", {"max_iter": 20}, PAST),
)


def test_a_stored_model_predicts_equally_in_a_new_process(tmp_path: Path) -> None:
    expected = {}
    for number, (frame, target, estimator, hyperparameters, recipe) in enumerate(MODELS):
        asked = problem(frame, target, **({"horizon": 1} if target == "sales" else {}))
        learned, later = frame.iloc[:-20], select_inputs(frame, asked).iloc[-20:]
        model = fit(TrainingSet.from_frame(learned, asked), CandidateSpec(estimator, hyperparameters, recipe))
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "model.skops").write_bytes(serialize_model(StoredModel(model, {"problem": asked.to_json()})))
        later.to_parquet(folder / "rows.parquet")
        expected[str(number)] = predict_all(model, later, asked)
    command = [sys.executable, "-c", FRESH, str(tmp_path)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert said.keys() == expected.keys()
    for name, output in expected.items():
        np.testing.assert_allclose(np.array(said[name]), output)


def test_a_file_with_another_type_is_refused_by_name() -> None:
    class Stranger(LogisticRegression):
        pass

    Stranger.__module__ = "stranger"
    Stranger.__qualname__ = "Stranger"
    sys.modules["stranger"] = type(sys)("stranger")
    sys.modules["stranger"].Stranger = Stranger  # type: ignore[attr-defined]
    data = skops.io.dumps({"format": 1, "pipeline": Stranger(), "metadata": "{}"})
    with pytest.raises(InvalidInput, match=r"stranger\.Stranger") as caught:
        deserialize_model(data)
    assert caught.value.code == "untrusted_model"


@pytest.mark.parametrize("data", [b"", b"no zip", skops.io.dumps({"format": 1}), skops.io.dumps([1])])
def test_a_file_that_is_not_a_model_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        deserialize_model(data)
    assert caught.value.code == "bad_model"


def test_the_list_of_trusted_types_is_explicit() -> None:
    assert all(name.split(".")[0] in ("app", "sklearn", "xgboost") for name in TRUSTED)


def under_old_names(data: bytes) -> bytes:
    """The same model as a version before the renames would have stored it."""
    old_names = {present: old for old, present in RENAMED.items()}

    def renamed(node: Any) -> Any:
        if isinstance(node, list):
            return [renamed(item) for item in node]
        if not isinstance(node, dict):
            return node
        fields = {key: renamed(value) for key, value in node.items()}
        old = old_names.get(f"{node.get('__module__')}.{node.get('__class__')}")
        if old:
            fields["__module__"], _, fields["__class__"] = old.rpartition(".")
        return fields

    with ZipFile(BytesIO(data)) as stored:
        members = {name: stored.read(name) for name in stored.namelist()}
    members["schema.json"] = json.dumps(renamed(json.loads(members["schema.json"]))).encode()
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_a_model_stored_under_old_type_names_predicts_the_same() -> None:
    request = problem(people(), "left")
    model = fit(TrainingSet.from_frame(people(), request), CandidateSpec("LogisticRegression", {}, MIXED))
    stored = serialize_model(StoredModel(model, {}))
    old = under_old_names(stored)
    assert set(skops.io.get_untrusted_types(data=old)) & set(RENAMED)

    rows = select_inputs(people(), request)
    assert np.array_equal(
        predict_all(deserialize_model(old).pipeline, rows, request),
        predict_all(deserialize_model(stored).pipeline, rows, request),
    )


def test_old_names_lead_to_present_types() -> None:
    ours = {name for name in TRUSTED if name.startswith("app.")}
    assert set(RENAMED.values()) <= ours
    assert not set(RENAMED) & ours
