"""Linear models along a path of regularisation strengths: logistic for classes, ridge for numbers."""

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.estimators.families.learner import (
    Learner,
    Validation,
    make_loss,
    parse_aim,
    two_class_probabilities,
)

MAX_WORSE_STEPS = 2
"""Steps without a lower validation loss after which the path ends."""

STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Values of `C` of a logistic path, from strong to weak regularisation, about evenly spaced in logarithms."""


class PathLearner(Learner):
    """Takes a matrix of about unit scale, sparse or dense. Goes from strong to weak regularisation."""

    aim: str = ""

    def fit(
        self, X: Any, y: np.ndarray, validation: Validation | None = None, weights: np.ndarray | None = None
    ) -> Self:
        self._solutions: list[tuple[float, np.ndarray, np.ndarray]] = []
        fixed = self._fixed_strength(validation)
        clock, losses = Clock(validation.seconds if validation else None), list[float]()
        start: Any = None
        for strength in self._path(fixed):
            start = self._fit_at(X, y, weights, strength, start)
            self._solutions.append((strength, np.array(start.coef_), np.array(start.intercept_)))
            self.select_position(len(self._solutions) - 1)
            if fixed is not None or validation is None:
                continue
            losses.append(make_loss(self.classes, self.aim)(validation.y, self._predict_output(validation.X)))
            if clock.is_expired or len(losses) - 1 - int(np.argmin(losses)) >= MAX_WORSE_STEPS:
                break
        if fixed is not None:
            self._solutions = self._solutions[-1:]
            losses = (
                [make_loss(self.classes, self.aim)(validation.y, self._predict_output(validation.X))]
                if validation
                else []
            )
        self.curve_ = np.array(losses)
        self.select_position(int(self.curve_.argmin()) if losses else 0)
        return self

    def select_position(self, position: int) -> None:
        self.strength_, self.coef_, self.intercept_ = self._solutions[min(position, len(self._solutions) - 1)]

    @abstractmethod
    def _fixed_strength(self, validation: Validation | None) -> float | None:
        """The strength if it is a hyperparameter; None if validation rows decide."""

    @abstractmethod
    def _path(self, fixed: float | None) -> tuple[float, ...]:
        """Strengths to fit in turn, `fixed` last if there is one."""

    @abstractmethod
    def _fit_at(self, X: Any, y: np.ndarray, weights: np.ndarray | None, strength: float, start: Any) -> Any:
        """Fit a scikit-learn model; `start` is the previous one on the path."""

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key != "_solutions"}


class Logistic(PathLearner):
    """Logistic regression. `C`: inverse strength of regularisation; None: chosen on validation rows."""

    def __init__(
        self,
        classes: int = 2,
        C: float | None = None,
        max_iter: int = 200,
        random_state: int = 0,
    ) -> None:
        self.classes = classes
        self.C = C
        self.max_iter = max_iter
        self.random_state = random_state

    def _fixed_strength(self, validation: Validation | None) -> float | None:
        return 1.0 if validation is None and self.C is None else self.C

    def _path(self, fixed: float | None) -> tuple[float, ...]:
        if fixed is None:
            return STRENGTHS
        # A strength of the path is reached along it: the model then equals that of a fit with validation rows.
        return STRENGTHS[: STRENGTHS.index(fixed) + 1] if fixed in STRENGTHS else (fixed,)

    def _fit_at(self, X: Any, y: np.ndarray, weights: np.ndarray | None, strength: float, start: Any) -> Any:
        model = start or LogisticRegression(
            max_iter=self.max_iter, tol=1e-3, warm_start=True, random_state=self.random_state
        )
        model.set_params(C=strength)
        with warnings.catch_warnings():
            # A fit that stopped early is judged on the validation rows like any other.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, weights)
        self.taught_ = np.asarray(model.classes_, dtype=int)
        return model

    @property
    def settings_(self) -> dict[str, Any]:
        return {"C": self.strength_}

    def _predict_output(self, X: Any) -> np.ndarray:
        raw = np.asarray(X @ self.coef_.T + self.intercept_)
        trained_probabilities = (
            two_class_probabilities(expit(raw[:, 0])) if raw.shape[1] == 1 else softmax(raw, axis=1)
        )
        probabilities = np.zeros((len(trained_probabilities), self.classes))
        probabilities[:, self.taught_] = trained_probabilities
        return probabilities


class RidgePath(PathLearner):
    """Ridge regression. `alpha`: strength of regularisation; None: chosen on validation rows."""

    def __init__(self, aim: str = "mean", alpha: float | None = None, random_state: int = 0) -> None:
        self.aim = aim
        self.alpha = alpha
        self.random_state = random_state
        self.classes = 0

    def _fixed_strength(self, validation: Validation | None) -> float | None:
        return 10.0 if validation is None and self.alpha is None else self.alpha

    def _path(self, fixed: float | None) -> tuple[float, ...]:
        return (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1) if fixed is None else (fixed,)

    def _fit_at(self, X: Any, y: np.ndarray, weights: np.ndarray | None, strength: float, start: Any) -> Any:
        # A direct solver needs a square matrix of the columns, which words are too many for.
        solver = "lsqr" if X.shape[1] > 2000 else "auto"
        model = Ridge(alpha=strength, solver=solver, random_state=self.random_state).fit(X, y, weights)
        aim = parse_aim(self.aim)
        if not aim.is_mean:  # coefficients of the mean, shifted to the quantile
            model.intercept_ = model.intercept_ + float(np.quantile(y - model.predict(X), aim.quantile))
        return model

    @property
    def settings_(self) -> dict[str, Any]:
        return {"alpha": self.strength_}

    def _predict_output(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_.ravel() + self.intercept_)
