"""Target means of codes: where they are added, cross-fitting, contributions and storage."""

from dataclasses import replace

import numpy as np
import pytest
import skops.io

from app.modeling.estimators.families import target_means
from app.modeling.estimators.families.learner import Validation
from app.modeling.estimators.families.lightgbm import LightGBM
from app.modeling.estimators.families.xgboost import XGBoost
from app.modeling.training.persistence import TRUSTED


def rated(rows: int = 2000, codes: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A column of codes in arbitrary order, an amount, and noise."""
    rng = np.random.default_rng(seed)
    worth = np.random.default_rng(99).normal(size=codes)
    code = rng.integers(0, codes, rows)
    amount = rng.integers(0, 300, rows)
    y = worth[code] + amount / 300 + 0.3 * rng.normal(size=rows)
    return np.column_stack([code, amount, rng.normal(size=rows)]).astype("float32"), y


def test_only_codes_in_arbitrary_order_get_means() -> None:
    X, y = rated()
    means, wide = target_means.learn_means(X, y, 0, seed=0)
    assert [column["place"] for column in means] == [0]
    assert wide.shape == (2000, 4)
    assert target_means.learn_means(X, np.random.default_rng(1).permutation(y), 0, seed=0)[0] == []


def test_means_of_a_row_do_not_depend_on_its_own_target() -> None:
    X, y = rated()
    _, wide = target_means.learn_means(X, y, 0, seed=0)
    changed = y.copy()
    changed[7] += 3
    _, again = target_means.learn_means(X, changed, 0, seed=0)
    assert again[7, 3] == wide[7, 3]
    assert (again[:, 3] != wide[:, 3]).any()


@pytest.mark.parametrize("family", [LightGBM, XGBoost])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_means_lower_the_loss_and_contribute_to_their_column(family: type, classes: int) -> None:
    X, y = rated()
    later, truth = rated(seed=1)
    if classes:
        edges = np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1])
        y, truth = np.searchsorted(edges, y), np.searchsorted(edges, truth)
    learner = family(classes, n_estimators=30, learning_rate=0.2).fit(X, y)
    plain = family(classes, n_estimators=30, learning_rate=0.2, codes=False).fit(X, y)
    assert _loss(learner, later, truth, classes) < 0.9 * _loss(plain, later, truth, classes)
    assert learner.contributions(later).shape == plain.contributions(later).shape
    data = skops.io.dumps(learner)
    assert set(skops.io.get_untrusted_types(data=data)) <= set(TRUSTED)
    loaded = skops.io.loads(data, trusted=list(TRUSTED))
    predictions = learner.predict_proba(later) if classes else learner.predict(later)
    assert np.array_equal(predictions, loaded.predict_proba(later) if classes else loaded.predict(later))


def test_codes_get_no_means_if_validation_rows_have_new_codes() -> None:
    X, y = rated()
    later, truth = rated(seed=1)
    validation = Validation(later, truth)
    same_codes = LightGBM().fit(X, y, validation)
    assert same_codes.settings_["codes"] is True
    new_codes = LightGBM().fit(X, y, replace(validation, X=later + np.float32([[1000, 0, 0]])))
    assert new_codes.settings_["codes"] is False
    assert LightGBM(**new_codes.settings_).fit(X, y).means_ == []


def _loss(learner: LightGBM | XGBoost, X: np.ndarray, y: np.ndarray, classes: int) -> float:
    if not classes:
        return float(((learner.predict(X) - y) ** 2).mean())
    return float(-np.log(learner.predict_proba(X)[np.arange(len(y)), y]).mean())
