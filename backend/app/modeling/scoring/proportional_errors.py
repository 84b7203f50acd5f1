"""Bounds of errors in proportion to the prediction, of targets that are never negative.

Errors that are scaled by their mean size have one distribution only where its shape is the same for all
predictions. That of counts, of skewed amounts and of amounts with zeros changes with the prediction, and the
mean error of the largest ones is that of a wide bin: such intervals hold few of the largest values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from app.modeling.facts.interval_facts import ProportionalErrorsJson

MIN_ROWS_PER_BIN = 60
"""Three rows lie beyond the 95% bound of a bin."""
MAX_BINS = 20
"""Bins of predictions, at most: further ones would follow chance."""
FLOOR_QUANTILE = 0.02
"""Quantile of the positive predictions below which bounds are no longer in proportion: of predictions close to
zero the ratio to any amount has no limit."""


@dataclass(frozen=True)
class ProportionalErrors:
    """Quantiles of errors, in units of the prediction, at similar predictions.

    `positions` (bins,): mean predictions of the bins, rising; `errors`: level -> lower and upper errors
    (2, bins); `floor`: the least unit.
    """

    positions: np.ndarray
    errors: Mapping[str, np.ndarray]
    floor: float

    @classmethod
    def fit(
        cls, truth: np.ndarray, prediction: np.ndarray, weights: np.ndarray, levels: Sequence[float]
    ) -> Self:
        """Fit the quantiles; at least one of the predictions must be positive."""
        floor = float(np.quantile(prediction[prediction > 0], FLOOR_QUANTILE))
        relative = (truth - prediction) / np.maximum(prediction, floor)
        # Kish's number of rows that tell as much as rows of these weights.
        independent = float(weights.sum()) ** 2 / float((weights**2).sum())
        order = np.argsort(prediction, kind="stable")
        bins = np.array_split(order, int(np.clip(independent // MIN_ROWS_PER_BIN, 1, MAX_BINS)))
        positions = np.array([prediction[rows].mean() for rows in bins])
        # np.interp needs rising positions, and equal predictions fill several bins.
        is_new = np.append(True, np.diff(positions) > 0)
        errors = {
            str(level): np.array([_bound_bin(truth, relative, weights, rows, level) for rows in bins])[is_new].T
            for level in levels
        }
        return cls(positions[is_new], errors, floor)

    @classmethod
    def from_json(cls, described: Mapping[str, Any]) -> Self:
        errors = {level: np.array(bounds) for level, bounds in described["errors"].items()}
        return cls(np.array(described["predictions"]), errors, float(described["floor"]))

    def to_json(self) -> ProportionalErrorsJson:
        errors = {level: bounds.tolist() for level, bounds in self.errors.items()}
        return {"predictions": self.positions.tolist(), "errors": errors, "floor": self.floor}

    def bounds(self, prediction: np.ndarray, level: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and the upper bounds (rows,) of a level."""
        unit = np.maximum(prediction, self.floor)
        lower, upper = (np.interp(prediction, self.positions, bounds) for bounds in self.errors[level])
        return prediction + lower * unit, prediction + upper * unit

    def widen(self, factor: float) -> Self:
        """Return errors that lie further out by a factor."""
        return replace(self, errors={level: factor * bounds for level, bounds in self.errors.items()})


def _bound_bin(
    truth: np.ndarray, relative: np.ndarray, weights: np.ndarray, rows: np.ndarray, level: float
) -> tuple[float, float]:
    tail = (1 - level) / 2
    zeros = float(weights[rows][truth[rows] == 0].sum() / weights[rows].sum())
    sorted_rows = rows[np.argsort(relative[rows], kind="stable")]
    # Nothing lies below zero: where more rows are zero than the lower tail has, all misses lie above.
    tails = (tail, 1 - level) if zeros > tail else (tail, tail)
    return bound_errors(relative[sorted_rows], weights[sorted_rows], *tails)


def bound_errors(
    sorted_errors: np.ndarray, weights: np.ndarray, lower_tail: float, upper_tail: float
) -> tuple[float, float]:
    """Quantiles of the errors with the finite-sample correction of split conformal prediction.

    A new row counts as one more error on either side, with the largest weight.
    """
    total = weights.sum() + weights.max()
    upper = min(int(np.searchsorted(np.cumsum(weights) / total, 1 - upper_tail)), len(sorted_errors) - 1)
    lower = min(int(np.searchsorted(np.cumsum(weights[::-1]) / total, 1 - lower_tail)), len(sorted_errors) - 1)
    return float(sorted_errors[::-1][lower]), float(sorted_errors[upper])
