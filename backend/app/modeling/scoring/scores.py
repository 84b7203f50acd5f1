"""How good predictions are: every metric in one table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import xlogy
from scipy.stats import rankdata

from app.modeling.problem.problem import QUANTILES, Problem, ProblemKind
from app.modeling.table.json_values import round_significant


@dataclass(frozen=True)
class Predicted:
    """What a model says of rows whose labels are known.

    `truth`: labels as `labels_of` gives them.
    `output`: class probabilities (rows, classes), or numbers (rows,).
    `threshold`: the positive class's probability from which it is chosen; binary problems only.
    `costs`: of a false alarm and of a missed positive.
    """

    truth: np.ndarray
    output: np.ndarray
    positive: int = 1
    threshold: float = 0.5
    costs: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def of(
        cls, problem: Problem, truth: np.ndarray, output: np.ndarray, threshold: float | None = None
    ) -> Self:
        """With the problem's costs, and the threshold that they imply unless one is given."""
        chosen = problem.default_threshold if threshold is None else threshold
        return cls(truth, output, problem.positive_index, chosen, problem.costs or (1.0, 1.0))

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
        """The chosen class of each row, as its place."""
        if self.output.shape[1] == 2:
            chosen = self.positive_share >= self.threshold
            return np.where(chosen, self.positive, 1 - self.positive)
        most_likely: np.ndarray = self.output.argmax(axis=1)
        return most_likely

    def take(self, rows: np.ndarray) -> "Predicted":
        return replace(self, truth=self.truth[rows], output=self.output[rows])


@dataclass(frozen=True)
class Score:
    """`compute` may give nan where the metric is not defined, for example one class only.

    `on_request`: shown only where it is the problem's own metric.
    """

    name: str
    kind: ProblemKind
    greater_is_better: bool
    compute: Callable[[Predicted], float]
    binary_only: bool = False
    on_request: bool = False


def _area(is_positive: np.ndarray, score: np.ndarray) -> float:
    """ROC AUC by ranks (ties count half): what scikit-learn computes, fast enough for a bootstrap."""
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
    present = np.unique(predicted.truth).astype(int)
    areas = [_area(predicted.truth == place, predicted.output[:, place]) for place in present]
    return float(np.mean(areas))


def _log_loss(predicted: Predicted) -> float:
    rows = np.arange(len(predicted.truth))
    chosen = predicted.output[rows, predicted.truth.astype(int)]
    return float(-np.log(np.clip(chosen, 1e-15, 1.0)).mean())


def _balanced_accuracy(predicted: Predicted) -> float:
    truth = predicted.truth.astype(int)
    rows = np.bincount(truth)
    hits = np.bincount(truth, weights=predicted.choice == truth)
    return float((hits[rows > 0] / rows[rows > 0]).mean())


def _class_counts(predicted: Predicted, place: int) -> tuple[int, int, int]:
    """True positives, false positives, false negatives of one class."""
    said, is_so = predicted.choice == place, predicted.truth == place
    return int((said & is_so).sum()), int((said & ~is_so).sum()), int((~said & is_so).sum())


def _per_class(ratio: Callable[[int, int, int], float]) -> Callable[[Predicted], float]:
    """The positive class's figure of a binary problem, the mean over classes otherwise."""

    def compute(predicted: Predicted) -> float:
        if predicted.output.shape[1] == 2:
            return ratio(*_class_counts(predicted, predicted.positive))
        places = np.unique(predicted.truth).astype(int)
        return float(np.mean([ratio(*_class_counts(predicted, int(place))) for place in places]))

    return compute


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _average_precision(predicted: Predicted) -> float:
    """Mean precision over the steps of recall, equal scores taken together."""
    positives = predicted.is_positive.sum()
    if not positives:
        return float("nan")
    order = np.argsort(-predicted.positive_share, kind="stable")
    score, hits = predicted.positive_share[order], predicted.is_positive[order].cumsum()
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
    """Counts (classes, classes): rows are the truth, columns what was chosen."""
    classes = predicted.output.shape[1]
    cells = predicted.truth.astype(int) * classes + predicted.choice
    return np.bincount(cells, minlength=classes**2).reshape(classes, classes).astype("float64")


def _mcc(predicted: Predicted) -> float:
    counts = _confusion(predicted)
    is_so, said, rows = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    spread = np.sqrt(rows**2 - is_so @ is_so) * np.sqrt(rows**2 - said @ said)
    return float((counts.trace() * rows - is_so @ said) / spread) if spread else 0.0


def _cohen_kappa(predicted: Predicted) -> float:
    counts = _confusion(predicted)
    rows = counts.sum()
    chance = float(counts.sum(axis=1) @ counts.sum(axis=0)) / rows**2
    return float((counts.trace() / rows - chance) / (1 - chance)) if chance < 1 else float("nan")


def _top_3(predicted: Predicted) -> float:
    """Share of rows whose class is among the three most likely."""
    own = predicted.output[np.arange(len(predicted.truth)), predicted.truth.astype(int)]
    return float(((predicted.output > own[:, None]).sum(axis=1) < 3).mean())


def _cost(predicted: Predicted) -> float:
    """Mean cost of a row's choice."""
    _, alarms, missed = _class_counts(predicted, predicted.positive)
    return (predicted.costs[0] * alarms + predicted.costs[1] * missed) / len(predicted.truth)


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
    """Defined only where no label is negative; a prediction of nothing counts as a very small one."""
    if (predicted.truth < 0).any():
        return float("nan")
    said = np.maximum(predicted.output, 1e-6)
    return float(2 * np.mean(xlogy(predicted.truth, predicted.truth / said) - predicted.truth + said))


def _pinball(level: float) -> Callable[[Predicted], float]:
    return lambda p: float(np.mean(np.maximum(-level * _error(p), (1 - level) * _error(p))))


_C, _R = ProblemKind.CLASSIFICATION, ProblemKind.REGRESSION

SCORES: dict[str, Score] = {
    score.name: score
    for score in (
        Score("roc_auc", _C, True, _roc_auc),
        Score("log_loss", _C, False, _log_loss),
        Score("accuracy", _C, True, lambda p: float(np.mean(p.choice == p.truth))),
        Score("balanced_accuracy", _C, True, _balanced_accuracy),
        Score("f1", _C, True, _per_class(lambda tp, fp, fn: _share(2 * tp, 2 * tp + fp + fn))),
        Score("precision", _C, True, _per_class(lambda tp, fp, fn: _share(tp, tp + fp))),
        Score("recall", _C, True, _per_class(lambda tp, fp, fn: _share(tp, tp + fn))),
        Score("average_precision", _C, True, _average_precision, binary_only=True),
        Score("brier", _C, False, _brier, binary_only=True),
        Score("mcc", _C, True, _mcc, on_request=True),
        Score("cohen_kappa", _C, True, _cohen_kappa, on_request=True),
        Score("top_3_accuracy", _C, True, _top_3, on_request=True),
        Score("cost", _C, False, _cost, binary_only=True, on_request=True),
        Score("rmse", _R, False, lambda p: float(np.sqrt(np.mean(_error(p) ** 2)))),
        Score("mae", _R, False, lambda p: float(np.mean(np.abs(_error(p))))),
        Score("r2", _R, True, _r2),
        Score("mape", _R, False, _mape),
        Score("median_ae", _R, False, lambda p: float(np.median(np.abs(_error(p))))),
        Score("rmsle", _R, False, _rmsle, on_request=True),
        Score("smape", _R, False, _smape, on_request=True),
        Score("poisson_deviance", _R, False, _poisson_deviance, on_request=True),
        *(Score(name, _R, False, _pinball(level), on_request=True) for name, level in QUANTILES.items()),
    )
}


def scores_for(problem: Problem) -> list[Score]:
    return [
        score
        for score in SCORES.values()
        if score.kind is problem.kind
        and (problem.is_binary or not score.binary_only)
        and (score.name == problem.metric or not score.on_request)
    ]


def score_all(predicted: Predicted, problem: Problem) -> dict[str, float | None]:
    """Every metric of the problem; None where one is not defined for these rows."""
    return {score.name: round_significant(score.compute(predicted)) for score in scores_for(problem)}


def better(metric: str, a: float, b: float) -> bool:
    return a > b if SCORES[metric].greater_is_better else a < b


def rank(metric: str, scores: Mapping[str, float | None]) -> list[str]:
    """Names from best to worst; those without a score last."""
    sign = -1 if SCORES[metric].greater_is_better else 1
    return sorted(scores, key=lambda name: (scores[name] is None, sign * (scores[name] or 0.0), name))
