"""Regression of the residuals of held-out rows on what the columns contribute to the predictions.

A partial dependence alone shows the model and not the data, and has no error that comes from the data. The
residuals of rows that the model did not learn from show by how much an effect of the model is off: on average
over a column (its contribution), and between the two values that the effect compares (the column itself). All
columns are in one regression, so that the correction of each is given the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from app.modeling.explanation.importance import GroupImportance, ImportanceMeasurement

ROWS_PER_TERM = 10
"""Held-out rows for each term of the regression, a common least number."""
MIN_TERM_STD = 1e-9
"""Standard deviation, relative to a term's own largest value, below which the term has no variation."""
MAX_CONDITION = 1e-10
"""Relative singular value below which terms are the same, and share their coefficient."""
MAX_LEVERAGE = 0.9
"""Leverage from which on a row's residual is not inflated further (HC3 divides by what is left)."""


@dataclass(frozen=True)
class LocalTerms:
    """Terms of one column, and the change of each between the two values of every difference.

    `terms` (rows, terms); `changes` (differences, terms).
    """

    terms: np.ndarray
    changes: np.ndarray


@dataclass(frozen=True)
class Correction:
    """The difference between an effect in the held-out rows and in the model, with its standard error."""

    value: float
    error: float


def line_terms(column: pd.Series, low: float, high: float) -> LocalTerms:
    """Make the term of a number between two values: 0 at the first, 1 at the second. Beyond them it is
    constant, so that rows far out, where the effect may be another, do not decide."""
    numbers = column.astype("float64").to_numpy(copy=True)
    # A missing value lies between the two, where it weighs least on the slope.
    numbers[np.isnan(numbers)] = (low + high) / 2
    share = (np.clip(numbers, low, high) - low) / (high - low)
    return LocalTerms(share[:, None], np.array([[1.0]]))


def value_terms(column: pd.Series, usual: object, others: Sequence[object]) -> LocalTerms:
    """Make one term for each value that is compared with the usual one, and one for all further values."""
    terms = [(column == value).fillna(False).to_numpy(dtype="float64") for value in others]
    further = ~column.isin([usual, *others]).to_numpy()
    return LocalTerms(
        np.column_stack([*terms, further.astype("float64")]), np.eye(len(others), len(others) + 1)
    )


class ResidualRegression:
    """The regression for one class, or for numbers.

    `importances`: groups whose contributions are terms, the first ones first. `local`: further terms of some of
    them, by label; both only as far as there are rows for them.
    """

    def __init__(
        self,
        measurement: ImportanceMeasurement,
        importances: Sequence[GroupImportance],
        local: dict[str, LocalTerms],
        of_class: int | None,
    ) -> None:
        base = select_class(measurement.base, of_class)
        truth = measurement.truth if of_class is None else (measurement.truth == of_class).astype("float64")
        self._terms: dict[str, tuple[int, LocalTerms | None]] = {}
        columns: list[np.ndarray] = [np.ones(len(base))]
        max_terms = max(len(base) // ROWS_PER_TERM, 2)
        for importance in importances:
            label = importance.group.label
            own = local.get(label)
            if len(columns) + 1 + (own.terms.shape[1] if own else 0) > max_terms:
                own = None
            if len(columns) >= max_terms:
                break
            self._terms[label] = len(columns), own
            columns.append(base - select_class(importance.without, of_class))
            columns += list(own.terms.T) if own else []
        design = np.column_stack(columns)
        scale = design.std(axis=0)
        # The constant has no spread, and must not be dropped for it.
        scale[0] = 1.0
        # Of each term by itself: beside nanoseconds of dates any probability would seem constant. Divided by
        # infinity a term without variation is zero, and so is its coefficient.
        varies = scale > MIN_TERM_STD * np.abs(design).max(axis=0)
        self._scale = np.where(varies, scale, np.inf)
        design = design / self._scale
        # A pseudo-inverse, since a contribution and the column itself may be the same line.
        inverse = np.linalg.pinv(design.T @ design, rcond=MAX_CONDITION, hermitian=True)
        residuals = truth - base
        self._solution = inverse @ (design.T @ residuals)
        remaining = residuals - design @ self._solution
        leverage = np.minimum(((design @ inverse) * design).sum(axis=1), MAX_LEVERAGE)
        scores = design * (remaining / (1 - leverage))[:, None]
        # Rows, groups or blocks of time are drawn together: the first-order bootstrap of the solution.
        self._resampled = (measurement.counts.T - 1.0) @ scores @ inverse
        self._freedom = max(measurement.units.count - design.shape[1], 1)

    @property
    def quantile(self) -> float:
        """Student's t of a 95% interval."""
        return float(stats.t.isf(0.025, self._freedom))

    def chance(self, value: float, error: float) -> float:
        """Return the probability of an effect as far from zero where there is none (two-sided)."""
        return float(2 * stats.t.sf(abs(value) / error, self._freedom))

    def correct(self, label: str, difference: float, number: int) -> Correction | None:
        """Return the correction of the model's difference between two values of a group; None without rows to
        tell. `number`: the place of the difference among those of its local terms."""
        if label not in self._terms:
            return None
        place, own = self._terms[label]
        changes = np.zeros(len(self._solution))
        changes[place] = difference
        if own is not None:
            changes[place + 1 : place + 1 + own.terms.shape[1]] = own.changes[number]
        changes = changes / self._scale
        return Correction(float(changes @ self._solution), float((self._resampled @ changes).std(ddof=1)))


def select_class(output: np.ndarray, of_class: int | None) -> np.ndarray:
    """Return the probabilities of a class, or the numbers."""
    return output if of_class is None else output[:, of_class]
