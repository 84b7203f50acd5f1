"""A regression of the logarithm, for positive targets with a long tail."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from app.modeling.estimators.families.learner import Learner, Validation, parse_aim


class LogTargetModel(Learner):
    """Fits `inner` to log(1 + y / unit), and transforms its predictions back.

    If the mean is predicted and not the median, a factor corrects the bias of the back-transformation.
    """

    def __init__(self, inner: Learner, aim: str = "mean", factor: float | None = None) -> None:
        self.inner = inner
        self.aim = aim
        self.factor = factor
        self.classes = 0

    def fit(
        self, X: Any, y: np.ndarray, validation: Validation | None = None, weights: np.ndarray | None = None
    ) -> Self:
        # Below a tenth of the median the scale is nearly linear, so that zeros are no outliers.
        self.unit_ = float(np.median(y[y > 0])) / 10 if (y > 0).any() else 1.0
        log_validation = None if validation is None else replace(validation, y=self._log(validation.y))
        self.inner.fit(X, self._log(y), log_validation, weights)
        self.is_cut_ = self.inner.is_cut_
        self.factor_ = self.factor or 1.0
        self._validation = validation
        self._set_factor()
        return self

    def _log(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(np.log1p(np.maximum(y, 0) / self.unit_))

    def _set_factor(self) -> None:
        if self._validation is None or self.factor is not None or not parse_aim(self.aim).is_mean:
            return
        self.factor_ = 1.0
        predictions = self._predict_output(self._validation.X)
        ratio = float((predictions * self._validation.y).sum() / max((predictions**2).sum(), 1e-12))
        # Only half of the correction: the rest may be chance, or a trend of the validation rows.
        self.factor_ = float(f"{np.clip(1 + (ratio - 1) / 2, 0.9, 1.15):.4g}")

    @property
    def curve_(self) -> np.ndarray:  # type: ignore[override]  # that of `inner`
        return self.inner.curve_

    def select_position(self, position: int) -> None:
        self.inner.select_position(position)
        self._set_factor()

    @property
    def settings_(self) -> dict[str, Any]:
        return {**self.inner.settings_, "factor": self.factor_}

    def set_params(self, **params: Any) -> Self:
        """Set `factor` here, and other parameters (with or without the prefix `inner__`) on `inner`."""
        self.factor = params.pop("factor", self.factor)
        self.inner.set_params(**{name.removeprefix("inner__"): value for name, value in params.items()})
        return self

    def _predict_output(self, X: Any) -> np.ndarray:
        # Bounded before the exponential, which overflows at 710.
        return np.asarray(np.expm1(np.minimum(self.inner.predict(X), 50)) * self.unit_ * self.factor_)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key != "_validation"}
