"""Paired bootstrap comparison of two candidates on the rows that both predicted."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd

from app.modeling.evaluation.comparison import Bounds, fold_differences
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.bootstrap_metrics import make_statistic
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.scoring.thresholds import cross_fit_thresholds
from app.modeling.table.json_values import round_significant

MAX_ROWS = 20_000
"""Rows that are resampled; the interval is scaled down to the width that all rows would give."""
RESAMPLES = 200
"""Enough for a standard error to 5%."""
Z = 1.96
"""Standard errors of a 95% interval."""


class PairedBootstrap:
    """Paired bootstrap over rows. `outputs`: by candidate, `truth` and its output columns, indexed by row.

    Both candidates of a pair use the same resamples; in time order whole runs of neighbouring rows are drawn.
    """

    def __init__(self, outputs: Mapping[str, pd.DataFrame], problem: Problem, seed: int) -> None:
        self._outputs = outputs
        self._problem = problem
        self._seed = seed
        self._cached_counts = cache(self._draw_counts)

    def __call__(self, a: CandidateFit, b: CandidateFit, rows_of: CandidateFit | None = None) -> Bounds:
        """Compute (low, middle, high) of a minus b, positive if a is better; None without common rows.

        Only rows that `rows_of` predicted too count, if it is given.
        """
        frame_a, frame_b = self._outputs[a.name], self._outputs[b.name]
        common = np.intersect1d(frame_a.index.to_numpy(), frame_b.index.to_numpy())
        if rows_of is not None:
            common = np.intersect1d(common, self._outputs[rows_of.name].index.to_numpy())
        if len(common) < 2:
            return None, None, None
        rows, counts = self._sample(common)
        metric = self._problem.metric
        sign = 1 if METRICS[metric].greater_is_better else -1
        first, second = (self._predicted(frame, rows) for frame in (frame_a, frame_b))
        differences = make_statistic(metric, first)(counts) - make_statistic(metric, second)(counts)
        finite = differences[np.isfinite(differences)]
        if len(finite) < 0.9 * len(differences):
            return None, None, None
        middle = self._mean_difference(a, b, sign, (first, second))
        half_width = Z * float(finite.std(ddof=1)) * np.sqrt(len(rows) / len(common))
        return (
            round_significant(middle - half_width),
            round_significant(middle),
            round_significant(middle + half_width),
        )

    def _mean_difference(
        self, a: CandidateFit, b: CandidateFit, sign: int, predictions: tuple[Predicted, Predicted]
    ) -> float:
        """The mean difference on common folds, or on these rows if no fold is common."""
        by_fold = fold_differences(a, b)
        if len(by_fold):
            return float(by_fold.mean())
        score = SCORERS[self._problem.metric]
        return sign * (score(predictions[0]) - score(predictions[1]))

    def _predicted(self, frame: pd.DataFrame, rows: np.ndarray) -> Predicted:
        common = frame.loc[rows]
        outputs = common.drop(columns=["truth", "fold"], errors="ignore").to_numpy(dtype="float64")
        output = outputs if self._problem.is_classification else outputs[:, 0]
        truth, folds = common["truth"].to_numpy(), common["fold"].to_numpy()
        return cross_fit_thresholds(self._problem, truth, output, folds)

    def _sample(self, common: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        step = -(-len(common) // MAX_ROWS)
        return common[::step], self._cached_counts(len(common[::step]))

    def _draw_counts(self, rows: int) -> np.ndarray:
        """Count the draws of each row (rows, resamples)."""
        rng = np.random.default_rng(self._seed)
        # Neighbours in time err alike: drawn one by one they would make the interval too narrow.
        run = max(1, rows // 20) if self._problem.time_column else 1
        # Poisson counts stand for draws with replacement, without a loop over the resamples.
        blocks = rng.poisson(1.0, (-(-rows // run), RESAMPLES)).astype("float32")
        return np.repeat(blocks, run, axis=0)[:rows]
