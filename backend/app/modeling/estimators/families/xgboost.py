"""XGBoost: trees grown level by level."""

from typing import Any

import numpy as np
import xgboost

from app.modeling.estimators.families import code_means
from app.modeling.estimators.families.boosted import UNSTORED, Boosted
from app.modeling.estimators.families.learner import Watch, both_classes, read_aim
from app.modeling.estimators.families.pace import Clock

_LOSSES = {
    "mean": {"objective": "reg:squarederror", "eval_metric": "rmse"},
    "median": {"objective": "reg:absoluteerror", "eval_metric": "mae"},
    "quantile": {"objective": "reg:quantileerror", "eval_metric": "quantile"},
    "poisson": {"objective": "count:poisson", "eval_metric": "poisson-nloglik"},
}


class XGBoost(Boosted):
    """Takes a float matrix in which nan is missing."""

    def __init__(
        self,
        classes: int = 0,
        aim: str = "mean",
        n_estimators: int | None = None,
        learning_rate: float | None = None,
        max_depth: int = 6,
        min_child_weight: float = 1.0,
        subsample: float = 0.8,
        colsample_bytree: float = 0.8,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        max_bin: int = 256,
        codes: bool | None = None,
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.classes = classes
        self.aim = aim
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.max_bin = max_bin
        self.codes = codes
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        aim = read_aim(self.aim)
        return {**_LOSSES[aim.what], **({"quantile_alpha": aim.quantile} if aim.what == "quantile" else {})}

    def _tables(self, X: Any, y: np.ndarray, watch: Watch | None, weights: np.ndarray | None) -> Any:
        taught = xgboost.QuantileDMatrix(X, y, weight=weights, max_bin=self.max_bin, nthread=self.n_jobs)
        if watch is None:
            return taught, None
        watched = xgboost.QuantileDMatrix(
            watch.X, watch.y, ref=taught, max_bin=self.max_bin, nthread=self.n_jobs
        )
        return taught, watched

    def _learn(self, tables: Any, rate: float, rounds: int, patience: int | None, clock: Clock) -> np.ndarray:
        taught, watched = tables
        seen: dict[str, dict[str, list[float]]] = {}
        callbacks: list[Any] = [_OutOfTime(clock)]
        if patience is not None:
            callbacks.append(xgboost.callback.EarlyStopping(rounds=patience))
        self._booster = self._whole = xgboost.train(
            {**self._parameters(), "learning_rate": rate},
            taught,
            rounds,
            evals=[(watched, "watched")] if watched is not None else None,
            evals_result=seen if watched is not None else None,
            verbose_eval=False,
            callbacks=callbacks,
        )
        self.bytes_ = bytes(self._booster.save_raw("ubj"))
        return np.array(next(iter(seen["watched"].values()))) if seen else np.zeros(0)

    def keep(self, position: int) -> None:
        super().keep(position)
        self._booster = self._whole[: self.rounds_]
        self.bytes_ = bytes(self._booster.save_raw("ubj"))

    def _loaded(self) -> Any:
        if getattr(self, "_booster", None) is None:
            self._booster = xgboost.Booster(model_file=bytearray(self.bytes_))
        return self._booster

    def _said(self, X: Any) -> np.ndarray:
        booster = self._loaded()
        booster.set_param({"nthread": self.n_jobs})
        said = np.asarray(booster.inplace_predict(self._wide(X)), dtype="float64")
        return both_classes(said) if self.classes == 2 else said

    def contributions(self, X: Any) -> np.ndarray:
        """SHAP values, as `explanation.contributions.Additive`."""
        rows = xgboost.DMatrix(self._wide(X), nthread=self.n_jobs)
        wide = np.asarray(self._loaded().predict(rows, pred_contribs=True), dtype="float64")
        return code_means.narrow(wide, self.means_, X.shape[1])

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key not in UNSTORED}


class _OutOfTime(xgboost.callback.TrainingCallback):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        self._clock.tick()
        return self._clock.is_up
