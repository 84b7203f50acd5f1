"""Metrics from counts of drawn rows equal metrics of the resampled rows."""

from dataclasses import replace

import numpy as np
import pytest

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.metrics import METRICS
from app.modeling.scoring import bootstrap_metrics
from app.modeling.scoring.bootstrap_metrics import STATISTICS, make_statistic, score_one_by_one
from app.modeling.scoring.scores import SCORERS, Predicted

CLASSES = [name for name, metric in METRICS.items() if metric.kind is ProblemKind.CLASSIFICATION]
NUMBERS = [name for name, metric in METRICS.items() if metric.kind is ProblemKind.REGRESSION]


def make_predictions(classes: int, rows: int, ties: bool = False) -> Predicted:
    rng = np.random.default_rng(classes + rows)
    output = rng.dirichlet(np.ones(classes), rows)
    if ties:
        output = np.round(output, 1)
        output[:, -1] = 1 - output[:, :-1].sum(axis=1)
    return Predicted(rng.integers(0, classes, rows).astype("float64"), output, 1, 0.4, (1.0, 3.0))


def draw_samples(rows: int, count: int = 8) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(1)
    samples = [rng.integers(0, rows, rows) for _ in range(count)]
    return np.array([np.bincount(sample, minlength=rows) for sample in samples]).T.astype("float32"), samples


def score_both_ways(metric: str, predicted: Predicted) -> tuple[np.ndarray, list[float]]:
    counts, samples = draw_samples(len(predicted.truth))
    expected = [SCORERS[metric](predicted.take(sample)) for sample in samples]
    return make_statistic(metric, predicted)(counts), expected


def test_every_metric_can_be_resampled() -> None:
    assert set(STATISTICS) == set(SCORERS)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("rows", [12, 300])
@pytest.mark.parametrize("metric", CLASSES)
def test_two_classes_score_the_same_from_counts(metric: str, rows: int, ties: bool) -> None:
    from_counts, expected = score_both_ways(metric, make_predictions(2, rows, ties))
    assert from_counts == pytest.approx(expected, rel=2e-5, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("rows", [12, 300])
@pytest.mark.parametrize("metric", [name for name in CLASSES if not METRICS[name].binary_only])
def test_many_classes_score_the_same_from_counts(metric: str, rows: int) -> None:
    from_counts, expected = score_both_ways(metric, make_predictions(4, rows))
    assert from_counts == pytest.approx(expected, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize("metric", NUMBERS)
def test_numbers_score_the_same_from_counts(metric: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.gamma(2.0, 50.0, 300) + 1
    from_counts, expected = score_both_ways(metric, Predicted(truth, truth * rng.uniform(0.5, 1.5, 300)))
    assert from_counts == pytest.approx(expected, rel=2e-5)


def test_binned_ranks_of_many_rows_are_accurate() -> None:
    predicted = make_predictions(2, 20_000)
    for metric in ("roc_auc", "average_precision"):
        from_counts, expected = score_both_ways(metric, predicted)
        assert from_counts == pytest.approx(expected, abs=2e-4)
    number = Predicted(np.zeros(20_000), np.random.default_rng(0).normal(size=20_000))
    from_counts, expected = score_both_ways("median_ae", number)
    assert from_counts == pytest.approx(expected, abs=1e-3)


def test_areas_by_influence_approximate_exact_areas(monkeypatch: pytest.MonkeyPatch) -> None:
    predicted = make_predictions(4, 3000)
    exact, _ = score_both_ways("roc_auc", predicted)
    monkeypatch.setattr(bootstrap_metrics, "MAX_RANKED_CELLS", 0)
    approximated, _ = score_both_ways("roc_auc", predicted)
    assert approximated == pytest.approx(exact, abs=6e-4)


def test_an_undefined_metric_is_nan_for_every_resample() -> None:
    one_class = replace(make_predictions(2, 30), truth=np.zeros(30))
    assert np.isnan(make_statistic("roc_auc", one_class)(draw_samples(30)[0])).all()


@pytest.mark.parametrize("metric", ["log_loss", "cohen_kappa", "brier"])
def test_resamples_scored_one_by_one_equal_resamples_scored_from_counts(metric: str) -> None:
    predicted = make_predictions(2, 60)
    counts, _ = draw_samples(60)
    assert score_one_by_one(metric)(predicted)(counts) == pytest.approx(STATISTICS[metric](predicted)(counts))
