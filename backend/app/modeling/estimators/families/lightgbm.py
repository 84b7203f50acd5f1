"""LightGBM: trees grown leaf by leaf; with `extra_trees` each split is drawn at random."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.modeling.estimators.families import target_means
from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.estimators.families.early_stopping_booster import (
    TRANSIENT_ATTRIBUTES,
    EarlyStoppingBooster,
    min_rows_in_leaf,
)
from app.modeling.estimators.families.learner import Validation, parse_aim, two_class_probabilities
from app.modeling.estimators.families.openmp import lend_openmp

lend_openmp()
import lightgbm  # noqa: E402 (loading it needs the library that is lent above)

LightGBMError = lightgbm.basic.LightGBMError


@dataclass(eq=False, repr=False)
class LightGBM(EarlyStoppingBooster):
    """Takes a float matrix in which nan is missing."""

    num_leaves: int = 31
    max_depth: int = -1
    min_child_samples: int | None = None
    subsample: float = 0.9
    colsample_bytree: float = 0.8
    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    extra_trees: bool = False
    max_bin: int = 255
    codes: bool | None = None

    def _parameters(self, rows: int) -> dict[str, Any]:
        return {
            **self._objective(),
            # One leaf for eight rows at most: the default of 31 would memorise a small table.
            "num_leaves": max(3, min(self.num_leaves, rows // 8)),
            "max_depth": self.max_depth,
            "min_data_in_leaf": self.min_child_samples or min_rows_in_leaf(rows),
            "bagging_fraction": self.subsample,
            # LightGBM ignores the fraction of rows without it.
            "bagging_freq": 1,
            "feature_fraction": self.colsample_bytree,
            "lambda_l2": self.reg_lambda,
            "lambda_l1": self.reg_alpha,
            "extra_trees": self.extra_trees,
            "max_bin": self.max_bin,
            "seed": self.random_state,
            "num_threads": self.n_jobs,
            "deterministic": True,
            # Else LightGBM times both layouts and takes the faster, so that the clock decides on the model.
            "force_col_wise": True,
            "feature_pre_filter": False,
            "verbosity": -1,
        }

    def _objective(self) -> dict[str, Any]:
        if self.classes > 2:
            return {"objective": "multiclass", "metric": "multi_logloss", "num_class": self.classes}
        if self.classes:
            return {"objective": "binary", "metric": "binary_logloss"}
        aim = parse_aim(self.aim)
        loss = {"mean": "l2", "median": "l1"}.get(aim.statistic, aim.statistic)
        return {"objective": loss, "metric": loss, "alpha": aim.quantile}

    def _make_datasets(
        self, X: Any, y: np.ndarray, validation: Validation | None, weights: np.ndarray | None
    ) -> Any:
        # Filtered by a leaf size that is not known yet, a dataset would lack columns for smaller leaves.
        parameters = {"max_bin": self.max_bin, "feature_pre_filter": False, "verbosity": -1}
        training = lightgbm.Dataset(X, y, weight=weights, params=parameters, free_raw_data=True).construct()
        if validation is None:
            return len(y), training, None
        return (
            len(y),
            training,
            lightgbm.Dataset(validation.X, validation.y, reference=training, params=parameters).construct(),
        )

    def _train(self, tables: Any, rate: float, rounds: int, patience: int | None, clock: Clock) -> np.ndarray:
        rows, training, validation = tables
        losses: dict[str, dict[str, list[float]]] = {}
        callbacks: list[Any] = [_stop_at_time_limit(clock)]
        if validation is not None:
            callbacks.append(lightgbm.record_evaluation(losses))
        if patience is not None:
            callbacks.append(lightgbm.early_stopping(patience, verbose=False))
        booster = lightgbm.train(
            {**self._parameters(rows), "learning_rate": rate},
            training,
            rounds,
            valid_sets=[validation] if validation is not None else None,
            valid_names=["validation"] if validation is not None else None,
            callbacks=callbacks,
        )
        self.text_ = booster.model_to_string(num_iteration=-1)
        self._booster = self._untrimmed = booster
        return np.array(next(iter(losses["validation"].values()))) if losses else np.zeros(0)

    def select_position(self, position: int) -> None:
        super().select_position(position)
        self.text_ = self._untrimmed.model_to_string(num_iteration=self.rounds_)
        self._booster = lightgbm.Booster(model_str=self.text_)

    def _loaded(self) -> Any:
        if getattr(self, "_booster", None) is None:
            self._booster = lightgbm.Booster(model_str=self.text_)
        return self._booster

    def _predict_output(self, X: Any) -> np.ndarray:
        output = np.asarray(self._loaded().predict(self._widen(X), num_threads=self.n_jobs))
        return two_class_probabilities(output) if self.classes == 2 else output

    def contributions(self, X: Any) -> np.ndarray:
        """SHAP values, as `explanation.contributions.Additive`."""
        flat = np.asarray(self._loaded().predict(self._widen(X), pred_contrib=True, num_threads=self.n_jobs))
        wide = flat.reshape(len(flat), self.classes, -1) if self.classes > 2 else flat
        return target_means.merge_contributions(wide, self.means_, X.shape[1])

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key not in TRANSIENT_ATTRIBUTES}


def _stop_at_time_limit(clock: Clock) -> Any:
    def stop(env: Any) -> None:
        clock.end_round()
        if clock.is_expired:
            raise lightgbm.callback.EarlyStopException(env.iteration, env.evaluation_result_list or [])

    stop.order = 40  # type: ignore[attr-defined]  # after the callback that records the losses
    return stop
