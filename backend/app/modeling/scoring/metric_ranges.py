"""The range of each metric: scores are compared and bounded on a scale where none lies beyond it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

Curve = Callable[[np.ndarray | float], np.ndarray | float]


@dataclass(frozen=True)
class Range:
    """`to` takes a score to a scale without ends, infinite at the ends of the range; `back` returns."""

    to: Curve
    back: Curve

    def moved(self, score: float, by: float) -> float:
        return float(self.back(self.to(score) + by))


LOSS = Range(np.log, np.exp)
"""From 0 up: what matters is by which factor it differs."""
SHARE = Range(logit, expit)
CORRELATION = Range(np.arctanh, np.tanh)
EXPLAINED = Range(lambda score: -np.log1p(-np.asarray(score)), lambda place: -np.expm1(-np.asarray(place)))
"""Up to 1."""

_SHARES = frozenset(
    {
        "roc_auc",
        "accuracy",
        "balanced_accuracy",
        "f1",
        "precision",
        "recall",
        "average_precision",
        "top_3_accuracy",
    }
)


def range_of(metric: str) -> Range:
    if metric in _SHARES:
        return SHARE
    if metric in ("mcc", "cohen_kappa"):
        return CORRELATION
    return EXPLAINED if metric == "r2" else LOSS


def place_of(metric: str, score: float) -> float:
    """Where a score stands on its scale; infinite at an end of the range."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(range_of(metric).to(score))
