"""Custom features: the checks of a trial, cross-fitting with the target, storage."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.errors import InvalidInput
from app.modeling.analysis.recipe_effects import extend_recipe
from app.modeling.recipe.custom_feature import CustomFeature
from app.modeling.recipe.recipe import make_recipe, parse_recipe
from app.modeling.training.custom_code_trial import FEATURE_CHECKS, try_feature
from app.modeling.training.persistence import StoredModel, deserialize_model, serialize_model

from ..frames import problem

pytestmark = pytest.mark.usefixtures("code_permitted")

RATIO = """
def transform(frame, state):
    return frame.assign(ratio=frame["a"] / frame["b"])
"""
CENTRED = """
def fit(frame):
    return {"mean": float(frame["a"].mean()), "known": frame["city"].value_counts().to_dict()}

def transform(frame, state):
    seen = frame["city"].map(state["known"])
    return frame[[]].assign(centred=frame["a"] - state["mean"], seen=seen, big=frame["a"] > 0)
"""
BY_CITY = """
def fit(frame, target):
    return target.groupby(frame["city"]).mean().to_dict()

def transform(frame, state):
    return frame[[]].assign(by_city=frame["city"].map(state))
"""
CLUSTERS = """
from sklearn.cluster import KMeans

def fit(frame):
    return KMeans(3, n_init=1, random_state=0).fit(frame[["a", "b"]].fillna(0.0).to_numpy())

def transform(frame, state):
    near = state.predict(frame[["a", "b"]].fillna(0.0).to_numpy())
    return frame[[]].assign(cluster=["c%d" % place for place in near])
"""


def rows(count: int = 120, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=count),
            "b": rng.normal(size=count) + 5,
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], count),
            "y": rng.integers(0, 2, count),
        }
    )


def operation(source: str, *columns: str, name: str = "mine") -> dict[str, Any]:
    return {"op": "python", "name": name, "columns": columns or ("a", "b", "city"), "source": source}


def run_trial(source: str, *columns: str) -> Any:
    [feature] = parse_recipe([operation(source, *columns)])
    assert isinstance(feature, CustomFeature)
    frame = rows()
    return try_feature(feature, frame, frame["y"].astype(float))


@pytest.mark.parametrize("source", [RATIO, CENTRED, BY_CITY, CLUSTERS])
def test_valid_features_pass_every_check(source: str) -> None:
    assert run_trial(source)["checks"] == list(FEATURE_CHECKS)


REFUSED = {
    "uses the mean of the rows it is given": (
        "def transform(frame, state):\n    return frame[[]].assign(x=frame['a'] - frame['a'].mean())",
        "code_peeks",
        "Learn means",
    ),
    "ranks the rows": (
        "def transform(frame, state):\n    return frame[[]].assign(x=frame['a'].rank())",
        "code_peeks",
        "other",
    ),
    "looks at the row before": (
        "def transform(frame, state):\n    return frame[[]].assign(x=frame['a'].shift().fillna(0))",
        "code_peeks",
        "order",
    ),
    "uses the place of the row": (
        "def transform(frame, state):\n    return frame[[]].assign(x=frame.index)",
        "code_peeks",
        "row",
    ),
    "reads the target": (
        "def transform(frame, state):\n    return frame[[]].assign(x=frame['y'])",
        "code_failed",
        "line 2.*'y'",
    ),
    "sorts": ("def transform(frame, state):\n    return frame.sort_values('a')", "bad_features", "order"),
    "drops rows": ("def transform(frame, state):\n    return frame[frame['a'] > 0]", "bad_features", "rows"),
    "draws": (
        "import numpy as np\nrng = np.random.default_rng()\n"
        "def transform(frame, state):\n    return frame[[]].assign(x=rng.normal(size=len(frame)))",
        "code_peeks",
        "other",
    ),
    "is no frame": ("def transform(frame, state):\n    return 3", "bad_features", "int"),
    "makes nothing": ("def transform(frame, state):\n    return frame", "bad_features", "no new column"),
    "makes too much": (
        "def transform(frame, state):\n    return type(frame)({'c%d' % i: frame['a'] for i in range(200)})",
        "bad_features",
        "200",
    ),
    "makes lists": (
        "def transform(frame, state):\n    return frame[[]].assign(x=[[1]] * len(frame))",
        "bad_features",
        "list",
    ),
    "makes other columns of other rows": (
        "def transform(frame, state):\n    return frame[[]].assign(**{('x' if len(frame) > 9 else 'z'): 1})",
        "bad_features",
        "same columns",
    ),
    "fails on what is missing": (
        "def transform(frame, state):\n    return frame[[]].assign(x=[len(c) for c in frame['city']])",
        "code_failed",
        "missing",
    ),
    "fails on what is unseen": (
        "def fit(frame):\n    return {c: 1 for c in frame['city']}\n"
        "def transform(frame, state):\n    return frame[[]].assign(x=[state[c] for c in frame['city']])",
        "code_failed",
        "unseen",
    ),
    "has no transform": ("def fit(frame):\n    return 1", "code_incomplete", "transform"),
    "returns a Series as its state": (
        "def fit(frame):\n    return frame['a']\ndef transform(frame, state):\n    return frame",
        "bad_state",
        "to_dict",
    ),
    "stores a function": (
        "from sklearn.preprocessing import FunctionTransformer\n"
        "def fit(frame):\n    return FunctionTransformer(lambda x: x)\n"
        "def transform(frame, state):\n    return frame",
        "bad_state",
        "cannot be stored",
    ),
    "learns too much": (
        "import numpy as np\ndef fit(frame):\n    return np.zeros(2_000_000)\n"
        "def transform(frame, state):\n    return frame",
        "bad_state",
        "8 MB",
    ),
    "raises": ("def transform(frame, state):\n    raise ValueError('too bad')", "code_failed", "too bad"),
    "ends the process": ("def transform(frame, state):\n    raise SystemExit(0)", "code_failed", "SystemExit"),
    "remembers between calls": (
        "seen = {}\ndef transform(frame, state):\n"
        "    for a, b in zip(frame['a'], frame['b'].shift(-1)):\n        seen.setdefault(a, b)\n"
        "    return frame[[]].assign(x=frame['a'].map(seen).fillna(0))",
        "code_peeks",
        "other",
    ),
}


@pytest.mark.parametrize("defect", REFUSED)
def test_invalid_features_are_refused_with_the_reason(defect: str) -> None:
    source, code, message = REFUSED[defect]
    with pytest.raises(InvalidInput, match=message) as refused:
        run_trial(source)
    assert refused.value.code == code


FILES = {
    "open": "open('holdout.parquet')",
    "read_parquet": "pd.read_parquet('/holdout.parquet')",
    "from import": "__import_from__",
    "np.load": "np.load('x.npy')",
    "fromfile": "np.fromfile('x')",
    "getattr": "getattr(pd, 'read_' + 'csv')('x')",
    "hidden module": "pd.io.parsers",
    "core": "pd.core.api",
    "datasets": "load_iris()",
    "write": "frame.to_csv('x')",
    "os": "os.listdir('/')",
    "dunder": "frame.__class__.__mro__",
}


@pytest.mark.parametrize("access", FILES)
def test_code_that_opens_files_or_leaves_the_language_is_refused(access: str) -> None:
    imports = {
        "from import": "from pandas import read_parquet",
        "datasets": "from sklearn.datasets import load_iris",
        "os": "import os",
    }
    head = imports.get(access, "import numpy as np\nimport pandas as pd")
    body = "1" if access == "from import" else FILES[access]
    with pytest.raises(InvalidInput, match=r"not allowed|no files|attribute|not (accessible|available)"):
        run_trial(f"{head}\ndef transform(frame, state):\n    x = {body}\n    return frame.assign(x=1)")


def test_training_rows_get_features_that_were_fitted_without_them() -> None:
    """In a column of names that never repeat, the target must not leak."""
    frame = rows(200).assign(city=[f"c{number}" for number in range(200)])
    recipe = make_recipe(problem(frame, "y"), [operation(BY_CITY, "city")])
    training = recipe.fit_transform(frame.drop(columns="y"), frame["y"].to_numpy())
    assert training["by_city"].isna().all()
    later = recipe.transform(frame.drop(columns="y"))
    assert (later["by_city"] == frame["y"]).all()


def test_a_stored_recipe_with_code_makes_the_same_features() -> None:
    frame = rows()
    recipe = make_recipe(problem(frame, "y"), [operation(CENTRED), operation(CLUSTERS, name="near")])
    recipe.fit_transform(frame.drop(columns="y"), frame["y"].to_numpy())
    loaded: Any = deserialize_model(serialize_model(StoredModel(recipe, {}))).pipeline  # type: ignore[arg-type]  # a part of one
    later = rows(30, seed=1).drop(columns="y")
    pd.testing.assert_frame_equal(loaded.transform(later), recipe.transform(later))
    assert "def transform" in json.dumps(loaded.operations)


def test_the_facts_of_custom_features_name_the_new_columns() -> None:
    frame = rows()
    extended, facts = extend_recipe(frame, problem(frame, "y"), [], [operation(CENTRED)])
    assert facts["new_columns"] == ["centred", "seen", "big"]
    assert extended["big"].isin([0.0, 1.0]).all()
    assert facts["effects"] == ["Ran the custom code `mine` on a, b, city."]
