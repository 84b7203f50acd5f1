"""Base of the families: estimators that stop early on validation rows and keep their best position."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class Validation:
    """Validation rows of a fit. `seconds`: its time limit; None: limited by rounds only.

    `max_seconds`: the time that a fit may take if `seconds` is too short to learn anything.
    """

    X: Any
    y: np.ndarray
    seconds: float | None = None
    max_seconds: float | None = None
    may_reduce: bool = False
    """Whether a fit that cannot finish in its time on these rows may raise TooManyRows."""


class TooManyRows(Exception):
    """A fit cannot finish in its time on its rows; it can on `share` of them."""

    def __init__(self, share: float) -> None:
        super().__init__(f"The fit finishes in its time on {share:.2g} of its rows.")
        self.share = share


class Learner(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator of class positions 0 to `classes` - 1, or of numbers if `classes` is 0.

    After a fit with a `validation`, `curve_` holds the validation loss by position (rounds, strengths of
    regularisation, epochs), `select_position` goes back to one of them, and `settings_` are the hyperparameters
    that lead there without validation rows. Without validation, `curve_` is empty.
    """

    classes: int
    curve_: np.ndarray
    is_cut_: bool = False
    """True if the time ended while the loss still fell."""

    def fit(
        self, X: Any, y: np.ndarray, validation: Validation | None = None, weights: np.ndarray | None = None
    ) -> Self:
        """Fit. `weights` (rows,): sample weights with mean 1; ignored by families without weights."""
        raise NotImplementedError

    def select_position(self, position: int) -> None:
        raise NotImplementedError

    @property
    def settings_(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def shared_settings_(self) -> dict[str, Any]:
        """Settings that other folds must share, so that positions on their curves are comparable."""
        return {}

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(self.classes)

    def _predict_output(self, X: Any) -> np.ndarray:
        """Probabilities (rows, classes) or numbers (rows,)."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> np.ndarray:
        return self._predict_output(X)

    def predict(self, X: Any) -> np.ndarray:
        predictions = self._predict_output(X)
        return predictions.argmax(axis=1) if self.classes else predictions


def two_class_probabilities(positive: np.ndarray) -> np.ndarray:
    """Probabilities (rows, 2) from that of the second class (rows,)."""
    return np.column_stack([1 - positive, positive])


def best_common_position(curves: list[np.ndarray]) -> int:
    """The position with the lowest mean loss over folds.

    One choice for all folds: a choice by each fold would make its score optimistic. A fold that stopped earlier
    counts with its last loss from there on.
    """
    longest = max(len(curve) for curve in curves)
    padded = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    return int(np.mean(padded, axis=0).argmin())


@dataclass(frozen=True)
class Aim:
    """The statistic of the target that a regression predicts: `mean`, `median`, `quantile` or `poisson`
    mean."""

    statistic: str = "mean"
    quantile: float = 0.5

    @property
    def is_mean(self) -> bool:
        return self.statistic in ("mean", "poisson")


_MEDIAN = frozenset({"mae", "median_ae", "mape", "smape"})


def choose_aim(metric: str, quantile: float | None) -> str:
    """The best aim for a regression metric, as text for `parse_aim`."""
    if quantile is not None:
        return f"quantile:{quantile:g}"
    # The median has the least absolute error; for relative errors it comes close, and no family has their loss.
    return "median" if metric in _MEDIAN else "poisson" if metric == "poisson_deviance" else "mean"


def parse_aim(text: str) -> Aim:
    statistic, _, quantile = text.partition(":")
    return Aim(statistic, float(quantile or 0.5))


def make_loss(classes: int, aim: str) -> Callable[[np.ndarray, np.ndarray], float]:
    """Make the validation loss: (truth, predictions) -> loss."""
    if classes:
        return _log_loss
    parsed = parse_aim(aim)
    return (
        _squared if parsed.is_mean else lambda truth, predictions: _pinball(truth, predictions, parsed.quantile)
    )


def _log_loss(truth: np.ndarray, probabilities: np.ndarray) -> float:
    true_class_shares = probabilities[np.arange(len(truth)), truth.astype(int)]
    # One row that is certain and wrong would make the whole loss infinite.
    return float(-np.log(np.clip(true_class_shares, 1e-7, 1)).mean())


def _pinball(truth: np.ndarray, predictions: np.ndarray, quantile: float) -> float:
    error = truth - predictions
    return float(np.maximum(quantile * error, (quantile - 1) * error).mean())


def _squared(truth: np.ndarray, predictions: np.ndarray) -> float:
    return float(((truth - predictions) ** 2).mean())
