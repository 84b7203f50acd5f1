"""A threshold serves the metric or the costs, on the rows it was chosen on."""

import numpy as np
import pytest
from sklearn import metrics

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.postprocess import postprocess
from app.modeling.scoring.scores import Predicted
from app.modeling.scoring.thresholds import THRESHOLD_AIMS, choose_threshold


def said(rows: int = 400, base: float = -1.0) -> Predicted:
    rng = np.random.default_rng(0)
    odds = rng.normal(size=rows) * 1.5 + base
    share = 1 / (1 + np.exp(-odds))
    truth = (rng.random(rows) < share).astype(float)
    return Predicted(truth, np.column_stack([1 - share, share]))


JUDGES = {
    "f1": metrics.f1_score,
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "cohen_kappa": metrics.cohen_kappa_score,
}


@pytest.mark.parametrize("metric", THRESHOLD_AIMS)
def test_no_threshold_does_much_better_by_the_metric(metric: str) -> None:
    predicted = said()
    chosen = choose_threshold(predicted, metric)
    judge = JUDGES[metric]
    share = predicted.positive_share
    best = max(judge(predicted.truth, share >= at) for at in share)
    assert judge(predicted.truth, share >= chosen["value"]) >= best - 0.01
    assert chosen["aim"] == metric


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss", "precision", "recall"])
def test_a_metric_that_needs_no_threshold_aims_at_f1(metric: str) -> None:
    assert choose_threshold(said(), metric) == choose_threshold(said(), "f1")


def test_a_rare_class_gets_a_threshold_below_one_in_twenty() -> None:
    rng = np.random.default_rng(0)
    share = np.where(rng.random(20_000) < 0.01, 0.03, 0.001)
    truth = (rng.random(20_000) < share * 10).astype(float)
    chosen = choose_threshold(Predicted(truth, np.column_stack([1 - share, share])))
    assert 0.001 < chosen["value"] < 0.03


def test_costs_move_the_threshold_to_where_they_are_lowest() -> None:
    predicted = said(5000)
    dear_misses = choose_threshold(predicted, costs=(1, 9))
    dear_alarms = choose_threshold(predicted, costs=(9, 1))
    assert dear_misses["value"] == pytest.approx(0.1, abs=0.05)
    assert dear_alarms["value"] == pytest.approx(0.9, abs=0.07)
    assert "a missed positive 9" in dear_misses["text"]


def test_what_a_user_says_that_mistakes_cost_reaches_the_model() -> None:
    predicted = said(5000)
    parts = np.arange(5000) % 5
    asked = Problem("y", ProblemKind.CLASSIFICATION, "roc_auc", classes=("no", "yes"), costs=(1.0, 9.0))
    made = postprocess(predicted.truth, predicted.output, parts, asked)
    assert made["threshold"] == pytest.approx(0.1, abs=0.05)
    assert "a missed positive 9" in made["threshold_text"]


def test_one_probability_for_all_gives_a_threshold_that_takes_them() -> None:
    flat = Predicted(np.array([0.0, 1.0] * 20), np.full((40, 2), 0.5))
    assert choose_threshold(flat)["value"] < 0.5
