"""Whether two candidates can be told apart by the rows that both judged."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd

from app.modeling.judging.comparison import Bounds, Fit, by_common_folds
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.resampled import make_statistic
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.table.json_values import round_significant

MAX_ROWS = 20_000
"""More rows are not drawn from; the interval is narrowed to what all of them would give."""
RESAMPLES = 200
Z = 1.96


class RowsApart:
    """Paired bootstrap over rows. `outputs`: by candidate, `truth` and its output columns, indexed by row.

    The same rows are drawn for both of a pair; in time order whole runs of neighbours are.
    """

    def __init__(self, outputs: Mapping[str, pd.DataFrame], problem: Problem, seed: int) -> None:
        self._outputs = outputs
        self._problem = problem
        self._seed = seed
        self._drawn = cache(self._draw)

    def __call__(self, a: Fit, b: Fit) -> Bounds:
        """(low, middle, high) of a minus b, positive where a is better; None without rows in common."""
        ours, theirs = self._outputs[a["name"]], self._outputs[b["name"]]
        common = np.intersect1d(ours.index.to_numpy(), theirs.index.to_numpy())
        if len(common) < 2:
            return None, None, None
        rows, counts = self._sample(common)
        metric = self._problem.metric
        sign = 1 if METRICS[metric].greater_is_better else -1
        first, second = (self._predicted(frame, rows) for frame in (ours, theirs))
        drawn = make_statistic(metric, first)(counts) - make_statistic(metric, second)(counts)
        known = drawn[np.isfinite(drawn)]
        if len(known) < 0.9 * len(drawn):
            return None, None, None
        middle = self._middle(a, b, sign, (first, second))
        reach = Z * float(known.std(ddof=1)) * np.sqrt(len(rows) / len(common))
        return round_significant(middle - reach), round_significant(middle), round_significant(middle + reach)

    def _middle(self, a: Fit, b: Fit, sign: int, drawn_from: tuple[Predicted, Predicted]) -> float:
        """By how much a is better on the folds that both have, or on these rows where none are known."""
        by_fold = by_common_folds(a, b)
        if len(by_fold):
            return float(by_fold.mean())
        score = SCORERS[self._problem.metric]
        return sign * (score(drawn_from[0]) - score(drawn_from[1]))

    def _predicted(self, frame: pd.DataFrame, rows: np.ndarray) -> Predicted:
        seen = frame.loc[rows]
        said = seen.drop(columns=["truth", "fold"], errors="ignore").to_numpy(dtype="float64")
        output = said if self._problem.is_classification else said[:, 0]
        return Predicted.from_problem(self._problem, seen["truth"].to_numpy(), output)

    def _sample(self, common: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        step = -(-len(common) // MAX_ROWS)
        return common[::step], self._drawn(len(common[::step]))

    def _draw(self, rows: int) -> np.ndarray:
        """How often each row is drawn (rows, resamples)."""
        rng = np.random.default_rng(self._seed)
        run = max(1, rows // 20) if self._problem.time_column else 1
        blocks = rng.poisson(1.0, (-(-rows // run), RESAMPLES)).astype("float32")
        return np.repeat(blocks, run, axis=0)[:rows]
