"""The time that predictions take, and how many more of them a deadline allows."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from app.modeling.explanation.explained_model import ExplainedModel
from app.modeling.training.deadline import Deadline

MAX_PREDICTED_ROWS = 300_000
"""Rows to predict without a clock: a minute of a slow model."""
PREDICTION_SHARE = 0.85
"""Share of the time for predictions; the rest is for resampling, which measured at a tenth of it."""
MIN_PROPORTIONAL_SHARE = 0.1
"""Share of the mean time of a row that one more row takes at least, however the measured times vary."""


class PredictionClock:
    """Predictions within a deadline, by the speed measured so far; without a clock, a number of rows."""

    def __init__(self, subject: ExplainedModel, deadline: Deadline) -> None:
        self._subject, self._deadline = subject, deadline
        self._rows, self._seconds = 0, 0.0
        self._probe: tuple[int, float] | None = None

    @property
    def left_s(self) -> float:
        """Seconds that are left; without a clock always the same number."""
        return 0.0 if self._deadline.limit_s is None else self._deadline.left_s

    @property
    def rows_left(self) -> float:
        """Rows that can still be predicted."""
        if self._deadline.limit_s is None:
            return float(max(MAX_PREDICTED_ROWS - self._rows, 0))
        reserved_s = (1 - PREDICTION_SHARE) * self._deadline.limit_s
        call_s, row_s = self._call_costs()
        return max(self._deadline.left_s - reserved_s - call_s, 0.0) / max(row_s, 1e-9)

    def _call_costs(self) -> tuple[float, float]:
        """Return the seconds of a call whatever its rows, and of each row, by the first and largest call."""
        mean_s = self._seconds / max(self._rows, 1)
        if self._probe is None or self._probe[0] >= self._rows:
            return 0.0, mean_s
        rows, seconds = self._probe
        row_s = (self._seconds - seconds) / (self._rows - rows)
        row_s = min(max(row_s, MIN_PROPORTIONAL_SHARE * mean_s), mean_s)
        return self._seconds - row_s * self._rows, row_s

    def predict(self, frames: Sequence[pd.DataFrame]) -> list[np.ndarray]:
        started = self._deadline.spent_s
        outputs = self._subject.predict_frames(frames)
        rows, seconds = sum(map(len, frames)), self._deadline.spent_s - started
        if self._deadline.limit_s is None:
            self._rows += rows
            return outputs
        self._probe = self._probe or (rows, seconds)
        if rows >= self._rows:
            # The largest call tells the speed: of few rows it is mostly the fixed cost of a call.
            self._rows, self._seconds = rows, seconds
        return outputs
