"""A training callback of XGBoost and CatBoost that stops boosting when its clock expires."""

from xgboost.callback import TrainingCallback

from app.modeling.estimators.families.boosting_schedule import Clock


class TimeLimit(TrainingCallback):
    """`stop_signal`: the return value that stops the library: True for XGBoost, False for CatBoost."""

    def __init__(self, clock: Clock, stop_signal: bool) -> None:
        super().__init__()
        self._clock = clock
        self._stop_signal = stop_signal

    def after_iteration(self, *state: object) -> bool:
        self._clock.end_round()
        return self._clock.is_expired == self._stop_signal
