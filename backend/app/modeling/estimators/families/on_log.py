"""A learner of numbers that learns their logarithm: for positive targets with a long tail."""

from typing import Any, Self

import numpy as np

from app.modeling.estimators.families.learner import Learner, Watch, read_aim


class OnLog(Learner):
    """`inner` learns log(1 + y / unit); what it says is given on the scale of y.

    Where the mean is wanted and not the median, one factor makes up for what the logarithm takes from it.
    """

    def __init__(self, inner: Learner, aim: str = "mean", factor: float | None = None) -> None:
        self.inner = inner
        self.aim = aim
        self.factor = factor
        self.classes = 0

    def fit(self, X: Any, y: np.ndarray, watch: Watch | None = None, weights: np.ndarray | None = None) -> Self:
        self.unit_ = float(np.median(y[y > 0])) / 10 if (y > 0).any() else 1.0
        watched = None if watch is None else Watch(watch.X, self._log(watch.y), watch.seconds)
        self.inner.fit(X, self._log(y), watched, weights)
        self.factor_ = self.factor or 1.0
        self._watched = watch
        self._set_factor()
        return self

    def _log(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(np.log1p(np.maximum(y, 0) / self.unit_))

    def _set_factor(self) -> None:
        if self._watched is None or self.factor is not None or not read_aim(self.aim).is_mean:
            return
        self.factor_ = 1.0
        said = self._said(self._watched.X)
        ratio = float((said * self._watched.y).sum() / max((said**2).sum(), 1e-12))
        # Half of it: the rest may be chance, or a trend that later rows bring along themselves.
        self.factor_ = float(f"{np.clip(1 + (ratio - 1) / 2, 0.9, 1.15):.4g}")

    @property
    def curve_(self) -> np.ndarray:  # type: ignore[override]  # the inner one's
        return self.inner.curve_

    def keep(self, position: int) -> None:
        self.inner.keep(position)
        self._set_factor()

    @property
    def settings_(self) -> dict[str, Any]:
        return {**self.inner.settings_, "factor": self.factor_}

    def set_params(self, **params: Any) -> Self:
        """`factor` is its own; others are the inner learner's, with or without `inner__` before."""
        self.factor = params.pop("factor", self.factor)
        self.inner.set_params(**{name.removeprefix("inner__"): value for name, value in params.items()})
        return self

    def _said(self, X: Any) -> np.ndarray:
        return np.asarray(np.expm1(np.minimum(self.inner.predict(X), 50)) * self.unit_ * self.factor_)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key != "_watched"}
