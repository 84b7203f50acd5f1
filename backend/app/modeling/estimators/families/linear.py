"""Linear models over a path of regularisation: logistic for classes, ridge for numbers."""

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from app.modeling.estimators.families.learner import Learner, Watch, both_classes, loss_of, read_aim
from app.modeling.estimators.families.pace import Clock

WORSE_IN_A_ROW = 2

PATH = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class OnPath(Learner):
    """Takes a matrix of about unit scale, sparse or dense. Goes from the strongest regularisation to weaker."""

    aim: str = ""

    def fit(self, X: Any, y: np.ndarray, watch: Watch | None = None, weights: np.ndarray | None = None) -> Self:
        self._found: list[tuple[float, np.ndarray, np.ndarray]] = []
        given = self._given(watch)
        clock, losses = Clock(watch.seconds if watch else None), list[float]()
        start: Any = None
        for strength in self._path(given):
            start = self._at(X, y, weights, strength, start)
            self._found.append((strength, np.array(start.coef_), np.array(start.intercept_)))
            self.keep(len(self._found) - 1)
            if given is not None or watch is None:
                continue
            losses.append(loss_of(self.classes, self.aim)(watch.y, self._said(watch.X)))
            if clock.is_up or len(losses) - 1 - int(np.argmin(losses)) >= WORSE_IN_A_ROW:
                break
        if given is not None:
            self._found = self._found[-1:]
            losses = [loss_of(self.classes, self.aim)(watch.y, self._said(watch.X))] if watch else []
        self.curve_ = np.array(losses)
        self.keep(int(self.curve_.argmin()) if losses else 0)
        return self

    def keep(self, position: int) -> None:
        self.strength_, self.coef_, self.intercept_ = self._found[min(position, len(self._found) - 1)]

    @abstractmethod
    def _given(self, watch: Watch | None) -> float | None:
        """The strength that is asked for; None: found while watching."""

    @abstractmethod
    def _path(self, given: float | None) -> tuple[float, ...]:
        """The strengths to go through, the given one last."""

    @abstractmethod
    def _at(self, X: Any, y: np.ndarray, weights: np.ndarray | None, strength: float, start: Any) -> Any:
        """A fitted scikit-learn model; `start` is the one before on the path."""

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key != "_found"}


class Logistic(OnPath):
    """`C`: inverse strength of regularisation; None: found while watching."""

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

    def _given(self, watch: Watch | None) -> float | None:
        return 1.0 if watch is None and self.C is None else self.C

    def _path(self, given: float | None) -> tuple[float, ...]:
        if given is None:
            return PATH
        # One of the path is reached along it, as a fit that watched came there: the same model comes out.
        return PATH[: PATH.index(given) + 1] if given in PATH else (given,)

    def _at(self, X: Any, y: np.ndarray, weights: np.ndarray | None, strength: float, start: Any) -> Any:
        model = start or LogisticRegression(
            max_iter=self.max_iter, tol=1e-3, warm_start=True, random_state=self.random_state
        )
        model.set_params(C=strength)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, weights)
        self.taught_ = np.asarray(model.classes_, dtype=int)
        return model

    @property
    def settings_(self) -> dict[str, Any]:
        return {"C": self.strength_}

    def _said(self, X: Any) -> np.ndarray:
        raw = np.asarray(X @ self.coef_.T + self.intercept_)
        known = both_classes(expit(raw[:, 0])) if raw.shape[1] == 1 else softmax(raw, axis=1)
        said = np.zeros((len(known), self.classes))
        said[:, self.taught_] = known
        return said


class RidgePath(OnPath):
    """`alpha`: strength of regularisation; None: found while watching."""

    def __init__(self, aim: str = "mean", alpha: float | None = None, random_state: int = 0) -> None:
        self.aim = aim
        self.alpha = alpha
        self.random_state = random_state
        self.classes = 0

    def _given(self, watch: Watch | None) -> float | None:
        return 10.0 if watch is None and self.alpha is None else self.alpha

    def _path(self, given: float | None) -> tuple[float, ...]:
        return (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1) if given is None else (given,)

    def _at(self, X: Any, y: np.ndarray, weights: np.ndarray | None, strength: float, start: Any) -> Any:
        solver = "lsqr" if X.shape[1] > 2000 else "auto"
        model = Ridge(alpha=strength, solver=solver, random_state=self.random_state).fit(X, y, weights)
        aim = read_aim(self.aim)
        if not aim.is_mean:  # the slopes of the mean, moved so that the wanted share lies below
            model.intercept_ = model.intercept_ + float(np.quantile(y - model.predict(X), aim.quantile))
        return model

    @property
    def settings_(self) -> dict[str, Any]:
        return {"alpha": self.strength_}

    def _said(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_.ravel() + self.intercept_)
