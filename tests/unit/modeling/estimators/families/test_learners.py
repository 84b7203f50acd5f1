"""Every family on every kind of target: it learns, stops by itself, and comes back the same."""

from typing import Any

import numpy as np
import pytest
import skops.io

from app.modeling.estimators.encoder import Encoder
from app.modeling.estimators.families.catboost import CatBoost, catboost
from app.modeling.estimators.families.learner import Learner, Validation, best_common_position, make_loss
from app.modeling.estimators.families.lightgbm import LightGBM
from app.modeling.estimators.families.linear import Logistic, RidgePath
from app.modeling.estimators.families.network import Network
from app.modeling.estimators.families.on_log import OnLog
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
    middle = len(y) // 2
    if hasattr(X, "iloc"):
        return X.iloc[:middle], y[:middle], Validation(X.iloc[middle:], y[middle:])
    return X[:middle], y[:middle], Validation(X[middle:], y[middle:])


def made(family: str, classes: int) -> Learner:
    if family == "linear":
        return Logistic(classes) if classes else RidgePath()
    learner: Learner = FAMILIES[family](classes)
    return learner


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("family", [*FAMILIES, "linear"])
def test_a_family_learns_every_kind_of_target_and_is_stored_as_it_is(family: str, classes: int) -> None:
    X, y, watch = halves(*numbers(classes=classes, style=STYLE.get(family, "tree")))
    learner = made(family, classes).fit(X, y, watch)
    said = learner.predict_proba(watch.X) if classes else learner.predict(watch.X)
    naive = np.bincount(y, minlength=classes) / len(y) if classes else np.array(y.mean())
    guess = np.broadcast_to(naive, said.shape)
    loss = make_loss(classes, "mean")
    assert loss(watch.y, said) < 0.8 * loss(watch.y, guess)
    if classes:
        assert said.shape == (len(watch.y), classes)
        assert said.sum(axis=1) == pytest.approx(np.ones(len(watch.y)), abs=1e-5)
    again = skops.io.loads(skops.io.dumps(learner), trusted=list(TRUSTED))
    same = again.predict_proba(watch.X) if classes else again.predict(watch.X)
    assert np.array_equal(same, said)


@pytest.mark.parametrize("family", [*FAMILIES, "linear"])
def test_the_settings_that_watching_found_lead_to_the_same_model(family: str) -> None:
    X, y, watch = halves(*numbers(classes=2, style=STYLE.get(family, "tree")))
    watched = made(family, 2).fit(X, y, watch)
    told = made(family, 2).set_params(**watched.settings_).fit(X, y)
    assert told.predict_proba(watch.X) == pytest.approx(watched.predict_proba(watch.X), abs=1e-6)


@pytest.mark.parametrize("family", [*FAMILIES, "linear"])
def test_the_same_seed_gives_the_same_model(family: str) -> None:
    X, y, watch = halves(*numbers(style=STYLE.get(family, "tree")))
    one, other = (made(family, 0).fit(X, y, watch).predict(watch.X) for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("family", ["LightGBM", "XGBoost", "Network"])
def test_a_class_that_does_not_teach_is_given_no_chance_but_has_its_column(family: str) -> None:
    X, y = numbers(classes=2, style=STYLE.get(family, "tree"))
    learner = FAMILIES[family](3).fit(X, np.where(y == 1, 2, 0))
    said = learner.predict_proba(X)
    assert said.shape == (len(y), 3)
    assert said[:, 1].max() < 0.2


@pytest.mark.parametrize(
    "learner",
    [LightGBM(aim="quantile:0.9"), XGBoost(aim="quantile:0.9"), RidgePath("quantile:0.9")],
)
def test_a_wanted_quantile_lies_above_that_share_of_rows(learner: Learner) -> None:
    style = "linear" if isinstance(learner, RidgePath) else "tree"
    X, y, watch = halves(*numbers(600, style=style))
    below = (watch.y <= learner.fit(X, y, watch).predict(watch.X)).mean()
    assert 0.65 < below < 0.99


def test_a_long_tail_is_learned_on_its_logarithm_and_said_on_its_own_scale() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.exp(3 + 1.5 * X[:, 0] + 0.1 * rng.normal(size=600))
    X, y, watch = halves(X, y)
    plain = RidgePath().fit(X, y, watch).predict(watch.X)
    logged = OnLog(RidgePath()).fit(X, y, watch).predict(watch.X)
    assert np.abs(logged - watch.y).mean() < 0.3 * np.abs(plain - watch.y).mean()


def test_one_position_is_chosen_for_all_folds_by_their_mean_loss() -> None:
    early = np.array([3.0, 1.0, 2.0])
    late = np.array([3.0, 2.0, 1.0, 0.5, 0.1])
    assert best_common_position([early]) == 1
    assert best_common_position([early, late]) == 4
    assert best_common_position([np.array([1.0, 5.0]), late]) == 0


def test_what_learns_a_logarithm_takes_the_threads_of_its_cell_by_the_names_that_it_gives() -> None:
    logged = OnLog(LightGBM(n_jobs=1))
    names = [name for name in logged.get_params() if name.rpartition("__")[2] == "n_jobs"]
    logged.set_params(**dict.fromkeys(names, 2))
    assert names == ["inner__n_jobs"]
    assert logged.inner.get_params()["n_jobs"] == 2


@pytest.mark.parametrize("classes", [0, 2, 3])
@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "Network"])
def test_what_features_add_to_a_boosted_answer_adds_up_to_it(family: str, classes: int) -> None:
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
