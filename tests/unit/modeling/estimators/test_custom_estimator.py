"""Custom estimators: the checks of a trial, then folds and storage as for any candidate."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.training.cross_validation import cross_validate, final_model
from app.modeling.training.custom_code_trial import ESTIMATOR_CHECKS, try_estimator
from app.modeling.training.fitting import CandidateSpec, predict_all
from app.modeling.training.persistence import StoredModel, deserialize_model, serialize_model
from app.modeling.training.training_set import TrainingSet

from ..frames import problem

pytestmark = pytest.mark.usefixtures("code_permitted")

NEAREST = """
import numpy as np

def fit(X, y, classes):
    return {"X": X, "y": y, "classes": classes}

def predict_proba(X, state):
    far = ((X[:, None, :] - state["X"][None, :, :]) ** 2).sum(axis=2)
    near = np.argsort(far, axis=1, kind="stable")[:, :15]
    votes = state["y"][near]
    return np.column_stack([(votes == c).mean(axis=1) + 0.01 for c in range(state["classes"])])
"""
LEAST_SQUARES = """
import numpy as np

def fit(X, y):
    return np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)[0]

def predict(X, state):
    return X @ state[:-1] + state[-1]
"""
LIBRARY = """
from sklearn.naive_bayes import GaussianNB

def fit(X, y):
    return GaussianNB().fit(X, y)

def predict_proba(X, state):
    return state.predict_proba(X)
"""


def rings(count: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    points = pd.DataFrame(rng.normal(size=(count, 2)), columns=["a", "b"])
    return points.assign(y=np.where(points["a"] ** 2 + points["b"] ** 2 > 1.4, "out", "in"))


def plane(count: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    points = pd.DataFrame(rng.normal(size=(count, 3)), columns=["a", "b", "c"])
    return points.assign(y=points["a"] * 3 - points["b"] + rng.normal(size=count) * 0.1)


def spec(source: str, style: str = "network") -> CandidateSpec:
    return CandidateSpec("Written", {"source": source, "style": style, "name": "mine"})


@pytest.mark.parametrize(
    ("source", "frame"), [(NEAREST, rings()), (LIBRARY, rings()), (LEAST_SQUARES, plane())]
)
def test_a_valid_estimator_passes_every_check(source: str, frame: pd.DataFrame) -> None:
    facts = try_estimator(frame, problem(frame, "y"), spec(source))
    assert facts["checks"] == list(ESTIMATOR_CHECKS)
    assert facts["score"] is not None


def test_a_custom_estimator_is_scored_on_folds_and_stored() -> None:
    frame = rings()
    target_problem = problem(frame, "y")
    data = TrainingSet.from_frame(frame, target_problem, FoldPlan(SplitKind.STRATIFIED, 3))
    validated = cross_validate(data, spec(NEAREST))
    scores = validated.summary()["roc_auc"]
    assert (scores["mean"] or 0.0) > 0.9
    model = final_model(data, spec(NEAREST), validated)
    inputs = data.inputs
    loaded: Any = deserialize_model(serialize_model(StoredModel(model, {}))).pipeline
    np.testing.assert_allclose(
        predict_all(loaded, inputs, target_problem), predict_all(model, inputs, target_problem)
    )


REFUSED = {
    "no probabilities": (
        "def fit(X, y):\n    return 1\ndef predict(X, state):\n    return X[:, 0]",
        "predict_proba",
    ),
    "wrong shape": ("def fit(X, y):\n    return 1\ndef predict_proba(X, state):\n    return X[:, 0]", "shape"),
    "missing": (
        "def fit(X, y):\n    return 1\ndef predict_proba(X, state):\n    return X[:, :2] * float('nan')",
        "missing",
    ),
    "negative": (
        "def fit(X, y):\n    return 1\ndef predict_proba(X, state):\n    return X[:, :2] * 0 - 1",
        "negative",
    ),
    "looks at other rows": (
        "def fit(X, y):\n    return 1\n"
        "def predict_proba(X, state):\n    r = X[:, :1].argsort(axis=0) + 1.0\n    r = r / len(X)\n"
        "    import numpy as np\n    return np.hstack([r, 2 - r])",
        "other",
    ),
    "differs between fits": (
        "import numpy as np\ndef fit(X, y):\n    return float(np.random.default_rng().random())\n"
        "def predict_proba(X, state):\n    return np.full((len(X), 2), [state + 0.1, 1.0])",
        "again",
    ),
    "fails": ("def fit(X, y):\n    return X.nothing\ndef predict_proba(X, state):\n    return X", "line 2"),
}


@pytest.mark.parametrize("defect", REFUSED)
def test_an_invalid_estimator_is_refused_with_the_reason(defect: str) -> None:
    source, message = REFUSED[defect]
    frame = rings()
    with pytest.raises(InvalidInput, match=message):
        try_estimator(frame, problem(frame, "y"), spec(source))
