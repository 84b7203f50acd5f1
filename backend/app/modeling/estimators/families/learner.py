"""What the families have in common: they watch, stop, and are cut to the best of what they saw."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class Watch:
    """Rows that do not teach. `seconds`: how long the fit may take; None: as far as counts allow.

    `at_most`: seconds that it may take where its share of them is too little to learn anything.
    """

    X: Any
    y: np.ndarray
    seconds: float | None = None
    at_most: float | None = None


class Learner(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator of class places 0 to `classes` - 1, or of numbers where `classes` is 0.

    After a fit with a `watch`, `curve_` holds the loss on the watched rows by position (rounds, strengths of
    regularisation, epochs), `keep(position)` goes back to one of them, and `settings_` are the hyperparameters
    that lead there without watching. Without a watch, hyperparameters decide alone and `curve_` is empty.
    """

    classes: int
    curve_: np.ndarray

    def fit(self, X: Any, y: np.ndarray, watch: Watch | None = None, weights: np.ndarray | None = None) -> Self:
        """`weights`: how much each row counts, 1 on average; a family that cannot weigh takes all alike."""
        raise NotImplementedError

    def keep(self, position: int) -> None:
        raise NotImplementedError

    @property
    def settings_(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def pace_(self) -> dict[str, Any]:
        """What the next folds must have in common with this one, so that their positions mean the same."""
        return {}

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(self.classes)

    def _said(self, X: Any) -> np.ndarray:
        """Probabilities (rows, classes) or numbers (rows,)."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> np.ndarray:
        return self._said(X)

    def predict(self, X: Any) -> np.ndarray:
        said = self._said(X)
        return said.argmax(axis=1) if self.classes else said


def both_classes(positive: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - positive, positive])


def common_position(curves: list[np.ndarray]) -> int:
    """The position with the lowest mean loss over folds: one choice for all, so that no fold flatters itself.

    A fold that stopped earlier counts with its last loss from there on.
    """
    longest = max(len(curve) for curve in curves)
    padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    return int(np.mean(padded, axis=0).argmin())


@dataclass(frozen=True)
class Aim:
    """What of the target a model of numbers says: its `mean`, `median`, a `quantile`, or a `poisson` mean."""

    what: str = "mean"
    quantile: float = 0.5

    @property
    def is_mean(self) -> bool:
        return self.what in ("mean", "poisson")


_MEDIAN = frozenset({"mae", "median_ae", "mape", "smape"})


def aim_of(metric: str, quantile: float | None) -> str:
    """The aim that serves a metric of regression best, as text that `read_aim` reads."""
    if quantile is not None:
        return f"quantile:{quantile:g}"
    return "median" if metric in _MEDIAN else "poisson" if metric == "poisson_deviance" else "mean"


def read_aim(text: str) -> Aim:
    what, _, quantile = text.partition(":")
    return Aim(what, float(quantile or 0.5))


def loss_of(classes: int, aim: str) -> Callable[[np.ndarray, np.ndarray], float]:
    """The loss that a watch is judged by, of truth and what was said."""
    if classes:
        return _log_loss
    read = read_aim(aim)
    return _squared if read.is_mean else lambda truth, said: _pinball(truth, said, read.quantile)


def _log_loss(truth: np.ndarray, said: np.ndarray) -> float:
    chosen = said[np.arange(len(truth)), truth.astype(int)]
    return float(-np.log(np.clip(chosen, 1e-7, 1)).mean())


def _pinball(truth: np.ndarray, said: np.ndarray, quantile: float) -> float:
    error = truth - said
    return float(np.maximum(quantile * error, (quantile - 1) * error).mean())


def _squared(truth: np.ndarray, said: np.ndarray) -> float:
    return float(((truth - said) ** 2).mean())
