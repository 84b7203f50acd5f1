"""Scores of the delivered model on the other side of a condition."""

import numpy as np
import pytest
from lightgbm import LGBMRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from app.modeling.facts.carried_score import carry_over
from app.modeling.facts.computation_facts import Interval

HEADLINE: Interval = {"value": 2.0, "low": 1.8, "high": 2.2}


def test_the_step_of_the_plain_model_is_carried_over() -> None:
    expected = carry_over(HEADLINE, "rmse", 3.0, 1.5, {"low": 1.4, "high": 1.6})
    assert expected is not None
    assert expected["value"] == pytest.approx(1.0)
    # The error of the step, a fifteenth of the score, is joined with a tenth of the headline.
    assert expected["low"] == pytest.approx(np.exp(-np.hypot(0.105, 0.067)), rel=0.01)


def test_a_share_stays_within_its_range() -> None:
    headline: Interval = {"value": 0.9, "low": 0.85, "high": 0.94}
    expected = carry_over(headline, "roc_auc", 0.8, 0.98, None)
    assert expected is not None
    assert 0.98 < float(expected["value"] or 0) < 1
    assert float(expected["high"] or 1) < 1


@pytest.mark.parametrize(
    ("headline", "other"), [({"value": 0.9, "low": None, "high": None}, 0.8), (HEADLINE, 1.0)]
)
def test_without_bounds_or_at_the_end_of_a_range_nothing_is_expected(headline: Interval, other: float) -> None:
    assert carry_over({**headline, "value": 0.9}, "roc_auc", 0.7, other, None) is None


def rmse(truth: np.ndarray, prediction: np.ndarray) -> float:
    return float(np.sqrt(np.mean((truth - prediction) ** 2)))


def make_visits(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs with the code of the person, target and person: of 60 people 10 rows each."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(60), 10)
    inputs = rng.normal(size=(600, 4))
    target = inputs @ [1.5, 1.0, 0.5, 0.0] + 0.7 * rng.normal(size=60)[person] + 0.7 * rng.normal(size=600)
    return np.column_stack([inputs, person]), target, person


def with_people(inputs: np.ndarray) -> np.ndarray:
    return np.column_stack([inputs[:, :4], inputs[:, 4:] == np.arange(60)])


def test_the_expected_score_is_nearer_to_the_truth_than_that_of_plain_boosting() -> None:
    plain = LGBMRegressor(n_estimators=60, verbose=-1, n_jobs=1)
    misses: dict[str, list[float]] = {"measured": [], "expected": []}
    for seed in range(12):
        inputs, target, person = make_visits(seed)
        is_new = np.arange(600) % 10 == 9
        train, truth = ~is_new, target[is_new]
        holds = rmse(
            target[train],
            cross_val_predict(plain, inputs[train], target[train], cv=KFold(3, shuffle=True, random_state=0)),
        )
        otherwise = rmse(
            target[train],
            cross_val_predict(plain, inputs[train], target[train], cv=GroupKFold(3), groups=person[train]),
        )
        held_out = train & (person % 5 == 0)
        judged = RidgeCV(np.logspace(-1, 2, 7)).fit(
            with_people(inputs[train & ~held_out]), target[train & ~held_out]
        )
        score = rmse(target[held_out], judged.predict(with_people(inputs[held_out])))
        delivered = RidgeCV(np.logspace(-1, 2, 7)).fit(with_people(inputs[train]), target[train])
        reached = rmse(truth, delivered.predict(with_people(inputs[is_new])))
        headline: Interval = {"value": score, "low": 0.9 * score, "high": 1.1 * score}
        expected = carry_over(headline, "rmse", otherwise, holds, None)
        assert expected is not None
        misses["measured"].append(np.log(holds / reached))
        misses["expected"].append(np.log(float(expected["value"] or 0) / reached))
    assert np.mean(misses["measured"]) > 0.1
    assert abs(np.mean(misses["expected"])) < 0.7 * np.mean(misses["measured"])
