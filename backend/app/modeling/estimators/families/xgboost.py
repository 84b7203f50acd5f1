"""XGBoost: trees grown level by level."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost

from app.modeling.estimators.families import target_means
from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.estimators.families.early_stopping_booster import TRANSIENT_ATTRIBUTES, EarlyStoppingBooster
from app.modeling.estimators.families.learner import Validation, parse_aim, two_class_probabilities
from app.modeling.estimators.families.time_limit import TimeLimit

_LOSSES = {
    "mean": {"objective": "reg:squarederror", "eval_metric": "rmse"},
    "median": {"objective": "reg:absoluteerror", "eval_metric": "mae"},
    "quantile": {"objective": "reg:quantileerror", "eval_metric": "quantile"},
    "poisson": {"objective": "count:poisson", "eval_metric": "poisson-nloglik"},
}


@dataclass(eq=False, repr=False)
class XGBoost(EarlyStoppingBooster):
    """Takes a float matrix in which nan is missing."""

    max_depth: int = 6
    min_child_weight: float = 1.0
    subsample: float = 0.8
    colsample_bytree: float = 0.8
    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    gamma: float = 0.0
    max_bin: int = 256
    codes: bool | None = None

    def _parameters(self) -> dict[str, Any]:
        return {
            **self._objective(),
            "max_depth": self.max_depth,
            "min_child_weight": self.min_child_weight,
            "subsample": self.subsample,
            "colsample_bytree": self.colsample_bytree,
            "lambda": self.reg_lambda,
            "alpha": self.reg_alpha,
            "gamma": self.gamma,
            "max_bin": self.max_bin,
            "seed": self.random_state,
            "nthread": self.n_jobs,
            "tree_method": "hist",
            "verbosity": 0,
        }

    def _objective(self) -> dict[str, Any]:
        if self.classes > 2:
            return {"objective": "multi:softprob", "eval_metric": "mlogloss", "num_class": self.classes}
        if self.classes:
            return {"objective": "binary:logistic", "eval_metric": "logloss"}
        aim = parse_aim(self.aim)
        return {
            **_LOSSES[aim.statistic],
            **({"quantile_alpha": aim.quantile} if aim.statistic == "quantile" else {}),
        }

    def _make_datasets(
        self, X: Any, y: np.ndarray, validation: Validation | None, weights: np.ndarray | None
    ) -> Any:
        # Holds bins instead of floats: a fraction of the memory.
        training = xgboost.QuantileDMatrix(X, y, weight=weights, max_bin=self.max_bin, nthread=self.n_jobs)
        if validation is None:
            return training, None
        # With the bins of the training rows: trees split at those.
        validation_rows = xgboost.QuantileDMatrix(
            validation.X, validation.y, ref=training, max_bin=self.max_bin, nthread=self.n_jobs
        )
        return training, validation_rows

    def _train(self, tables: Any, rate: float, rounds: int, patience: int | None, clock: Clock) -> np.ndarray:
        training, validation = tables
        losses: dict[str, dict[str, list[float]]] = {}
        callbacks: list[Any] = [TimeLimit(clock, stop_signal=True)]
        if patience is not None:
            callbacks.append(xgboost.callback.EarlyStopping(rounds=patience))
        self._booster = self._untrimmed = xgboost.train(
            {**self._parameters(), "learning_rate": rate},
            training,
            rounds,
            evals=[(validation, "validation")] if validation is not None else None,
            evals_result=losses if validation is not None else None,
            verbose_eval=False,
            callbacks=callbacks,
        )
        self.bytes_ = bytes(self._booster.save_raw("ubj"))
        return np.array(next(iter(losses["validation"].values()))) if losses else np.zeros(0)

    def select_position(self, position: int) -> None:
        super().select_position(position)
        # The whole booster is kept until the fit is stored: another position may still be chosen.
        self._booster = self._untrimmed[: self.rounds_]
        self.bytes_ = bytes(self._booster.save_raw("ubj"))

    def _loaded(self) -> Any:
        if getattr(self, "_booster", None) is None:
            self._booster = xgboost.Booster(model_file=bytearray(self.bytes_))
        return self._booster

    def _predict_output(self, X: Any) -> np.ndarray:
        booster = self._loaded()
        # A booster that was read from bytes takes all processors else.
        booster.set_param({"nthread": self.n_jobs})
        output = np.asarray(booster.inplace_predict(self._widen(X)), dtype="float64")
        return two_class_probabilities(output) if self.classes == 2 else output

    def contributions(self, X: Any) -> np.ndarray:
        """SHAP values, as `explanation.contributions.Additive`."""
        rows = xgboost.DMatrix(self._widen(X), nthread=self.n_jobs)
        wide = np.asarray(self._loaded().predict(rows, pred_contribs=True), dtype="float64")
        return target_means.merge_contributions(wide, self.means_, X.shape[1])

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key not in TRANSIENT_ATTRIBUTES}
