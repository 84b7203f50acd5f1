"""A classifier that takes any class numbers: XGBoost wants 0, 1, 2, ... without gaps."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class AnyClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """`inner` fitted on class places; a training fold may lack a class of the problem."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.classes_, places = np.unique(y, return_inverse=True)
        self.inner.fit(X, places)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        shares: np.ndarray = self.inner.predict_proba(X)
        return shares

    def predict(self, X: np.ndarray) -> np.ndarray:
        chosen: np.ndarray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return chosen
