"""CatBoost: symmetric trees over categories as they are. An extra: used where it is installed."""

from typing import Any

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.estimators.families.boosted import UNSTORED, Boosted
from app.modeling.estimators.families.learner import Watch, both_classes, read_aim
from app.modeling.estimators.families.pace import Clock

try:
    import catboost
except ImportError:
    catboost = None


class CatBoost(Boosted):
    """Takes a frame: integer columns are categories by their place, the others are numbers, nan is missing."""

    def __init__(
        self,
        classes: int = 0,
        aim: str = "mean",
        n_estimators: int | None = None,
        learning_rate: float | None = None,
        depth: int = 6,
        l2_leaf_reg: float = 3.0,
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.classes = classes
        self.aim = aim
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.depth = depth
        self.l2_leaf_reg = l2_leaf_reg
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _loss(self) -> str:
        if self.classes:
            return "MultiClass" if self.classes > 2 else "Logloss"
        aim = read_aim(self.aim)
        quantile = f"Quantile:alpha={aim.quantile}"
        return {"mean": "RMSE", "median": "MAE", "quantile": quantile, "poisson": "Poisson"}[aim.what]

    def _tables(self, X: pd.DataFrame, y: np.ndarray, watch: Watch | None, weights: np.ndarray | None) -> Any:
        if catboost is None:
            raise InvalidInput("not_installed", "CatBoost is not installed: pip install labcrew[catboost].")
        # A class that does not teach here is named by a parameter: only those that do may stand in the labels.
        self.taught_ = np.unique(y).astype(int) if self.classes else np.zeros(0, dtype=int)
        taught = _pool(X, self._places(y), weights)
        if watch is None:
            return taught, None
        known = np.isin(watch.y, self.taught_) if self.classes else np.ones(len(watch.y), dtype=bool)
        return taught, _pool(watch.X[known], self._places(watch.y[known]))

    def _places(self, y: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.taught_, y) if self.classes else y

    def _learn(self, tables: Any, rate: float, rounds: int, patience: int | None, clock: Clock) -> np.ndarray:
        taught, watched = tables
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
                "boosting_type": "Plain",
                "use_best_model": False,
                **({"od_type": "Iter", "od_wait": patience} if patience is not None else {}),
            }
        )
        model.fit(taught, eval_set=watched, callbacks=[_OutOfTime(clock)])
        self._booster = self._whole = model
        self.bytes_ = bytes(model._serialize_model())
        if watched is None:
            return np.zeros(0)
        return np.array(model.get_evals_result()["validation"][self._loss().split(":")[0]])

    def keep(self, position: int) -> None:
        super().keep(position)
        self._booster = self._whole.copy()
        self._booster.shrink(self.rounds_)
        self.bytes_ = bytes(self._booster._serialize_model())

    def _loaded(self) -> Any:
        if getattr(self, "_booster", None) is None:
            self._booster = catboost.CatBoost().load_model(blob=self.bytes_)
        return self._booster

    def _said(self, X: pd.DataFrame) -> np.ndarray:
        pool = _pool(X, None)
        if not self.classes:
            kind = "Exponent" if read_aim(self.aim).what == "poisson" else "RawFormulaVal"
            return np.asarray(self._loaded().predict(pool, prediction_type=kind, thread_count=self.n_jobs))
        known = self._loaded().predict(pool, prediction_type="Probability", thread_count=self.n_jobs)
        said = np.zeros((len(X), self.classes))
        said[:, self.taught_] = known if known.ndim == 2 else both_classes(known)
        return said

    def contributions(self, X: pd.DataFrame) -> np.ndarray:
        """SHAP values, as `explanation.contributions.Additive`."""
        asked = {"data": _pool(X, None), "type": "ShapValues", "thread_count": self.n_jobs}
        known = np.asarray(self._loaded().get_feature_importance(**asked))
        if self.classes <= 2:
            return known
        values = np.zeros((len(X), self.classes, known.shape[-1]))
        values[:, self.taught_] = known
        return values

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key not in UNSTORED}


def _pool(X: pd.DataFrame, y: np.ndarray | None, weights: np.ndarray | None = None) -> Any:
    kinds = [name for name in X.columns if X[name].dtype.kind == "i"]
    return catboost.Pool(X, y, cat_features=kinds, weight=weights)


class _OutOfTime:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def after_iteration(self, info: object) -> bool:
        self._clock.tick()
        return not self._clock.is_up
