"""CatBoost: symmetric trees with native categories. Optional: needs the package `catboost`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.estimators.families.boosting_schedule import Clock
from app.modeling.estimators.families.early_stopping_booster import TRANSIENT_ATTRIBUTES, EarlyStoppingBooster
from app.modeling.estimators.families.learner import Validation, parse_aim, two_class_probabilities
from app.modeling.estimators.families.time_limit import TimeLimit

try:
    import catboost
except ImportError:
    catboost = None


@dataclass(eq=False, repr=False)
class CatBoost(EarlyStoppingBooster):
    """Takes a frame: integer columns are category positions, the others are numbers, nan is missing."""

    depth: int = 6
    l2_leaf_reg: float = 3.0

    def _loss(self) -> str:
        if self.classes:
            return "MultiClass" if self.classes > 2 else "Logloss"
        aim = parse_aim(self.aim)
        quantile = f"Quantile:alpha={aim.quantile}"
        return {"mean": "RMSE", "median": "MAE", "quantile": quantile, "poisson": "Poisson"}[aim.statistic]

    def _make_datasets(
        self, X: pd.DataFrame, y: np.ndarray, validation: Validation | None, weights: np.ndarray | None
    ) -> Any:
        if catboost is None:
            raise InvalidInput("not_installed", "CatBoost is not installed: pip install labcrew[catboost].")
        # CatBoost refuses labels with gaps: classes without training rows are left out, and get probability 0.
        self.taught_ = np.unique(y).astype(int) if self.classes else np.zeros(0, dtype=int)
        training = _pool(X, self._encode_labels(y), weights)
        if validation is None:
            return training, None
        is_trained_class = (
            np.isin(validation.y, self.taught_) if self.classes else np.ones(len(validation.y), dtype=bool)
        )
        return training, _pool(
            validation.X[is_trained_class], self._encode_labels(validation.y[is_trained_class])
        )

    def _encode_labels(self, y: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.taught_, y) if self.classes else y

    def _train(self, tables: Any, rate: float, rounds: int, patience: int | None, clock: Clock) -> np.ndarray:
        training, validation = tables
        model = catboost.CatBoost(
            {
                "loss_function": self._loss(),
                "iterations": rounds,
                "learning_rate": rate,
                "depth": self.depth,
                "l2_leaf_reg": self.l2_leaf_reg,
                "random_seed": self.random_state,
                "thread_count": self.n_jobs,
                "allow_writing_files": False,
                "verbose": False,
                # Ordered boosting is slower, and gains on small tables only.
                "boosting_type": "Plain",
                # The best round is chosen later, for all folds together.
                "use_best_model": False,
                **({"od_type": "Iter", "od_wait": patience} if patience is not None else {}),
            }
        )
        model.fit(training, eval_set=validation, callbacks=[TimeLimit(clock, stop_signal=False)])
        self._booster = self._untrimmed = model
        self.bytes_ = bytes(model._serialize_model())
        if validation is None:
            return np.zeros(0)
        return np.array(model.get_evals_result()["validation"][self._loss().split(":")[0]])

    def select_position(self, position: int) -> None:
        super().select_position(position)
        self._booster = self._untrimmed.copy()
        self._booster.shrink(self.rounds_)
        self.bytes_ = bytes(self._booster._serialize_model())

    def _loaded(self) -> Any:
        if getattr(self, "_booster", None) is None:
            self._booster = catboost.CatBoost().load_model(blob=self.bytes_)
        return self._booster

    def _predict_output(self, X: pd.DataFrame) -> np.ndarray:
        pool = _pool(X, None)
        if not self.classes:
            kind = "Exponent" if parse_aim(self.aim).statistic == "poisson" else "RawFormulaVal"
            return np.asarray(self._loaded().predict(pool, prediction_type=kind, thread_count=self.n_jobs))
        trained_probabilities = self._loaded().predict(
            pool, prediction_type="Probability", thread_count=self.n_jobs
        )
        probabilities = np.zeros((len(X), self.classes))
        probabilities[:, self.taught_] = (
            trained_probabilities
            if trained_probabilities.ndim == 2
            else two_class_probabilities(trained_probabilities)
        )
        return probabilities

    def contributions(self, X: pd.DataFrame) -> np.ndarray:
        """SHAP values, as `explanation.contributions.Additive`."""
        request = {"data": _pool(X, None), "type": "ShapValues", "thread_count": self.n_jobs}
        values = np.asarray(self._loaded().get_feature_importance(**request))
        if self.classes <= 2:
            return values
        all_values = np.zeros((len(X), self.classes, values.shape[-1]))
        all_values[:, self.taught_] = values
        return all_values

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key not in TRANSIENT_ATTRIBUTES}


def _pool(X: pd.DataFrame, y: np.ndarray | None, weights: np.ndarray | None = None) -> Any:
    kinds = [name for name in X.columns if X[name].dtype.kind == "i"]
    return catboost.Pool(X, y, cat_features=kinds, weight=weights)
