"""Columns of many codes tell trees what the target is where a code is the same."""

from dataclasses import replace

import numpy as np
import pytest
import skops.io

from app.modeling.estimators.families import code_means
from app.modeling.estimators.families.learner import Validation
from app.modeling.estimators.families.lightgbm import LightGBM
from app.modeling.estimators.families.xgboost import XGBoost
from app.modeling.training.persistence import TRUSTED


def rated(rows: int = 2000, codes: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Codes whose order says nothing of what each is worth, beside an amount whose order says all."""
    rng = np.random.default_rng(seed)
    worth = np.random.default_rng(99).normal(size=codes)
    code = rng.integers(0, codes, rows)
    amount = rng.integers(0, 300, rows)
    y = worth[code] + amount / 300 + 0.3 * rng.normal(size=rows)
    return np.column_stack([code, amount, rng.normal(size=rows)]).astype("float32"), y


def test_only_codes_whose_order_says_little_are_widened() -> None:
    X, y = rated()
    means, wide = code_means.learn_means(X, y, 0, seed=0)
    assert [one["place"] for one in means] == [0]
    assert wide.shape == (2000, 4)
    assert code_means.learn_means(X, np.random.default_rng(1).permutation(y), 0, seed=0)[0] == []


def test_no_row_is_told_of_its_own_target() -> None:
    X, y = rated()
    _, wide = code_means.learn_means(X, y, 0, seed=0)
    changed = y.copy()
    changed[7] += 3
    _, again = code_means.learn_means(X, changed, 0, seed=0)
    assert again[7, 3] == wide[7, 3]
    assert (again[:, 3] != wide[:, 3]).any()


@pytest.mark.parametrize("family", [LightGBM, XGBoost])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_trees_learn_more_of_codes_and_give_their_share_to_the_column(family: type, classes: int) -> None:
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
    again = skops.io.loads(data, trusted=list(TRUSTED))
    said = learner.predict_proba(later) if classes else learner.predict(later)
    assert np.array_equal(said, again.predict_proba(later) if classes else again.predict(later))


def test_codes_that_are_new_each_time_are_left_alone_and_stay_so() -> None:
    X, y = rated()
    later, truth = rated(seed=1)
    watch = Validation(later, truth)
    known = LightGBM().fit(X, y, watch)
    assert known.settings_["codes"] is True
    strange = LightGBM().fit(X, y, replace(watch, X=later + np.float32([[1000, 0, 0]])))
    assert strange.settings_["codes"] is False
    assert LightGBM(**strange.settings_).fit(X, y).means_ == []


def _loss(learner: LightGBM | XGBoost, X: np.ndarray, y: np.ndarray, classes: int) -> float:
    if not classes:
        return float(((learner.predict(X) - y) ** 2).mean())
    return float(-np.log(learner.predict_proba(X)[np.arange(len(y)), y]).mean())
