"""Thresholds optimise the metric or the costs on the rows that they are chosen on."""

import numpy as np
import pytest
from sklearn import metrics

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.scoring.postprocess import postprocess
from app.modeling.scoring.scores import Predicted
from app.modeling.scoring.thresholds import THRESHOLD_AIMS, choose_threshold, cross_fit_thresholds


def make_predictions(rows: int = 400, base: float = -1.0) -> Predicted:
    rng = np.random.default_rng(0)
    odds = rng.normal(size=rows) * 1.5 + base
    share = 1 / (1 + np.exp(-odds))
    truth = (rng.random(rows) < share).astype(float)
    return Predicted(truth, np.column_stack([1 - share, share]))


SKLEARN_METRICS = {
    "f1": metrics.f1_score,
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "cohen_kappa": metrics.cohen_kappa_score,
}


@pytest.mark.parametrize("metric", THRESHOLD_AIMS)
def test_the_threshold_is_close_to_the_best_by_the_metric(metric: str) -> None:
    predicted = make_predictions()
    threshold = choose_threshold(predicted, metric)
    score = SKLEARN_METRICS[metric]
    share = predicted.positive_share
    best = max(score(predicted.truth, share >= cut) for cut in share)
    assert score(predicted.truth, share >= threshold["value"]) >= best - 0.01
    assert threshold["aim"] == metric


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss", "precision", "recall"])
def test_a_metric_that_needs_no_threshold_aims_at_f1(metric: str) -> None:
    assert choose_threshold(make_predictions(), metric) == choose_threshold(make_predictions(), "f1")


def test_a_rare_class_gets_a_threshold_below_one_in_twenty() -> None:
    rng = np.random.default_rng(0)
    share = np.where(rng.random(20_000) < 0.01, 0.03, 0.001)
    truth = (rng.random(20_000) < share * 10).astype(float)
    threshold = choose_threshold(Predicted(truth, np.column_stack([1 - share, share])))
    assert 0.001 < threshold["value"] < 0.03


def test_the_threshold_minimises_the_costs() -> None:
    predicted = make_predictions(5000)
    costly_misses = choose_threshold(predicted, costs=(1, 9))
    costly_alarms = choose_threshold(predicted, costs=(9, 1))
    assert costly_misses["value"] == pytest.approx(0.1, abs=0.05)
    assert costly_alarms["value"] == pytest.approx(0.9, abs=0.07)
    assert "a missed positive 9" in costly_misses["text"]


def rare_predictions(rows: int, seed: int) -> Predicted:
    """Exact probabilities of a class that half a percent of the rows have."""
    rng = np.random.default_rng(seed)
    share = 1 / (1 + np.exp(5.4 - 1.3 * rng.normal(size=rows)))
    return Predicted((rng.random(rows) < share).astype(float), np.column_stack([1 - share, share]))


def mean_cost(predicted: Predicted, threshold: float, costs: tuple[float, float]) -> float:
    is_called, is_positive = predicted.positive_share >= threshold, predicted.is_positive
    alarms, misses = (is_called & ~is_positive).sum(), (~is_called & is_positive).sum()
    return float(costs[0] * alarms + costs[1] * misses) / len(is_called)


def test_costly_misses_of_a_rare_class_cost_no_more_on_new_rows_than_they_must() -> None:
    costs, new_rows = (5.0, 200.0), rare_predictions(100_000, 1_000)
    thresholds = [choose_threshold(rare_predictions(2_000, seed), costs=costs)["value"] for seed in range(12)]
    best = mean_cost(new_rows, 5 / 205, costs)
    assert np.mean([mean_cost(new_rows, value, costs) for value in thresholds]) < 1.06 * best


def test_probabilities_that_are_too_high_get_the_threshold_that_is_cheapest() -> None:
    predicted = make_predictions(5000)
    share = np.sqrt(predicted.positive_share)
    distorted = Predicted(predicted.truth, np.column_stack([1 - share, share]))
    assert choose_threshold(distorted, costs=(1, 9))["value"] == pytest.approx(np.sqrt(0.1), abs=0.08)


def test_costs_of_the_problem_set_the_threshold_of_the_model() -> None:
    predicted = make_predictions(5000)
    folds = np.arange(5000) % 5
    problem = Problem("y", ProblemKind.CLASSIFICATION, "roc_auc", classes=("no", "yes"), costs=(1.0, 9.0))
    fitted = postprocess(predicted.truth, predicted.output, folds, problem)
    assert fitted["threshold"] == pytest.approx(0.1, abs=0.05)
    assert "a missed positive 9" in fitted["threshold_text"]


def test_equal_probabilities_lie_above_the_threshold() -> None:
    flat = Predicted(np.array([0.0, 1.0] * 20), np.full((40, 2), 0.5))
    assert choose_threshold(flat)["value"] < 0.5


def test_no_row_is_positive_where_the_rare_class_is_never_the_likelier_one() -> None:
    truth = (np.arange(100) < 5).astype("float64")
    flat = Predicted(truth, np.tile([0.95, 0.05], (100, 1)))
    assert choose_threshold(flat, "accuracy")["value"] > 0.05
    assert choose_threshold(flat, "f1")["value"] < 0.05


@pytest.mark.parametrize("count", [3, 1])
def test_out_of_fold_rows_are_chosen_by_the_threshold_of_a_rare_class(count: int) -> None:
    problem = Problem("y", ProblemKind.CLASSIFICATION, "f1", classes=("no", "yes"))
    given = make_predictions(3000, base=-4.0)
    judged = cross_fit_thresholds(problem, given.truth, given.output, np.arange(3000) % count)
    assert judged.row_thresholds is not None
    assert judged.row_thresholds.max() < 0.5
    assert metrics.f1_score(given.truth, judged.choice) > metrics.f1_score(given.truth, given.choice)


def test_labels_of_a_fold_do_not_move_its_own_threshold() -> None:
    problem = Problem("y", ProblemKind.CLASSIFICATION, "f1", classes=("no", "yes"))
    given, folds = make_predictions(3000), np.arange(3000) % 3
    judged = cross_fit_thresholds(problem, given.truth, given.output, folds)
    turned = np.where(folds == 0, 1 - given.truth, given.truth)
    again = cross_fit_thresholds(problem, turned, given.output, folds)
    assert judged.row_thresholds is not None
    assert again.row_thresholds is not None
    same = judged.row_thresholds == again.row_thresholds
    assert same[folds == 0].all()
    assert not same[folds != 0].any()


def test_rows_of_a_single_class_keep_the_threshold_of_the_costs() -> None:
    problem = Problem("y", ProblemKind.CLASSIFICATION, "cost", classes=("no", "yes"), costs=(1.0, 9.0))
    judged = cross_fit_thresholds(problem, np.zeros(20), np.tile([0.8, 0.2], (20, 1)), np.arange(20) % 2)
    assert judged.choice.all()
