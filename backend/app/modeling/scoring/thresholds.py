"""From which probability the positive class is chosen."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.modeling.problem.results import ThresholdJson
from app.modeling.scoring.scores import Predicted

NEAR = 0.002
"""How far below the best score a threshold may lie and still count as equally good."""


@dataclass(frozen=True)
class Cuts:
    """Every cut of some rows: how many are said to be positive from `at` on, and what becomes of them."""

    at: np.ndarray
    hits: np.ndarray
    alarms: np.ndarray
    """False alarms."""
    positives: int
    negatives: int

    @property
    def missed(self) -> np.ndarray:
        return self.positives - self.hits

    @property
    def passed(self) -> np.ndarray:
        """Negatives that are said to be so."""
        return self.negatives - self.alarms


def cuts_of(predicted: Predicted) -> Cuts:
    """Cuts between all different probabilities, from the highest to the lowest."""
    share, truth = predicted.positive_share, predicted.is_positive
    order = np.argsort(-share, kind="stable")
    sorted_share, hits = share[order], truth[order].cumsum()
    last = np.append(np.flatnonzero(np.diff(sorted_share)), len(sorted_share) - 1)
    lower = np.append(sorted_share[last[:-1] + 1], max(0.0, sorted_share[-1] - 0.01))
    at = (sorted_share[last] + lower) / 2
    positives = int(truth.sum())
    return Cuts(at, hits[last], last + 1 - hits[last], positives, len(truth) - positives)


def _ratio(part: np.ndarray, whole: np.ndarray | int) -> np.ndarray:
    ratio: np.ndarray = part / np.maximum(whole, 1)
    return ratio


def _f1(cuts: Cuts) -> np.ndarray:
    return _ratio(2 * cuts.hits, cuts.hits + cuts.alarms + cuts.positives)


def _accuracy(cuts: Cuts) -> np.ndarray:
    return _ratio(cuts.hits + cuts.passed, cuts.positives + cuts.negatives)


def _balanced(cuts: Cuts) -> np.ndarray:
    mean: np.ndarray = (_ratio(cuts.hits, cuts.positives) + _ratio(cuts.passed, cuts.negatives)) / 2
    return mean


def _mcc(cuts: Cuts) -> np.ndarray:
    said = (cuts.hits + cuts.alarms).astype("float64")
    spread = np.sqrt(said * (cuts.missed + cuts.passed)) * np.sqrt(float(cuts.positives) * cuts.negatives)
    product = cuts.hits * cuts.passed.astype("float64") - cuts.alarms * cuts.missed.astype("float64")
    correlation: np.ndarray = product / np.maximum(spread, 1e-12)
    return correlation


def _kappa(cuts: Cuts) -> np.ndarray:
    rows = float(cuts.positives + cuts.negatives)
    said = cuts.hits + cuts.alarms
    chance = (said * cuts.positives + (rows - said) * cuts.negatives) / rows**2
    kappa: np.ndarray = (_accuracy(cuts) - chance) / np.maximum(1 - chance, 1e-12)
    return kappa


AIMS: dict[str, tuple[Callable[[Cuts], np.ndarray], str]] = {
    "f1": (_f1, "the highest F1 of the positive class"),
    "accuracy": (_accuracy, "the highest accuracy"),
    "balanced_accuracy": (_balanced, "the highest balanced accuracy"),
    "mcc": (_mcc, "the highest Matthews correlation"),
    "cohen_kappa": (_kappa, "the highest kappa"),
}
"""What a threshold can aim at, by metric. Metrics that need none, or that one end would satisfy, aim at F1."""


def choose_threshold(
    predicted: Predicted, metric: str = "f1", costs: tuple[float, float] | None = None
) -> ThresholdJson:
    """The probability that serves the metric best on these rows, which must not have taught the model.

    `costs`: of a false alarm and of a missed positive; then the lowest cost decides. The middle of the best
    plateau, so that one row does not move it.
    """
    cuts = cuts_of(predicted)
    aim = metric if metric in AIMS else "f1"
    score, text = AIMS[aim]
    values = score(cuts)
    if costs is not None:
        paid = (costs[0] * cuts.alarms + costs[1] * cuts.missed) / max(cuts.positives + cuts.negatives, 1)
        aim, values = "cost", -paid / max(sum(costs), 1e-12)
        text = f"the lowest cost (a false alarm {costs[0]:g}, a missed positive {costs[1]:g})"
    value = _middle_of_plateau(cuts.at, values)
    rows = len(predicted.truth)
    said = f"The positive class is chosen from a probability of {value:.3g} on: {text} on {rows:,} rows"
    return {"value": value, "aim": aim, "text": f"{said} that did not teach the model."}


def best_threshold(predicted: Predicted) -> float:
    """The probability with the highest F1 of the positive class on these rows."""
    return choose_threshold(predicted)["value"]


def _middle_of_plateau(at: np.ndarray, values: np.ndarray) -> float:
    best = int(values.argmax())
    worse = np.flatnonzero(values < values[best] - NEAR)
    first = worse[worse < best].max(initial=-1) + 1
    last = worse[worse > best].min(initial=len(values)) - 1
    return float(f"{(at[first] + at[last]) / 2:.4g}")
