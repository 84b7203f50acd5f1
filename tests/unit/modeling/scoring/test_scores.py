"""Metrics equal those of scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.metrics import METRICS, QUANTILE_LEVELS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import SCORERS, Predicted, rank_scores, score_all
from app.modeling.scoring.thresholds import choose_threshold

BINARY = Problem("y", ProblemKind.CLASSIFICATION, "roc_auc", classes=("no", "yes"), positive_class="yes")
THREE = Problem("y", ProblemKind.CLASSIFICATION, "log_loss", classes=("a", "b", "c"))
NUMBER = Problem("y", ProblemKind.REGRESSION, "rmse")


def binary(rows: int, seed: int, ties: bool) -> Predicted:
    rng = np.random.default_rng(seed)
    truth = np.append(rng.integers(0, 2, rows), [0.0, 1.0])
    share = np.clip(0.3 * truth + 0.7 * rng.random(rows + 2), 0.01, 0.99)
    share = share.round(1).clip(0.01, 0.99) if ties else share
    return Predicted(truth, np.column_stack([1 - share, share]))


@given(rows=st.integers(3, 200), seed=st.integers(0, 999), ties=st.booleans())
@settings(max_examples=60, deadline=None)
def test_binary_metrics_agree_with_scikit_learn(rows: int, seed: int, ties: bool) -> None:
    predicted = binary(rows, seed, ties)
    truth, share, choice = predicted.truth, predicted.positive_share, predicted.choice
    expected = {
        "roc_auc": metrics.roc_auc_score(truth, share),
        "average_precision": metrics.average_precision_score(truth, share),
        "brier": metrics.brier_score_loss(truth, share),
        "log_loss": metrics.log_loss(truth, predicted.output),
        "accuracy": metrics.accuracy_score(truth, choice),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, choice),
        "f1": metrics.f1_score(truth, choice, zero_division=0),
        "precision": metrics.precision_score(truth, choice, zero_division=0),
        "recall": metrics.recall_score(truth, choice, zero_division=0),
    }
    assert score_all(predicted, BINARY) == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_metrics_of_three_classes_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300).astype("float64")
    output = rng.dirichlet([1, 1, 1], 300)
    predicted = Predicted(truth, output)
    scores = score_all(predicted, THREE)
    assert scores["roc_auc"] == pytest.approx(metrics.roc_auc_score(truth, output, multi_class="ovr"), rel=1e-5)
    assert scores["f1"] == pytest.approx(metrics.f1_score(truth, predicted.choice, average="macro"), rel=1e-5)
    assert scores["log_loss"] == pytest.approx(metrics.log_loss(truth, output), rel=1e-5)
    assert "brier" not in scores


def test_metrics_of_numbers_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(5, 1, 100)
    predictions = truth + rng.normal(size=100)
    scores = score_all(Predicted(truth, predictions), NUMBER)
    assert scores["rmse"] == pytest.approx(metrics.root_mean_squared_error(truth, predictions), rel=1e-5)
    assert scores["r2"] == pytest.approx(metrics.r2_score(truth, predictions), rel=1e-5)
    assert scores["mape"] == pytest.approx(metrics.mean_absolute_percentage_error(truth, predictions), rel=1e-5)


@pytest.mark.parametrize("problem", [BINARY, THREE])
def test_metrics_on_request_agree_with_scikit_learn(problem: Problem) -> None:
    rng = np.random.default_rng(0)
    classes = len(problem.classes or ())
    predicted = Predicted(rng.integers(0, classes, 300).astype("float64"), rng.dirichlet([1] * classes, 300))
    scores = {name: SCORERS[name](predicted) for name in ("mcc", "cohen_kappa", "top_3_accuracy")}
    assert scores["mcc"] == pytest.approx(metrics.matthews_corrcoef(predicted.truth, predicted.choice))
    assert scores["cohen_kappa"] == pytest.approx(metrics.cohen_kappa_score(predicted.truth, predicted.choice))
    assert scores["top_3_accuracy"] == 1.0


def test_top_3_accuracy_of_many_classes_agrees_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth, output = rng.integers(0, 8, 300), rng.dirichlet([1] * 8, 300)
    expected = metrics.top_k_accuracy_score(truth, output, k=3)
    assert SCORERS["top_3_accuracy"](Predicted(truth.astype("float64"), output)) == expected


def test_metrics_of_counts_and_quantiles_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    truth, predictions = rng.poisson(2.0, 300).astype("float64"), rng.gamma(2.0, 1.0, 300)
    predicted = Predicted(truth, predictions)
    assert SCORERS["poisson_deviance"](predicted) == pytest.approx(
        metrics.mean_poisson_deviance(truth, predictions)
    )
    assert SCORERS["rmsle"](predicted) == pytest.approx(metrics.root_mean_squared_log_error(truth, predictions))
    for name, level in QUANTILE_LEVELS.items():
        expected = metrics.mean_pinball_loss(truth, predictions, alpha=level)
        assert SCORERS[name](predicted) == pytest.approx(expected)
    assert SCORERS["smape"](Predicted(np.array([0.0, 2.0]), np.array([0.0, 1.0]))) == pytest.approx(1 / 3)


def test_the_cost_metric_uses_the_costs_of_the_problem() -> None:
    problem = replace(BINARY, metric="cost", costs=(1.0, 9.0))
    probabilities = np.array([0.2, 0.05, 0.2, 0.05])
    predicted = Predicted.from_problem(
        problem, np.array([0.0, 0.0, 1.0, 1.0]), np.column_stack([1 - probabilities, probabilities])
    )
    assert predicted.threshold == pytest.approx(0.1)
    assert score_all(predicted, problem)["cost"] == pytest.approx((1 + 9) / 4)


def test_every_metric_of_the_table_has_a_scorer() -> None:
    assert list(SCORERS) == list(METRICS)


def test_an_undefined_metric_is_none() -> None:
    one_class = Predicted(np.zeros(5), np.full((5, 2), 0.5))
    assert score_all(one_class, BINARY)["roc_auc"] is None
    assert score_all(Predicted(np.array([0.0, 1.0]), np.ones(2)), NUMBER)["mape"] is None


def test_ranking_follows_the_direction_of_the_metric() -> None:
    scores = {"a": 0.7, "b": 0.9, "c": None}
    assert rank_scores("roc_auc", scores) == ["b", "a", "c"]
    assert rank_scores("rmse", scores) == ["a", "b", "c"]


def test_the_threshold_of_a_rare_class_is_lower_than_a_half() -> None:
    rng = np.random.default_rng(0)
    share = rng.beta(1, 8, 2000)
    truth = (rng.random(2000) < share).astype("float64")
    assert choose_threshold(Predicted(truth, np.column_stack([1 - share, share])))["value"] < 0.35


def test_classes_without_any_probability_share_the_places_that_are_left() -> None:
    output = np.zeros((10, 10))
    output[:, :2] = 0.5
    truth = np.arange(10).astype("float64")
    assert SCORERS["top_3_accuracy"](Predicted(truth, output)) == pytest.approx(0.3)
