"""Boosting with early stopping: probe the time of a round, choose a learning rate, keep the best rounds."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from app.modeling.estimators.families import target_means
from app.modeling.estimators.families.boosting_schedule import (
    DEFAULT_RATE,
    DEFAULT_ROUNDS,
    MIN_ROUNDS,
    PROBE_ROUNDS,
    Clock,
    Pace,
    choose_pace,
)
from app.modeling.estimators.families.learner import Learner, Validation

TRANSIENT_ATTRIBUTES = ("_booster", "_untrimmed")
"""Attributes that are not stored, but rebuilt from the stored bytes on first use."""


# A dataclass: scikit-learn reads and copies the parameters of `__init__`, and keeps its own `==` and `repr`.
@dataclass(eq=False, repr=False)
class Boosted(Learner):
    """A booster that chooses `n_estimators` and `learning_rate` on validation rows if they are None.

    A family with the parameter `codes` adds target means of columns of codes; None: if the validation rows have
    the same codes.
    """

    classes: int = 0
    aim: str = "mean"
    n_estimators: int | None = None
    learning_rate: float | None = None
    random_state: int = 0
    n_jobs: int = 1

    def fit(
        self, X: Any, y: np.ndarray, validation: Validation | None = None, weights: np.ndarray | None = None
    ) -> Self:
        self.curve_ = np.zeros(0)
        self.rate_ = self.learning_rate or DEFAULT_RATE
        X, validation = self._add_code_means(X, y, validation)
        if validation is None or self.n_estimators is not None:
            self.rounds_ = self.n_estimators or DEFAULT_ROUNDS
            self._train(self._make_datasets(X, y, None, weights), self.rate_, self.rounds_, None, Clock(None))
            return self
        clock = Clock(validation.seconds, validation.max_seconds)
        tables = self._make_datasets(X, y, validation, weights)
        pace = self._choose_pace(tables, clock)
        self.rate_ = pace.learning_rate
        self.curve_ = self._train(tables, pace.learning_rate, pace.rounds, pace.patience, clock)
        self.select_position(int(self.curve_.argmin()))
        return self

    def _add_code_means(
        self, X: Any, y: np.ndarray, validation: Validation | None
    ) -> tuple[Any, Validation | None]:
        """Add target means of codes to training and validation rows where they help."""
        self.means_: target_means.CodeMeans = []
        if self.get_params().get("codes") is False:
            return X, validation
        means, widened = target_means.learn_means(X, y, self.classes, self.random_state)
        if validation is None or not means:
            self.means_ = means
            return widened, validation
        if not target_means.has_known_codes(validation.X, means):
            return X, validation
        self.means_ = means
        return widened, replace(validation, X=target_means.widen(validation.X, means))

    def _widen(self, X: Any) -> Any:
        return target_means.widen(X, self.means_) if self.means_ else X

    def _choose_pace(self, tables: Any, clock: Clock) -> Pace:
        if clock.remaining_s is None:
            return choose_pace(None, 0.0, self.learning_rate)
        probe = Clock(clock.remaining_s / 4)
        self._train(tables, DEFAULT_RATE, PROBE_ROUNDS, None, probe)
        clock.extend(MIN_ROUNDS * probe.round_s)
        return choose_pace(clock.remaining_s, probe.round_s, self.learning_rate)

    def select_position(self, position: int) -> None:
        self.rounds_ = min(position + 1, max(len(self.curve_), 1))

    @property
    def settings_(self) -> dict[str, Any]:
        return {**self.shared_settings_, "n_estimators": self.rounds_}

    @property
    def shared_settings_(self) -> dict[str, Any]:
        return {"learning_rate": self.rate_} | ({"codes": True} if self.means_ else self._disabled_codes())

    def _disabled_codes(self) -> dict[str, Any]:
        return {"codes": False} if "codes" in self.get_params() else {}

    @abstractmethod
    def _make_datasets(
        self, X: Any, y: np.ndarray, validation: Validation | None, weights: np.ndarray | None
    ) -> Any:
        """Training and validation rows as datasets of the library."""

    @abstractmethod
    def _train(self, tables: Any, rate: float, rounds: int, patience: int | None, clock: Clock) -> np.ndarray:
        """Train, and return the validation loss after each round (rounds,)."""


def min_rows_in_leaf(rows: int) -> int:
    """Default minimal rows of a leaf: 2 to 20, growing with the table."""
    return int(min(max(rows / 40, 2), 20))
