"""Boosting that watches: probe the pace, learn until it stops, keep the best rounds."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np

from app.modeling.estimators.families import code_means
from app.modeling.estimators.families.learner import Learner, Watch
from app.modeling.estimators.families.pace import (
    DEFAULT_RATE,
    DEFAULT_ROUNDS,
    MIN_ROUNDS,
    PROBE_ROUNDS,
    Clock,
    Pace,
    pace_for,
)

UNSTORED = ("_booster", "_whole")
"""What is made anew from the stored bytes when it is first asked."""


class Boosted(Learner):
    """`n_estimators` and `learning_rate` left open are found while watching; given ones are kept."""

    n_estimators: int | None
    random_state: int
    codes: bool | None = None
    """Whether columns of codes are widened by means of the target; None: where watched rows have them too."""
    learning_rate: float | None

    def fit(self, X: Any, y: np.ndarray, watch: Watch | None = None, weights: np.ndarray | None = None) -> Self:
        self.curve_ = np.zeros(0)
        self.rate_ = self.learning_rate or DEFAULT_RATE
        X, watch = self._with_means(X, y, watch)
        if watch is None or self.n_estimators is not None:
            self.rounds_ = self.n_estimators or DEFAULT_ROUNDS
            self._learn(self._tables(X, y, None, weights), self.rate_, self.rounds_, None, Clock(None))
            return self
        clock = Clock(watch.seconds, watch.at_most)
        tables = self._tables(X, y, watch, weights)
        pace = self._measured(tables, clock)
        self.rate_ = pace.learning_rate
        self.curve_ = self._learn(tables, pace.learning_rate, pace.rounds, pace.patience, clock)
        self.keep(int(self.curve_.argmin()))
        return self

    def _with_means(self, X: Any, y: np.ndarray, watch: Watch | None) -> tuple[Any, Watch | None]:
        """Rows with what codes mean for the target, where that is worth it."""
        self.means_: code_means.CodeMeans = []
        if self.codes is False:
            return X, watch
        means, wide = code_means.learn(X, y, self.classes, self.random_state)
        if watch is None or not means:
            self.means_ = means
            return wide, watch
        if not code_means.are_known(watch.X, means):
            return X, watch
        self.means_ = means
        return wide, replace(watch, X=code_means.widen(watch.X, means))

    def _wide(self, X: Any) -> Any:
        return code_means.widen(X, self.means_) if self.means_ else X

    def _measured(self, tables: Any, clock: Clock) -> Pace:
        if clock.left_s is None:
            return pace_for(None, 0.0, self.learning_rate)
        probe = Clock(clock.left_s / 4)
        self._learn(tables, DEFAULT_RATE, PROBE_ROUNDS, None, probe)
        clock.extend(MIN_ROUNDS * probe.round_s)
        return pace_for(clock.left_s, probe.round_s, self.learning_rate)

    def keep(self, position: int) -> None:
        self.rounds_ = min(position + 1, max(len(self.curve_), 1))

    @property
    def settings_(self) -> dict[str, Any]:
        return {**self.pace_, "n_estimators": self.rounds_}

    @property
    def pace_(self) -> dict[str, Any]:
        return {"learning_rate": self.rate_} | ({"codes": True} if self.means_ else self._without_codes())

    def _without_codes(self) -> dict[str, Any]:
        return {"codes": False} if "codes" in self.get_params() else {}

    @abstractmethod
    def _tables(self, X: Any, y: np.ndarray, watch: Watch | None, weights: np.ndarray | None) -> Any:
        """Rows as the library takes them: those that teach, and those that are watched."""

    @abstractmethod
    def _learn(self, tables: Any, rate: float, rounds: int, patience: int | None, clock: Clock) -> np.ndarray:
        """Learn, and give the loss on the watched rows after each round."""


def fewest_in_leaf(rows: int) -> int:
    return int(min(max(rows / 40, 2), 20))
