"""An estimator whose `fit` and `predict` or `predict_proba` are agent-written functions."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from app.errors import InvalidInput
from app.modeling.custom_code.functions import CodeFunctions
from app.modeling.custom_code.row_independence import check_row_independence
from app.modeling.custom_code.state import freeze, thaw
from app.modeling.facts.code_in_facts import CUSTOM_ESTIMATOR


class CustomEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """`fit(X, y, classes) -> state`, then `predict_proba(X, state)` (rows, classes) or `predict(X, state)`.

    `y`: class positions, 0 to `classes` - 1, or numbers if `classes` is 0. `style`: that of the encoder.
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
        functions = CodeFunctions(self.name, self.source)
        functions.require_function("fit", "`fit(X, y)` returns the learned state")
        functions.require_function(*self._prediction_function())
        learned = functions.call("fit", _copy(X), np.array(y), self.classes, seed=self.random_state)
        self.state_ = freeze(learned, self.name)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self._predict(X)

    def predict(self, X: Any) -> np.ndarray:
        predictions = self._predict(X)
        return predictions.argmax(axis=1) if self.classes else predictions

    def _prediction_function(self) -> tuple[str, str]:
        if self.classes:
            return (
                "predict_proba",
                "`predict_proba(X, state)` returns the probability of every class (rows, classes)",
            )
        return "predict", "`predict(X, state)` returns a number for every row"

    def _predict(self, X: Any) -> np.ndarray:
        predictions = self._call(X)
        check_row_independence(
            self.name,
            X.shape[0],
            self._by_column(predictions),
            lambda rows: self._by_column(self._call(X[rows])),
        )
        return predictions

    def _by_column(self, predictions: np.ndarray) -> list[tuple[str, np.ndarray]]:
        if predictions.ndim == 1:
            return [("the prediction", predictions)]
        return [
            (f"the probability of class {position}", predictions[:, position])
            for position in range(predictions.shape[1])
        ]

    def _call(self, X: Any) -> np.ndarray:
        function, _ = self._prediction_function()
        functions = CodeFunctions(self.name, self.source)
        returned = functions.call(function, _copy(X), thaw(self.state_), seed=self.random_state)
        try:
            predictions = np.array(returned, dtype="float64")
        except (TypeError, ValueError) as error:
            raise self._refused(
                function, f"returns a {type(returned).__name__} instead of an array of numbers"
            ) from error
        expected = (X.shape[0], self.classes) if self.classes else (X.shape[0],)
        # A matrix of one column is as good an answer as a vector.
        if predictions.shape != expected and predictions.size == np.prod(expected):
            predictions = predictions.reshape(expected)
        if predictions.shape != expected:
            raise self._refused(function, f"returns the shape {predictions.shape} instead of {expected}")
        if not np.isfinite(predictions).all():
            raise self._refused(function, "returns missing or infinite numbers")
        return self._normalise(predictions) if self.classes else predictions

    def _normalise(self, probabilities: np.ndarray) -> np.ndarray:
        total = probabilities.sum(axis=1, keepdims=True)
        if (probabilities < 0).any() or (total <= 0).any():
            raise self._refused("predict_proba", "returns negative probabilities, or only zeros for a row")
        shares: np.ndarray = probabilities / total
        return shares

    def _refused(self, function: str, problem: str) -> InvalidInput:
        return InvalidInput("bad_estimator", f"`{function}` of {self.name!r} {problem}.", name=self.name)


def _copy(X: Any) -> Any:
    """A copy, so that code cannot change the shared matrix; sparse stays sparse."""
    return X.copy() if sparse.issparse(X) else np.array(X, dtype="float64")
