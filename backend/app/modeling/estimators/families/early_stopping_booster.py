"""Boosting with early stopping: probe the time of a round, choose a learning rate, keep the best rounds."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from app.modeling.estimators.families import target_means
from app.modeling.estimators.families.boosting_schedule import (
    DEFAULT_RATE,
    DEFAULT_ROUNDS,
    MAX_RATE,
    MIN_FINISHED_ROUNDS,
    MIN_ROUNDS,
    PROBE_ROUNDS,
    Clock,
    Pace,
    choose_pace,
)
from app.modeling.estimators.families.learner import Learner, TooManyRows, Validation

TRANSIENT_ATTRIBUTES = ("_booster", "_untrimmed")
"""Attributes that are not stored, but rebuilt from the stored bytes on first use."""
MAX_EXTRA_S = 2.0
"""Seconds that a fit may take beyond its time to finish: on a wide table of many classes it is cut even so."""
MIN_KEPT_SHARE = 0.9
"""Share of the rows from which all of them are kept: the time of a round is known no better."""
MIN_REDUCED_ROWS = 1000
"""Rows that a fit does not go below to finish in its time: fewer would say as little as a fit that was cut."""


# A dataclass: scikit-learn reads and copies the parameters of `__init__`, and keeps its own `==` and `repr`.
@dataclass(eq=False, repr=False)
class EarlyStoppingBooster(Learner):
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
        """Fit on `X` (rows, columns), `y` and `weights` (rows,); without validation, a fixed number of rounds.

        Raises TooManyRows where fewer rows are permitted, and these are too many to finish in time.
        """
        self.curve_ = np.zeros(0)
        self.rate_ = self.learning_rate or DEFAULT_RATE
        X, validation = self._add_code_means(X, y, validation)
        if validation is None or self.n_estimators is not None:
            self._train_fixed_rounds(X, y, validation, weights)
            return self
        clock = Clock(validation.seconds, validation.max_seconds)
        tables = self._make_datasets(X, y, validation, weights)
        pace = self._choose_pace(tables, clock)
        if pace.rounds < MIN_FINISHED_ROUNDS and pace.learning_rate >= MAX_RATE:
            share = max(pace.rounds / MIN_FINISHED_ROUNDS, MIN_REDUCED_ROWS / len(y))
            if validation.may_reduce and share < 1:
                raise TooManyRows(share)
            clock, pace = self._choose_finishing_pace(tables, clock)
        self.rate_ = pace.learning_rate
        self.curve_ = self._train(tables, pace.learning_rate, pace.rounds, pace.patience, clock)
        best = int(self.curve_.argmin())
        # Ended by the clock, and its best round is among the last ones: the loss still fell.
        self.is_cut_ = len(self.curve_) < pace.rounds and len(self.curve_) - best <= pace.patience // 2
        self.select_position(best)
        return self

    def _train_fixed_rounds(
        self, X: Any, y: np.ndarray, limits: Validation | None, weights: np.ndarray | None
    ) -> None:
        """Train all rounds. With limits, raise TooManyRows or stop at the end of the time, marked as cut."""
        self.rounds_ = self.n_estimators or DEFAULT_ROUNDS
        clock = Clock(None if limits is None else limits.max_seconds)
        tables = self._make_datasets(X, y, None, weights)
        if limits is not None and limits.may_reduce and clock.remaining_s is not None:
            probe = Clock(clock.remaining_s / 4)
            self._train(tables, self.rate_, PROBE_ROUNDS, None, probe)
            share = max(clock.remaining_s / (self.rounds_ * probe.round_s), MIN_REDUCED_ROWS / len(y))
            if share < MIN_KEPT_SHARE:
                raise TooManyRows(share)
        clock.restart_rounds()
        self._train(tables, self.rate_, self.rounds_, None, clock)
        self.is_cut_ = clock.is_expired and clock.round_count < self.rounds_
        if self.is_cut_:
            self.rounds_ = clock.round_count

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
        # A quarter at most, since a round of a wide table may take seconds.
        probe = Clock(clock.remaining_s / 4)
        self._train(tables, DEFAULT_RATE, PROBE_ROUNDS, None, probe)
        clock.extend(MIN_ROUNDS * probe.round_s)
        return choose_pace(clock.remaining_s, probe.round_s, self.learning_rate)

    def _choose_finishing_pace(self, tables: Any, clock: Clock) -> tuple[Clock, Pace]:
        """Choose the pace of a fit that finishes, even if reading and encoding took its time."""
        probe = Clock(None)
        self._train(tables, DEFAULT_RATE, PROBE_ROUNDS, None, probe)
        needed_s = min(1.2 * MIN_FINISHED_ROUNDS * probe.round_s, MAX_EXTRA_S)
        clock = Clock(max(clock.remaining_s or 0.0, needed_s))
        return clock, choose_pace(clock.remaining_s, probe.round_s, self.learning_rate)

    def select_position(self, position: int) -> None:
        """Keep the rounds up to this position of `curve_`, counted from 0."""
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
