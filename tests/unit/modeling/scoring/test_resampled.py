"""A resample scores the same whether its rows are taken one by one or counted."""

from dataclasses import replace

import numpy as np
import pytest

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.metrics import METRICS
from app.modeling.scoring import resampled
from app.modeling.scoring.resampled import STATISTICS, make_statistic
from app.modeling.scoring.scores import SCORERS, Predicted

CLASSES = [name for name, metric in METRICS.items() if metric.kind is ProblemKind.CLASSIFICATION]
NUMBERS = [name for name, metric in METRICS.items() if metric.kind is ProblemKind.REGRESSION]


def said(classes: int, rows: int, ties: bool = False) -> Predicted:
    rng = np.random.default_rng(classes + rows)
    output = rng.dirichlet(np.ones(classes), rows)
    if ties:
        output = np.round(output, 1)
        output[:, -1] = 1 - output[:, :-1].sum(axis=1)
    return Predicted(rng.integers(0, classes, rows).astype("float64"), output, 1, 0.4, (1.0, 3.0))


def drawn(rows: int, count: int = 8) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(1)
    samples = [rng.integers(0, rows, rows) for _ in range(count)]
    return np.array([np.bincount(one, minlength=rows) for one in samples]).T.astype("float32"), samples


def both(metric: str, predicted: Predicted) -> tuple[np.ndarray, list[float]]:
    counts, samples = drawn(len(predicted.truth))
    expected = [SCORERS[metric](predicted.take(sample)) for sample in samples]
    return make_statistic(metric, predicted)(counts), expected


def test_every_metric_can_be_resampled() -> None:
    assert set(STATISTICS) == set(SCORERS)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("rows", [12, 300])
@pytest.mark.parametrize("metric", CLASSES)
def test_two_classes_are_scored_alike(metric: str, rows: int, ties: bool) -> None:
    counted, taken = both(metric, said(2, rows, ties))
    assert counted == pytest.approx(taken, rel=2e-5, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("rows", [12, 300])
@pytest.mark.parametrize("metric", [name for name in CLASSES if not METRICS[name].binary_only])
def test_many_classes_are_scored_alike(metric: str, rows: int) -> None:
    counted, taken = both(metric, said(4, rows))
    assert counted == pytest.approx(taken, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize("metric", NUMBERS)
def test_numbers_are_scored_alike(metric: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.gamma(2.0, 50.0, 300) + 1
    counted, taken = both(metric, Predicted(truth, truth * rng.uniform(0.5, 1.5, 300)))
    assert counted == pytest.approx(taken, rel=2e-5)


def test_many_rows_are_ordered_in_steps_that_change_nothing_that_matters() -> None:
    predicted = said(2, 20_000)
    for metric in ("roc_auc", "average_precision"):
        counted, taken = both(metric, predicted)
        assert counted == pytest.approx(taken, abs=2e-4)
    number = Predicted(np.zeros(20_000), np.random.default_rng(0).normal(size=20_000))
    counted, taken = both("median_ae", number)
    assert counted == pytest.approx(taken, abs=1e-3)


def test_areas_of_many_classes_move_by_the_influence_of_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    predicted = said(4, 3000)
    exact, _ = both("roc_auc", predicted)
    monkeypatch.setattr(resampled, "MAX_RANKED_CELLS", 0)
    moved, _ = both("roc_auc", predicted)
    assert moved == pytest.approx(exact, abs=6e-4)


def test_a_metric_that_the_rows_do_not_define_has_no_score() -> None:
    one_class = replace(said(2, 30), truth=np.zeros(30))
    assert np.isnan(make_statistic("roc_auc", one_class)(drawn(30)[0])).all()
