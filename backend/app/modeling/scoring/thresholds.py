"""Decision thresholds of binary problems."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from app.modeling.facts.computation_facts import ThresholdJson
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted

PLATEAU_TOLERANCE = 0.002
"""Thresholds whose score is within this distance of the best count as equally good."""

MARGIN = 0.01
"""Distance of the outermost thresholds from the highest and the lowest probability."""

FEW_PARTS = 5
"""Parts of the rows of a single fold whose thresholds are chosen on each other, as usual for cross-fitting."""


@dataclass(frozen=True)
class ThresholdCounts:
    """Confusion counts at every candidate threshold (thresholds,), from the highest to the lowest."""

    thresholds: np.ndarray
    true_positives: np.ndarray
    false_positives: np.ndarray

    positives: int
    negatives: int

    @property
    def false_negatives(self) -> np.ndarray:
        return self.positives - self.true_positives

    @property
    def true_negatives(self) -> np.ndarray:

        return self.negatives - self.false_positives


def count_at_thresholds(predicted: Predicted) -> ThresholdCounts:
    """Confusion counts at thresholds above, between and below all distinct probabilities."""
    share, truth = predicted.positive_share, predicted.is_positive
    order = np.argsort(-share, kind="stable")
    sorted_share, true_positives = share[order], truth[order].cumsum()
    last = np.append(np.flatnonzero(np.diff(sorted_share)), len(sorted_share) - 1)
    # The first candidate lies above all probabilities, so that no row is called positive, as the likelier class
    # of a rare positive may demand; the last one lies below them, so that every row is.
    lower = np.append(sorted_share[last[:-1] + 1], max(0.0, sorted_share[-1] - MARGIN))
    thresholds = np.append(sorted_share[0] + MARGIN, (sorted_share[last] + lower) / 2)
    positives = int(truth.sum())
    hits = np.append(0, true_positives[last])
    return ThresholdCounts(thresholds, hits, np.append(0, last + 1) - hits, positives, len(truth) - positives)


def _ratio(numerator: np.ndarray, denominator: np.ndarray | int) -> np.ndarray:
    ratio: np.ndarray = numerator / np.maximum(denominator, 1)
    return ratio


def _f1(counts: ThresholdCounts) -> np.ndarray:
    return _ratio(2 * counts.true_positives, counts.true_positives + counts.false_positives + counts.positives)


def _accuracy(counts: ThresholdCounts) -> np.ndarray:
    return _ratio(counts.true_positives + counts.true_negatives, counts.positives + counts.negatives)


def _balanced(counts: ThresholdCounts) -> np.ndarray:
    mean: np.ndarray = (
        _ratio(counts.true_positives, counts.positives) + _ratio(counts.true_negatives, counts.negatives)
    ) / 2
    return mean


def _mcc(counts: ThresholdCounts) -> np.ndarray:
    predicted_positives = (counts.true_positives + counts.false_positives).astype("float64")
    # Floats and two roots: a product of four counts passes 64 bits from 55,000 rows on.
    spread = np.sqrt(predicted_positives * (counts.false_negatives + counts.true_negatives)) * np.sqrt(
        float(counts.positives) * counts.negatives
    )
    product = counts.true_positives * counts.true_negatives.astype(
        "float64"
    ) - counts.false_positives * counts.false_negatives.astype("float64")
    correlation: np.ndarray = product / np.maximum(spread, 1e-12)
    return correlation


def _kappa(counts: ThresholdCounts) -> np.ndarray:
    rows = float(counts.positives + counts.negatives)
    predicted_positives = counts.true_positives + counts.false_positives
    chance = (
        predicted_positives * counts.positives + (rows - predicted_positives) * counts.negatives
    ) / rows**2
    kappa: np.ndarray = (_accuracy(counts) - chance) / np.maximum(1 - chance, 1e-12)
    return kappa


THRESHOLD_AIMS: dict[str, tuple[Callable[[ThresholdCounts], np.ndarray], str]] = {
    "f1": (_f1, "the highest F1 of the positive class"),
    "accuracy": (_accuracy, "the highest accuracy"),
    "balanced_accuracy": (_balanced, "the highest balanced accuracy"),
    "mcc": (_mcc, "the highest Matthews correlation"),
    "cohen_kappa": (_kappa, "the highest kappa"),
}
"""Metric -> its score at each threshold, and its name in reports. Other metrics use F1: they need no threshold,
or an extreme threshold would be best for them."""


def choose_threshold(
    predicted: Predicted, metric: str = "f1", costs: tuple[float, float] | None = None
) -> ThresholdJson:
    """Choose the threshold with the best metric on out-of-fold rows.

    `costs` of a false alarm and of a missed positive replace the metric. The threshold is the middle of the
    best plateau, so that a single row hardly moves it.
    """
    counts = count_at_thresholds(predicted)
    aim = metric if metric in THRESHOLD_AIMS else "f1"
    score, text = THRESHOLD_AIMS[aim]
    values = score(counts)
    if costs is not None:
        mean_cost = (costs[0] * counts.false_positives + costs[1] * counts.false_negatives) / max(
            counts.positives + counts.negatives, 1
        )
        # Relative to the costs, so that the tolerance of a plateau does not depend on their currency.
        aim, values = "cost", -mean_cost / max(sum(costs), 1e-12)
        text = f"the lowest cost (a false alarm {costs[0]:g}, a missed positive {costs[1]:g})"
    value = _middle_of_plateau(counts.thresholds, values)
    rows = len(predicted.truth)
    text_start = f"The positive class is predicted from a probability of {value:.3g}: {text} on {rows:,}"
    return {"value": value, "aim": aim, "text": f"{text_start} out-of-fold rows."}


def _middle_of_plateau(thresholds: np.ndarray, values: np.ndarray) -> float:
    best = int(values.argmax())
    worse = np.flatnonzero(values < values[best] - PLATEAU_TOLERANCE)
    first = worse[worse < best].max(initial=-1) + 1
    last = worse[worse > best].min(initial=len(values)) - 1
    return float(f"{(thresholds[first] + thresholds[last]) / 2:.4g}")


def threshold_aim(problem: Problem) -> str:
    """The metric that the threshold maximises.

    A direction has no rare class: the threshold with the best F1 would predict a rise for every row.
    """
    if problem.outlook is Outlook.DIRECTION and problem.metric not in THRESHOLD_AIMS:
        return "accuracy"
    return problem.metric


def cross_fit_thresholds(
    problem: Problem, truth: np.ndarray, output: np.ndarray, folds: np.ndarray
) -> Predicted:
    """Predictions of out-of-fold rows, each with a threshold chosen on the rows of other folds.

    Scores of a model are computed with the threshold that it is delivered with, and so are those of its folds.
    `folds` (rows,): the fold of each row; the rows of a single fold are parted instead. Problems with other
    than two classes have no threshold.
    """
    predicted = Predicted.from_problem(problem, truth, output)
    if not problem.is_binary:
        return predicted
    parts = folds if len(np.unique(folds)) > 1 else _part_rows(len(truth), problem)
    thresholds = np.full(len(truth), problem.default_threshold)
    for part in np.unique(parts):
        inside = parts == part
        other_rows = predicted.take(np.flatnonzero(~inside))
        # Rows of one class show no threshold.
        if 0 < other_rows.is_positive.sum() < len(other_rows.truth):
            thresholds[inside] = choose_threshold(other_rows, threshold_aim(problem), problem.costs)["value"]
    return replace(predicted, row_thresholds=thresholds)


def _part_rows(rows: int, problem: Problem) -> np.ndarray:
    """Number the part of each row (rows,): consecutive rows in time order, else drawn with a fixed seed."""
    parts = np.arange(rows) * FEW_PARTS // max(rows, 1)
    # Neighbours in time are alike; without an order a table may be sorted by its classes.
    return parts if problem.time_column else np.random.default_rng(0).permutation(parts)
