"""Predictions with their truth, and the function that computes each metric."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import sklearn.metrics
from scipy.special import xlogy
from scipy.stats import rankdata

from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.metrics import METRICS, QUANTILE_LEVELS, Metric
from app.modeling.problem.problem import Problem
from app.modeling.table.json_values import round_significant


@dataclass(frozen=True)
class Predicted:
    """Predictions of rows with known labels.

    `truth`: labels as `make_labels` returns them.
    `output`: class probabilities (rows, classes), or numbers (rows,).
    `threshold`: the positive class's probability from which it is chosen; binary problems only.
    `costs`: of a false alarm and of a missed positive.
    `row_thresholds`: the threshold of each row (rows,), if they differ; it replaces `threshold`.
    """

    truth: np.ndarray
    output: np.ndarray
    positive: int = 1
    threshold: float = 0.5
    costs: tuple[float, float] = (1.0, 1.0)
    row_thresholds: np.ndarray | None = None

    @classmethod
    def from_problem(
        cls, problem: Problem, truth: np.ndarray, output: np.ndarray, threshold: float | None = None
    ) -> Self:
        """Predictions with the problem's costs, and with the threshold that they imply if `threshold` is
        None."""
        threshold = problem.default_threshold if threshold is None else threshold
        return cls(truth, output, problem.positive_index, threshold, problem.costs or (1.0, 1.0))

    @property
    def positive_share(self) -> np.ndarray:
        """Probability of the positive class of a binary problem."""
        share: np.ndarray = self.output[:, self.positive]
        return share

    @property
    def is_positive(self) -> np.ndarray:
        positive: np.ndarray = (self.truth == self.positive).astype(int)
        return positive

    @property
    def choice(self) -> np.ndarray:
        """The predicted class of each row (rows,), as its position in `Problem.classes`."""
        if self.output.shape[1] == 2:
            is_above = self.positive_share >= (
                self.threshold if self.row_thresholds is None else self.row_thresholds
            )
            return np.where(is_above, self.positive, 1 - self.positive)
        most_likely: np.ndarray = self.output.argmax(axis=1)
        return most_likely

    def take(self, rows: np.ndarray) -> "Predicted":
        thresholds = None if self.row_thresholds is None else self.row_thresholds[rows]
        return replace(self, truth=self.truth[rows], output=self.output[rows], row_thresholds=thresholds)


def _area(is_positive: np.ndarray, score: np.ndarray) -> float:
    """ROC AUC by ranks (ties count half). Equals scikit-learn's, and is fast enough for a bootstrap."""
    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    if not positives or not negatives:
        return float("nan")
    ranks = rankdata(score)[is_positive.astype(bool)].sum()
    return float((ranks - positives * (positives + 1) / 2) / (positives * negatives))


def _roc_auc(predicted: Predicted) -> float:
    """One class against the rest; the mean over the classes present where there are more than two."""
    if predicted.output.shape[1] == 2:
        return _area(predicted.is_positive, predicted.positive_share)
    # A class without rows has no area, and must not make the mean undefined.
    present = np.unique(predicted.truth).astype(int)
    areas = [_area(predicted.truth == position, predicted.output[:, position]) for position in present]
    return float(np.mean(areas))


def _log_loss(predicted: Predicted) -> float:
    rows = np.arange(len(predicted.truth))
    true_class_shares = predicted.output[rows, predicted.truth.astype(int)]
    # A probability of 0 for the true class would make the mean infinite.
    return float(-np.log(np.clip(true_class_shares, 1e-15, 1.0)).mean())


def _balanced_accuracy(predicted: Predicted) -> float:
    truth = predicted.truth.astype(int)
    rows = np.bincount(truth)
    # Classes without rows are left out: they have no recall.
    hits = np.bincount(truth, weights=predicted.choice == truth)
    return float((hits[rows > 0] / rows[rows > 0]).mean())


def _class_counts(predicted: Predicted, position: int) -> tuple[int, int, int]:
    """True positives, false positives, false negatives of one class."""
    is_predicted, is_true = predicted.choice == position, predicted.truth == position
    true_positives = int((is_predicted & is_true).sum())
    return true_positives, int((is_predicted & ~is_true).sum()), int((~is_predicted & is_true).sum())


def _per_class(ratio: Callable[[int, int, int], float]) -> Callable[[Predicted], float]:
    """Apply a ratio to the positive class of a binary problem, or average it over the classes."""

    def compute(predicted: Predicted) -> float:
        if predicted.output.shape[1] == 2:
            return ratio(*_class_counts(predicted, predicted.positive))
        positions = np.unique(predicted.truth).astype(int)
        return float(np.mean([ratio(*_class_counts(predicted, int(position))) for position in positions]))

    return compute


def _share(numerator: float, denominator: float) -> float:
    # As scikit-learn with `zero_division=0`: a class that is never chosen has no precision.
    return numerator / denominator if denominator else 0.0


def _average_precision(predicted: Predicted) -> float:
    """Mean precision over the steps of recall, equal scores taken together."""
    positives = predicted.is_positive.sum()
    if not positives:
        return float("nan")
    order = np.argsort(-predicted.positive_share, kind="stable")
    score, hits = predicted.positive_share[order], predicted.is_positive[order].cumsum()
    # One step for each distinct score: the order among equal ones is arbitrary.
    last = np.append(np.flatnonzero(np.diff(score)), len(score) - 1)
    precision = hits[last] / (last + 1)
    return float((np.diff(hits[last], prepend=0) * precision).sum() / positives)


def _brier(predicted: Predicted) -> float:
    return float(np.mean((predicted.positive_share - predicted.is_positive) ** 2))


def _error(predicted: Predicted) -> np.ndarray:
    error: np.ndarray = predicted.output - predicted.truth
    return error


def _r2(predicted: Predicted) -> float:
    spread = float(((predicted.truth - predicted.truth.mean()) ** 2).sum())
    return 1 - float((_error(predicted) ** 2).sum()) / spread if spread else float("nan")


def _mape(predicted: Predicted) -> float:
    """Defined only where no label is 0."""
    if (predicted.truth == 0).any():
        return float("nan")
    return float(np.mean(np.abs(_error(predicted) / predicted.truth)))


def _confusion(predicted: Predicted) -> np.ndarray:
    """Counts (classes, classes): rows are the truth, columns the chosen class."""
    classes = predicted.output.shape[1]
    # One number per cell of the table: a single count over rows.
    cells = predicted.truth.astype(int) * classes + predicted.choice
    return np.bincount(cells, minlength=classes**2).reshape(classes, classes).astype("float64")


def _mcc(predicted: Predicted) -> float:
    counts = _confusion(predicted)
    true_counts, predicted_counts, rows = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    # The formula for several classes (Gorodkin 2004); for two it is the usual one.
    spread = np.sqrt(rows**2 - true_counts @ true_counts) * np.sqrt(
        rows**2 - predicted_counts @ predicted_counts
    )
    return float((counts.trace() * rows - true_counts @ predicted_counts) / spread) if spread else 0.0


def _cohen_kappa(predicted: Predicted) -> float:
    counts = _confusion(predicted)
    rows = counts.sum()
    chance = float(counts.sum(axis=1) @ counts.sum(axis=0)) / rows**2
    return float((counts.trace() / rows - chance) / (1 - chance)) if chance < 1 else float("nan")


def top_3_hits(predicted: Predicted) -> np.ndarray:
    """Return 1 for each row whose class is among the three most likely (rows,).

    Classes of one probability share the places that are left to them: of ten without any, not each is a hit.
    """
    true_class_shares = predicted.output[np.arange(len(predicted.truth)), predicted.truth.astype(int)]
    likelier = (predicted.output > true_class_shares[:, None]).sum(axis=1)
    equally_likely = (predicted.output == true_class_shares[:, None]).sum(axis=1)
    hits: np.ndarray = np.clip((3 - likelier) / equally_likely, 0, 1)
    return hits


def _cost(predicted: Predicted) -> float:
    """Mean cost of a row's choice."""
    _, false_alarms, misses = _class_counts(predicted, predicted.positive)
    return (predicted.costs[0] * false_alarms + predicted.costs[1] * misses) / len(predicted.truth)


def _rmsle(predicted: Predicted) -> float:
    """Defined only where no label is negative; a negative prediction counts as 0."""
    if (predicted.truth < 0).any():
        return float("nan")
    return float(np.sqrt(np.mean((np.log1p(np.maximum(predicted.output, 0)) - np.log1p(predicted.truth)) ** 2)))


def _smape(predicted: Predicted) -> float:
    """From 0 to 2; a row where truth and prediction are both 0 has no error."""
    size = np.abs(predicted.output) + np.abs(predicted.truth)
    return float(np.mean(2 * np.abs(_error(predicted)) / np.where(size > 0, size, 1.0)))


def _poisson_deviance(predicted: Predicted) -> float:
    """Defined only where no label is negative; a prediction of 0 counts as a very small rate."""
    if (predicted.truth < 0).any():
        return float("nan")
    rate = np.maximum(predicted.output, 1e-6)
    return float(2 * np.mean(xlogy(predicted.truth, predicted.truth / rate) - predicted.truth + rate))


def _pinball(level: float) -> Callable[[Predicted], float]:
    return lambda p: float(np.mean(np.maximum(-level * _error(p), (1 - level) * _error(p))))


_OWN_SCORERS: dict[str, Callable[[Predicted], float]] = {
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "accuracy": lambda p: float(np.mean(p.choice == p.truth)),
    "balanced_accuracy": _balanced_accuracy,
    "f1": _per_class(lambda tp, fp, fn: _share(2 * tp, 2 * tp + fp + fn)),
    "precision": _per_class(lambda tp, fp, fn: _share(tp, tp + fp)),
    "recall": _per_class(lambda tp, fp, fn: _share(tp, tp + fn)),
    "log_loss": _log_loss,
    "brier": _brier,
    "rmse": lambda p: float(np.sqrt(np.mean(_error(p) ** 2))),
    "mae": lambda p: float(np.mean(np.abs(_error(p)))),
    "mape": _mape,
    "r2": _r2,
    "mcc": _mcc,
    "cohen_kappa": _cohen_kappa,
    "top_3_accuracy": lambda p: float(top_3_hits(p).mean()),
    "cost": _cost,
    "rmsle": _rmsle,
    "smape": _smape,
    "poisson_deviance": _poisson_deviance,
    **{name: _pinball(level) for name, level in QUANTILE_LEVELS.items()},
}
"""Metrics computed here and not by scikit-learn: a bootstrap calls them a thousand times, and these check no
input."""


def _library_scorer(metric: Metric) -> Callable[[Predicted], float]:
    """Compute a metric by scikit-learn: from choices, the positive share, class probabilities or numbers."""
    compute = getattr(sklearn.metrics, metric.scorer)
    if metric.kind is ProblemKind.REGRESSION:
        return lambda p: float(compute(p.truth, p.output))
    if metric.by_choice:
        return lambda p: float(compute(p.truth, p.choice))
    if metric.binary_only:
        return lambda p: float(compute(p.is_positive, p.positive_share))
    return lambda p: float(compute(p.truth, p.output))


SCORERS: dict[str, Callable[[Predicted], float]] = {
    name: _library_scorer(metric) if metric.scorer else _OWN_SCORERS[name] for name, metric in METRICS.items()
}
"""Metric -> its value; nan where these rows do not define it, for example one class only."""


def applicable_metrics(problem: Problem) -> list[Metric]:
    """Metrics that are reported for a problem, in the order of the table."""
    return [
        metric
        for metric in METRICS.values()
        if metric.kind is problem.kind
        and (problem.is_binary or not metric.binary_only)
        and (metric.name == problem.metric or not metric.on_request)
    ]


def score_all(predicted: Predicted, problem: Problem) -> dict[str, float | None]:
    """Compute every metric of the problem; None where one is not defined for these rows."""
    return {
        metric.name: round_significant(SCORERS[metric.name](predicted))
        for metric in applicable_metrics(problem)
    }


def rank_scores(metric: str, scores: Mapping[str, float | None]) -> list[str]:
    """Names from best to worst; those without a score last."""
    sign = -1 if METRICS[metric].greater_is_better else 1
    # By name at last, so that ties rank alike in every run.
    return sorted(scores, key=lambda name: (scores[name] is None, sign * (scores[name] or 0.0), name))
