"""Two cross-validated scores of one model: if a condition holds, and if it does not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from app.errors import InvalidInput
from app.modeling.facts.assumptions import BoundsJson
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.metrics import METRICS
from app.modeling.problem.problem import Problem
from app.modeling.scoring.bootstrap_metrics import make_statistic
from app.modeling.scoring.scores import SCORERS, Predicted
from app.modeling.splits.groups import find_groups
from app.modeling.splits.split import Fold
from app.modeling.splits.walk_forward import time_blocks
from app.modeling.table.json_values import round_significant
from app.modeling.training.cross_validation import CrossValidated, cross_validate
from app.modeling.training.fitting import CandidateSpec
from app.modeling.training.training_set import TrainingSet

ESTIMATOR = "LightGBM"
"""Plain gradient boosting: it finds what any delivered family finds, in a fraction of their time."""
SETTINGS = {"n_estimators": 100, "learning_rate": 0.1}
"""Fixed, since early stopping on the test rows of a fold would flatter the side with the easier rows."""
FOLDS = 3
"""Folds of a measurement: both sides have the same number, and more cost time that the model needs."""
RESAMPLES = 200
"""Enough for a standard error to 5%."""
TAIL = 0.025
"""Probability beyond each bound of a 95% interval."""
MIN_DEFINED_SHARE = 0.9
"""Share of the resamples with a score: fewer leave an interval of the lucky ones."""
MIN_UNITS = 5
"""Entities or blocks of time in the bootstrap: fewer say nothing about others."""
TIME_BLOCKS = 12
"""Blocks of the bootstrap over later rows: as many as leave each of them a period of its own."""


@dataclass(frozen=True)
class SidePredictions:
    """Out-of-fold predictions of one side. `tested` (rows,) marks the rows that were predicted."""

    truth: np.ndarray
    output: np.ndarray
    tested: np.ndarray
    seconds: float

    def take(self, rows: np.ndarray, problem: Problem) -> Predicted:
        return Predicted.from_problem(problem, self.truth[rows], self.output[rows])


def predict_out_of_fold(
    frame: pd.DataFrame,
    problem: Problem,
    plan: FoldPlan,
    threads: int = 1,
    is_last_only: bool = False,
    estimator: str = ESTIMATOR,
) -> SidePredictions | None:
    """Predict each row, or those of the last fold, by a model of other folds; None if rows do not suffice."""
    try:
        data = TrainingSet.from_frame(frame, problem, plan)
        run = [len(data.folds) - 1] if is_last_only else None
        return _predict(data, plan.seed, threads, run, estimator)
    except InvalidInput:
        return None


def predict_held_out(
    frame: pd.DataFrame, problem: Problem, is_held_out: np.ndarray, seed: int = 0, threads: int = 1
) -> SidePredictions | None:
    """Predict the rows of a mask (rows,) by a model of the others; None if rows do not suffice."""
    try:
        data = TrainingSet.from_frame(frame, problem)
        fold = Fold(np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out))
        return _predict(replace(data, folds=[fold]), seed, threads)
    except InvalidInput:
        return None


def _predict(
    data: TrainingSet,
    seed: int,
    threads: int,
    run: Sequence[int] | None = None,
    estimator: str = ESTIMATOR,
) -> SidePredictions:
    settings = dict(SETTINGS) if estimator == ESTIMATOR else {}
    spec = CandidateSpec(estimator, seed=seed, threads=threads, settings=settings)
    validated: CrossValidated = cross_validate(data, spec, run=run)
    return SidePredictions(validated.truth, validated.output, validated.tested, validated.seconds)


@dataclass(frozen=True)
class ComparedScores:
    """Scores of both sides with 95% intervals.

    `difference_bounds`: those of the gain of the first over the second, on the same `rows`.
    """

    holds: float
    otherwise: float
    holds_bounds: tuple[float, float]
    otherwise_bounds: tuple[float, float]
    difference_bounds: tuple[float, float]
    rows: int

    @property
    def matters(self) -> bool:
        """True if the score is worse without the condition, by more than chance and than its own interval."""
        half_width = (self.holds_bounds[1] - self.holds_bounds[0]) / 2
        return self.difference_bounds[0] > 0 and self.cost > half_width

    @property
    def cost(self) -> float:
        """Loss of the score without the condition, on the rows that both sides predicted."""
        return sum(self.difference_bounds) / 2


def number_time_blocks(times: pd.Series, rows: np.ndarray) -> np.ndarray | None:
    """Number the block of time of each of `times` (all rows,); the compared `rows` (positions) make the blocks.

    None for too few blocks, as two years: rows are drawn alone then, which says how these periods differ from
    the earlier ones and not how periods differ at all. It is no reason to say nothing.
    """
    blocks = time_blocks(pd.factorize(times, sort=True)[0][rows], TIME_BLOCKS)
    if len(blocks) < MIN_UNITS:
        return None
    return _number_rows(blocks, rows, len(times))


def _number_rows(blocks: Sequence[np.ndarray], rows: np.ndarray, count: int) -> np.ndarray:
    """Number the blocks of `rows` in an array of all rows (`count`,)."""
    numbers = np.zeros(count, dtype=int)
    for number, block in enumerate(blocks):
        numbers[rows[block]] = number
    return numbers


def number_units(sample: pd.DataFrame, problem: Problem, tested: np.ndarray) -> np.ndarray | None:
    """Number the units (rows,) that the bootstrap draws: groups or blocks of time; None for rows alone.

    `tested` (rows,): marks the rows that were predicted, which make the blocks.
    """
    if problem.time_column:
        rows, times = np.flatnonzero(tested), pd.factorize(sample[problem.time_column], sort=True)[0]
        return _number_rows(time_blocks(times[rows], TIME_BLOCKS), rows, len(sample))
    groups = find_groups(sample, problem)
    return None if groups is None else pd.factorize(groups)[0]


def bounds_json(bounds: tuple[float, float]) -> BoundsJson:
    return {"low": round_significant(bounds[0]), "high": round_significant(bounds[1])}


def compare_scores(
    holds: SidePredictions,
    otherwise: SidePredictions,
    problem: Problem,
    units: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    seed: int = 0,
) -> ComparedScores | None:
    """Compare the sides on the rows that both predicted; None if their score is not defined.

    `units` (rows,): number of the entity or block of time of each row, which the bootstrap draws together; by
    default rows are drawn alone. `weights` (2, rows): draws of each row on the first and on the second side,
    where they stand for other rows.
    """
    rows = np.flatnonzero(holds.tested & otherwise.tested)
    if len(rows) < 2:
        return None
    unit_of_row = np.arange(len(rows)) if units is None else np.unique(units[rows], return_inverse=True)[1]
    unit_count = int(unit_of_row.max()) + 1
    if unit_count < MIN_UNITS:
        return None
    sides = holds.take(rows, problem), otherwise.take(rows, problem)
    chances = np.full(unit_count, 1 / unit_count)
    # Units are drawn, since rows of one entity or period err alike; both sides share the draws.
    draws = np.random.default_rng(seed).multinomial(unit_count, chances, RESAMPLES).T
    counts = draws[unit_of_row].astype("float32")
    statistics = [make_statistic(problem.metric, side) for side in sides]
    score = SCORERS[problem.metric]
    if weights is None:
        first, second = (float(score(side)) for side in sides)
        resampled = [statistic(counts) for statistic in statistics]
    else:
        columns = weights[:, rows, None].astype("float32")
        first, second = (
            float(statistic(column)[0]) for statistic, column in zip(statistics, columns, strict=True)
        )
        resampled = [statistic(counts * column) for statistic, column in zip(statistics, columns, strict=True)]
    sign = 1 if METRICS[problem.metric].greater_is_better else -1
    difference = sign * (resampled[0] - resampled[1])
    if not all(np.isfinite(scores).mean() > MIN_DEFINED_SHARE for scores in (*resampled, difference)):
        return None
    tested = np.flatnonzero(holds.tested)
    # The first side claims a score for all of its rows; only the difference needs those of both.
    every = float(score(holds.take(tested, problem))) if len(tested) > len(rows) else first
    return ComparedScores(
        every,
        second,
        _bounds(every, resampled[0], unit_count),
        _bounds(second, resampled[1], unit_count),
        _bounds(sign * (first - second), difference, unit_count),
        len(rows),
    )


def _bounds(value: float, resampled: np.ndarray, unit_count: int) -> tuple[float, float]:
    """The symmetric interval of a value from resamples of its units."""
    # A symmetric one: percentiles of 200 resamples rest on five values at each end. Few units need Student's t,
    # and vary around their own mean, not around the unknown one.
    reach = float(stats.t.isf(TAIL, unit_count - 1)) * math.sqrt(unit_count / (unit_count - 1))
    half_width = reach * float(resampled[np.isfinite(resampled)].std(ddof=1))
    return value - half_width, value + half_width
