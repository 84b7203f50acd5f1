"""Every family on every kind of target: fit with validation rows, settings, storage."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import skops.io

from app.modeling.estimators.encoder import Encoder
from app.modeling.estimators.families.catboost import CatBoost, catboost
from app.modeling.estimators.families.learner import (
    Learner,
    TooManyRows,
    Validation,
    best_common_position,
    make_loss,
)
from app.modeling.estimators.families.lightgbm import LightGBM
from app.modeling.estimators.families.linear import Logistic, RidgePath
from app.modeling.estimators.families.log_target import LogTargetModel
from app.modeling.estimators.families.network import Network
from app.modeling.estimators.families.xgboost import XGBoost
from app.modeling.training.persistence import TRUSTED

from ...frames import houses, people

FAMILIES: dict[str, Any] = {
    "LightGBM": LightGBM,
    "XGBoost": XGBoost,
    "Network": Network,
    **({"CatBoost": CatBoost} if catboost is not None else {}),
}
STYLE = {"Network": "network", "CatBoost": "native", "linear": "linear"}


def numbers(rows: int = 240, classes: int = 0, style: str = "tree") -> tuple[Any, np.ndarray]:
    """Rows of people or houses as a family takes them, and their labels."""
    frame = people(rows) if classes else houses(rows)
    y = frame.pop("left" if classes else "price").to_numpy()
    if classes > 2:
        y = y + (frame["age"].fillna(0).to_numpy() > 60)
    return Encoder(style).fit_transform(frame), y


def halves(X: Any, y: np.ndarray) -> tuple[Any, np.ndarray, Validation]:
    half = len(y) // 2
    if hasattr(X, "iloc"):
        return X.iloc[:half], y[:half], Validation(X.iloc[half:], y[half:])
    return X[:half], y[:half], Validation(X[half:], y[half:])


def make_learner(family: str, classes: int) -> Learner:
    if family == "linear":
        return Logistic(classes) if classes else RidgePath()
    learner: Learner = FAMILIES[family](classes)
    return learner


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("family", [*FAMILIES, "linear"])
def test_a_family_beats_the_mean_and_survives_storage(family: str, classes: int) -> None:
    X, y, validation = halves(*numbers(classes=classes, style=STYLE.get(family, "tree")))
    learner = make_learner(family, classes).fit(X, y, validation)
    predictions = learner.predict_proba(validation.X) if classes else learner.predict(validation.X)
    frequencies = np.bincount(y, minlength=classes) / len(y) if classes else np.array(y.mean())
    baseline = np.broadcast_to(frequencies, predictions.shape)
    loss = make_loss(classes, "mean")
    assert loss(validation.y, predictions) < 0.8 * loss(validation.y, baseline)
    if classes:
        assert predictions.shape == (len(validation.y), classes)
        assert predictions.sum(axis=1) == pytest.approx(np.ones(len(validation.y)), abs=1e-5)
    loaded = skops.io.loads(skops.io.dumps(learner), trusted=list(TRUSTED))
    loaded_predictions = loaded.predict_proba(validation.X) if classes else loaded.predict(validation.X)
    assert np.array_equal(loaded_predictions, predictions)


@pytest.mark.parametrize("family", [*FAMILIES, "linear"])
def test_chosen_settings_reproduce_the_model_without_validation_rows(family: str) -> None:
    X, y, validation = halves(*numbers(classes=2, style=STYLE.get(family, "tree")))
    validated = make_learner(family, 2).fit(X, y, validation)
    reproduced = make_learner(family, 2).set_params(**validated.settings_).fit(X, y)
    assert reproduced.predict_proba(validation.X) == pytest.approx(
        validated.predict_proba(validation.X), abs=1e-6
    )


@pytest.mark.parametrize("family", [*FAMILIES, "linear"])
def test_the_same_seed_gives_the_same_model(family: str) -> None:
    X, y, validation = halves(*numbers(style=STYLE.get(family, "tree")))
    first, second = (make_learner(family, 0).fit(X, y, validation).predict(validation.X) for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("family", ["LightGBM", "XGBoost", "Network"])
def test_a_class_without_training_rows_has_a_column_of_low_probabilities(family: str) -> None:
    X, y = numbers(classes=2, style=STYLE.get(family, "tree"))
    learner = FAMILIES[family](3).fit(X, np.where(y == 1, 2, 0))
    probabilities = learner.predict_proba(X)
    assert probabilities.shape == (len(y), 3)
    assert probabilities[:, 1].max() < 0.2


@pytest.mark.parametrize(
    "learner",
    [LightGBM(aim="quantile:0.9"), XGBoost(aim="quantile:0.9"), RidgePath("quantile:0.9")],
)
def test_a_predicted_quantile_lies_above_its_share_of_rows(learner: Learner) -> None:
    style = "linear" if isinstance(learner, RidgePath) else "tree"
    X, y, validation = halves(*numbers(600, style=style))
    below = (validation.y <= learner.fit(X, y, validation).predict(validation.X)).mean()
    assert 0.65 < below < 0.99


def test_a_long_tail_is_predicted_better_on_the_logarithm() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.exp(3 + 1.5 * X[:, 0] + 0.1 * rng.normal(size=600))
    X, y, validation = halves(X, y)
    plain = RidgePath().fit(X, y, validation).predict(validation.X)
    on_log = LogTargetModel(RidgePath()).fit(X, y, validation).predict(validation.X)
    assert np.abs(on_log - validation.y).mean() < 0.3 * np.abs(plain - validation.y).mean()


def test_one_position_is_chosen_for_all_folds_by_their_mean_loss() -> None:
    early = np.array([3.0, 1.0, 2.0])
    late = np.array([3.0, 2.0, 1.0, 0.5, 0.1])
    assert best_common_position([early]) == 1
    assert best_common_position([early, late]) == 4
    assert best_common_position([np.array([1.0, 5.0]), late]) == 0


@pytest.mark.parametrize("classes", [0, 2])
def test_a_stored_linear_model_holds_one_solution_of_its_path(classes: int) -> None:
    X, y, validation = halves(*numbers(classes=classes, style="linear"))
    learner = make_learner("linear", classes).fit(X, y, validation)
    assert len(learner.curve_) > 1
    fixed = make_learner("linear", classes).set_params(**learner.settings_).fit(X, y)
    size, size_of_one = (len(skops.io.dumps(model)) for model in (learner, fixed))
    assert size < size_of_one + 1_000  # the loss along the path


def test_threads_of_a_wrapped_learner_are_set_by_its_parameter_names() -> None:
    on_log = LogTargetModel(LightGBM(n_jobs=1))
    names = [name for name in on_log.get_params() if name.rpartition("__")[2] == "n_jobs"]
    on_log.set_params(**dict.fromkeys(names, 2))
    assert names == ["inner__n_jobs"]
    assert on_log.inner.get_params()["n_jobs"] == 2


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "Network"])
def test_contributions_of_features_sum_to_the_prediction(family: str, classes: int) -> None:
    X, y = numbers(classes=classes, style=STYLE.get(family, "tree"))
    learner: Any = FAMILIES[family](classes, n_estimators=20, learning_rate=0.1).fit(X, y)
    total = learner.contributions(X).sum(axis=-1)
    if classes == 0:
        np.testing.assert_allclose(total, learner.predict(X), rtol=1e-4)
    elif classes == 2:
        np.testing.assert_allclose(1 / (1 + np.exp(-total)), learner.predict_proba(X)[:, 1], rtol=1e-4)
    else:
        shares = np.exp(total) / np.exp(total).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(shares, learner.predict_proba(X), rtol=1e-4)


@pytest.mark.parametrize("family", ["LightGBM", "XGBoost"])
def test_boosting_without_time_asks_for_fewer_rows_or_finishes_on_those_that_it_has(family: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3)).astype("float32")
    y = X[:, 0] + rng.normal(scale=0.1, size=8000)
    with pytest.raises(TooManyRows) as excess:
        FAMILIES[family](0).fit(X, y, Validation(X[:500], y[:500], 0.0, 0.0, may_reduce=True))
    assert 0 < excess.value.share < 1
    learner = FAMILIES[family](0).fit(X, y, Validation(X[:500], y[:500], 0.0, 0.0))
    assert len(learner.curve_) >= learner.rounds_ >= 1


def test_fixed_rounds_without_time_take_fewer_rows_or_are_marked_as_cut() -> None:
    X, y, validation = halves(*numbers(2600))
    late = replace(validation, max_seconds=0.0)
    with pytest.raises(TooManyRows):
        LightGBM(0, n_estimators=50).fit(X, y, replace(late, may_reduce=True))
    cut, finished = (LightGBM(0, n_estimators=50).fit(X, y, limits) for limits in (late, validation))
    assert (cut.is_cut_, finished.is_cut_) == (True, False)
    assert (cut.rounds_, finished.rounds_) == (1, 50)
