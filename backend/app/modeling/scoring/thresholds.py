"""Decision thresholds of binary problems."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from app.modeling.facts.computation_facts import ThresholdJson
from app.modeling.problem.kinds import Outlook
from app.modeling.problem.problem import Problem
from app.modeling.scoring.scores import Predicted

PLATEAU_TOLERANCE = 0.002
"""Thresholds whose score is within this distance of the best count as equally good."""

MARGIN = 0.01
"""Distance of the outermost thresholds from the highest and the lowest probability."""

MIN_SAVING_ERRORS = 1.0
"""Standard errors by which a threshold must cost less than the one of the costs, to be chosen instead."""

Costs = tuple[float, float]
"""Costs of a false alarm and of a missed positive."""

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


def choose_threshold(predicted: Predicted, metric: str = "f1", costs: Costs | None = None) -> ThresholdJson:
    """Choose the threshold with the best metric on out-of-fold rows.

    `costs` of a false alarm and of a missed positive replace the metric. The threshold is the middle of the
    best plateau, so that a single row hardly moves it.
    """
    if costs is not None:
        return _choose_by_costs(predicted, costs)
    counts = count_at_thresholds(predicted)
    aim = metric if metric in THRESHOLD_AIMS else "f1"
    score, text = THRESHOLD_AIMS[aim]
    value = _middle_of_plateau(counts.thresholds, score(counts))
    rows = len(predicted.truth)
    text_start = f"The positive class is predicted from a probability of {value:.3g}: {text} on {rows:,}"
    return {"value": value, "aim": aim, "text": f"{text_start} out-of-fold rows."}


def _choose_by_costs(predicted: Predicted, costs: Costs) -> ThresholdJson:
    """Choose the probability at which both decisions are expected to cost the same; another one only where
    that costs less, beyond noise, on rows that had no say in it.

    Of calibrated probabilities no other is cheaper. The cheapest one of rows with few positives is that of
    these rows: it costs 10 to 20 % more on new ones (0.5 % positives, a miss 40 times as costly as a false
    alarm).
    """
    value = costs[0] / max(sum(costs), 1e-12)
    rows = len(predicted.truth)
    find_cheapest = partial(_find_cheapest, costs=costs)
    thresholds = _thresholds_of_other_parts(predicted, _part_rows(rows, False), value, find_cheapest)
    saving = _row_costs(predicted, value, costs) - _row_costs(predicted, thresholds, costs)
    if saving.mean() > MIN_SAVING_ERRORS * saving.std() / np.sqrt(max(rows, 1)):
        value = _find_cheapest(predicted, costs)
    value = float(f"{value:.4g}")
    aim = f"the lowest expected cost (a false alarm {costs[0]:g}, a missed positive {costs[1]:g})"
    text = f"The positive class is predicted from a probability of {value:.3g}: {aim}, compared on {rows:,}"
    return {"value": value, "aim": "cost", "text": f"{text} out-of-fold rows."}


def _find_cheapest(predicted: Predicted, costs: Costs) -> float:
    counts = count_at_thresholds(predicted)
    total = costs[0] * counts.false_positives + costs[1] * counts.false_negatives
    # Relative to the cheaper decision without a model: beside the costs themselves those of rare positives are
    # so small that all thresholds would be of one plateau.
    without_model = min(costs[0] * counts.negatives, costs[1] * counts.positives)
    return _middle_of_plateau(counts.thresholds, -total / max(without_model, 1e-12))


def _row_costs(predicted: Predicted, thresholds: np.ndarray | float, costs: Costs) -> np.ndarray:
    is_called = predicted.positive_share >= thresholds
    row_costs: np.ndarray = costs[0] * (is_called & ~predicted.is_positive) + costs[1] * (
        ~is_called & predicted.is_positive
    )
    return row_costs


def _thresholds_of_other_parts(
    predicted: Predicted, parts: np.ndarray, default: float, choose: Callable[[Predicted], float]
) -> np.ndarray:
    """Choose the threshold of each row (rows,) on the rows of other parts; the default where these are of one
    class, which shows no threshold."""
    thresholds = np.full(len(predicted.truth), default)
    for part in np.unique(parts):
        inside = parts == part
        other_rows = predicted.take(np.flatnonzero(~inside))
        if 0 < other_rows.is_positive.sum() < len(other_rows.truth):
            thresholds[inside] = choose(other_rows)
    return thresholds


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
    is_in_order = problem.time_column is not None
    parts = folds if len(np.unique(folds)) > 1 else _part_rows(len(truth), is_in_order)
    aim = threshold_aim(problem)
    thresholds = _thresholds_of_other_parts(
        predicted,
        parts,
        problem.default_threshold,
        lambda other_rows: choose_threshold(other_rows, aim, problem.costs)["value"],
    )
    return replace(predicted, row_thresholds=thresholds)


def _part_rows(rows: int, is_in_order: bool) -> np.ndarray:
    """Number the part of each row (rows,): consecutive rows in time order, else drawn with a fixed seed."""
    parts = np.arange(rows) * FEW_PARTS // max(rows, 1)
    # Neighbours in time are alike; without an order a table may be sorted by its classes.
    return parts if is_in_order else np.random.default_rng(0).permutation(parts)
