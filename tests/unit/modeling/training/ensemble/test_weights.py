"""Weights are fair shares: by what helps the average, and judged on rows that had no say in them."""

import numpy as np
import pytest

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.training.ensemble.weights import (
    UNWEIGHTED,
    CandidatePredictions,
    choose_weights,
    predict_cross_fitted,
)

PRICE = Problem("price", ProblemKind.REGRESSION, "rmse")
CHURN = Problem("left", ProblemKind.CLASSIFICATION, "roc_auc", classes=(0, 1))


def judged(rows: int = 600, noise: tuple[float, ...] = (1.0, 1.0, 6.0), seed: int = 0) -> CandidatePredictions:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=rows)
    return CandidatePredictions(truth, np.stack([truth + rng.normal(scale=each, size=rows) for each in noise]))


def test_weights_sum_to_one_and_favour_candidates_that_improve_the_average() -> None:
    weights = choose_weights(judged(), PRICE)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert weights[:2] == pytest.approx([0.5, 0.5], abs=0.15)
    assert weights[2] < 0.1


def test_the_same_seed_gives_the_same_weights() -> None:
    assert np.array_equal(choose_weights(judged(), PRICE, seed=4), choose_weights(judged(), PRICE, seed=4))


def test_a_single_candidate_gets_all_the_weight() -> None:
    assert choose_weights(judged(noise=(1.0,)), PRICE).tolist() == [1.0]


def test_blending_noise_models_scores_no_better_than_chance() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300).astype("float64")
    share = rng.random((12, 300))
    noise = CandidatePredictions(truth, np.stack([1 - share, share], axis=-1))
    parts = rng.integers(0, 5, 300)
    said = predict_cross_fitted(noise, parts, CHURN)
    positive, negative = said[truth == 1, 1], said[truth == 0, 1]
    area = (positive[:, None] > negative[None, :]).mean()
    assert abs(area - 0.5) < 0.1
    assert said.sum(axis=1) == pytest.approx(np.ones(300))


def test_unweighted_rows_are_predicted_with_the_weights_of_the_other_rows() -> None:
    rng = np.random.default_rng(2)
    truth = rng.normal(size=400)
    early, late = np.arange(400) < 200, np.arange(400) >= 200
    good_early = truth + rng.normal(size=400) * np.where(early, 0.1, 5.0)
    good_late = truth + rng.normal(size=400) * np.where(late, 0.1, 5.0)
    parts = np.where(early, UNWEIGHTED, np.arange(400) // 40)
    said = predict_cross_fitted(CandidatePredictions(truth, np.stack([good_early, good_late])), parts, PRICE)
    assert np.abs(said - truth)[late].mean() < 0.5
    assert np.abs(said - truth)[early].mean() > 2
