"""An estimator by code: `fit` and `predict` or `predict_proba` over the encoded matrix, by an agent."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from app.errors import InvalidInput
from app.modeling.custom_code.functions import Functions
from app.modeling.custom_code.row_independence import check_alone
from app.modeling.custom_code.state import freeze, thaw
from app.modeling.problem.custom_code import CUSTOM_ESTIMATOR


class CustomEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """`fit(X, y, classes) -> state`, then `predict_proba(X, state)` (rows, classes) or `predict(X, state)`.

    `y`: places of classes, 0 to `classes` - 1, or numbers where `classes` is 0. `style` is the encoder's.
    """

    def __init__(
        self,
        classes: int = 0,
        source: str = "",
        style: str = "network",
        name: str = CUSTOM_ESTIMATOR,
        random_state: int = 0,
    ) -> None:
        self.classes = classes
        self.source = source
        self.style = style
        self.name = name
        self.random_state = random_state

    @property
    def classes_(self) -> np.ndarray:
        return np.arange(self.classes)

    def fit(self, X: Any, y: np.ndarray) -> Self:
        functions = Functions(self.name, self.source)
        functions.require("fit", "`fit(X, y)` gives what was learned")
        functions.require(*self._says())
        learned = functions.call("fit", _own(X), np.array(y), self.classes, seed=self.random_state)
        self.state_ = freeze(learned, self.name)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self._said(X)

    def predict(self, X: Any) -> np.ndarray:
        said = self._said(X)
        return said.argmax(axis=1) if self.classes else said

    def _says(self) -> tuple[str, str]:
        if self.classes:
            return (
                "predict_proba",
                "`predict_proba(X, state)` gives a probability of every class, (rows, classes)",
            )
        return "predict", "`predict(X, state)` gives a number for every row"

    def _said(self, X: Any) -> np.ndarray:
        said = self._raw(X)
        check_alone(
            self.name, X.shape[0], self._by_column(said), lambda rows: self._by_column(self._raw(X[rows]))
        )
        return said

    def _by_column(self, said: np.ndarray) -> list[tuple[str, np.ndarray]]:
        if said.ndim == 1:
            return [("what it predicts", said)]
        return [(f"the probability of class {place}", said[:, place]) for place in range(said.shape[1])]

    def _raw(self, X: Any) -> np.ndarray:
        function, _ = self._says()
        functions = Functions(self.name, self.source)
        given = functions.call(function, _own(X), thaw(self.state_), seed=self.random_state)
        try:
            said = np.array(given, dtype="float64")
        except (TypeError, ValueError) as error:
            raise self._refused(function, f"gives a {type(given).__name__} and no array of numbers") from error
        expected = (X.shape[0], self.classes) if self.classes else (X.shape[0],)
        if said.shape != expected and said.size == np.prod(expected):
            said = said.reshape(expected)
        if said.shape != expected:
            raise self._refused(function, f"gives the shape {said.shape} and not {expected}")
        if not np.isfinite(said).all():
            raise self._refused(function, "gives missing or infinite numbers")
        return self._shares(said) if self.classes else said

    def _shares(self, said: np.ndarray) -> np.ndarray:
        total = said.sum(axis=1, keepdims=True)
        if (said < 0).any() or (total <= 0).any():
            raise self._refused("predict_proba", "gives negative probabilities, or none at all")
        shares: np.ndarray = said / total
        return shares

    def _refused(self, function: str, what: str) -> InvalidInput:
        return InvalidInput("bad_estimator", f"`{function}` of {self.name!r} {what}.", name=self.name)


def _own(X: Any) -> Any:
    """A copy, so that code cannot change what others read; sparse as it came."""
    return X.copy() if sparse.issparse(X) else np.array(X, dtype="float64")
