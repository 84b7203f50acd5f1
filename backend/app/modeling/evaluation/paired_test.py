"""Paired bootstrap comparison of two candidates on the rows that both predicted."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.modeling.evaluation.comparison import Bounds, fold_differences
from app.modeling.facts.fits import CandidateFit
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.recipe.forecast_origins import ROWS_AHEAD
from app.modeling.scoring.bootstrap_metrics import make_statistic
from app.modeling.scoring.independent_units import IndependentUnits, jackknife_error, units_in_order
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.scoring.thresholds import cross_fit_thresholds
from app.modeling.table.json_values import round_significant

MAX_ROWS = 20_000
"""Rows that are resampled; the interval is scaled down to the width that all rows would give."""
RESAMPLES = 200
"""Enough for a standard error to 5%."""
TAIL = 0.025
"""Probability beyond each bound of a 95% interval."""
MIN_DEFINED_SHARE = 0.9
"""Share of the resamples with a score: fewer leave an interval of the lucky ones."""


@dataclass(frozen=True)
class _Sample:
    """Rows that both candidates predicted, their units and the draws of each row (rows, resamples)."""

    rows: np.ndarray
    units: IndependentUnits
    counts: np.ndarray
    scale: float
    """Ratio of the standard error of all common rows to that of these."""


class PairedBootstrap:
    """Paired bootstrap over the units of rows. `outputs`: by candidate, `truth` and its output columns, indexed
    by row; `units`: of all rows of the table, by position, see `find_units`.

    Both candidates of a pair use the same resamples. Without `units` rows are drawn alone, or in blocks as they
    lie where time orders them.
    """

    def __init__(
        self,
        outputs: Mapping[str, pd.DataFrame],
        problem: Problem,
        seed: int,
        units: IndependentUnits | None = None,
    ) -> None:
        self._outputs = outputs
        self._problem = problem
        self._seed = seed
        rows = 1 + max((int(frame.index.max()) for frame in outputs.values() if len(frame)), default=0)
        self._units = units or units_in_order(rows, problem)
        self._samples: dict[bytes, _Sample] = {}

    def __call__(self, a: CandidateFit, b: CandidateFit, rows_of: CandidateFit | None = None) -> Bounds:
        """Compute (low, middle, high) of a minus b, positive if a is better; None without common rows.

        Only rows that `rows_of` predicted too count, if it is given.
        """
        frame_a, frame_b = self._outputs[a.name], self._outputs[b.name]
        common = np.intersect1d(frame_a.index.to_numpy(), frame_b.index.to_numpy())
        if rows_of is not None:
            common = np.intersect1d(common, self._outputs[rows_of.name].index.to_numpy())
        # Of one unit nothing is left when it is left out.
        if self._units.take(common).count < 2:
            return None, None, None
        sample = self._sample(common)
        metric = self._problem.metric
        sign = 1 if METRICS[metric].greater_is_better else -1
        first, second = (self._predicted(frame, sample.rows) for frame in (frame_a, frame_b))
        differences = make_statistic(metric, first)(sample.counts) - make_statistic(metric, second)(
            sample.counts
        )
        middle = self._mean_difference(a, b, sign, (first, second))
        half_width = _half_width(differences, sample)
        if half_width is None:
            return None, None, None
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
        # Forecasts of every step have the step beside what is predicted for it.
        others = ["truth", "fold", ROWS_AHEAD]
        outputs = common.drop(columns=others, errors="ignore").to_numpy(dtype="float64")
        output = outputs if self._problem.is_classification else outputs[:, 0]
        truth, folds = common["truth"].to_numpy(), common["fold"].to_numpy()
        return cross_fit_thresholds(self._problem, truth, output, folds)

    def _sample(self, common: np.ndarray) -> _Sample:
        key = common.tobytes()
        if key not in self._samples:
            rows = common[:: -(-len(common) // MAX_ROWS)]
            units = self._units.take(rows)
            counts = units.leave_each_out() if units.is_few else units.draw_poisson(RESAMPLES, self._seed)
            # Further rows of the same groups or blocks narrow the interval little, so only units count.
            scale = float(np.sqrt(units.count / self._units.take(common).count))
            self._samples[key] = _Sample(rows, units, counts, scale)
        return self._samples[key]


def _half_width(differences: np.ndarray, sample: _Sample) -> float | None:
    """Return half of the 95% interval; None if too many resamples have no score."""
    units = sample.units
    finite = differences[np.isfinite(differences)]
    if len(finite) < MIN_DEFINED_SHARE * len(differences):
        return None
    if units.is_few:
        error = jackknife_error(finite)
    else:
        # Units that are drawn vary around their own mean, not around the unknown one.
        error = float(finite.std(ddof=1)) * np.sqrt(units.count / (units.count - 1))
    return units.quantile(TAIL) * error * sample.scale
