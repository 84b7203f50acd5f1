"""The condition that predicted rows are like those whose target was recorded."""

from dataclasses import replace

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.measurement import (
    FOLDS,
    SidePredictions,
    compare_scores,
    predict_out_of_fold,
)
from app.modeling.analysis.assumptions.sample_size import MIN_ROWS, sample_size
from app.modeling.analysis.assumptions.wording import recorded_target_assumption
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.problem.folds import FoldPlan, SplitKind
from app.modeling.problem.kinds import ProblemKind
from app.modeling.problem.problem import Problem
from app.modeling.splits.split import choose_kind
from app.modeling.table.sampling import sample_rows
from app.modeling.training.deadline import Deadline

MIN_UNRECORDED_SHARE = 0.05
"""Share of rows without a target from which it matters what they are like."""
MAX_ODDS = 20.0
"""Largest weight of a row relative to the mean: beyond it a few rows would be the whole figure."""
RECORDED = "target is recorded"
"""Column of the classifier that tells recorded rows from others."""


def measure_recorded_target(
    train: pd.DataFrame,
    table: pd.DataFrame,
    problem: Problem,
    seed: int = 0,
    deadline: Deadline | None = None,
    threads: int = 1,
) -> AssumptionJson | None:
    """Compare the score on the training rows with that on rows like those without a target.

    Out-of-fold predictions are the same on both sides; on the second each row counts by the odds that a row
    like it has no target. None if nearly all rows have one, or there are too few rows.
    """
    unrecorded = table.loc[table[problem.target].isna()]
    rows = sample_size(train, problem, 4, deadline or Deadline(None))
    if problem.horizon or problem.time_column or min(rows, len(train), len(unrecorded)) < MIN_ROWS:
        return None
    if len(unrecorded) < MIN_UNRECORDED_SHARE * len(table):
        return None
    sample = train.iloc[sample_rows(len(train), rows, seed)].reset_index(drop=True)
    others = unrecorded.iloc[sample_rows(len(unrecorded), rows, seed)]
    odds = _unrecorded_odds(sample, others, problem, seed, threads)
    side = predict_out_of_fold(sample, problem, FoldPlan(choose_kind(problem)[0], FOLDS, seed), threads)
    if odds is None or side is None:
        return None
    compared = compare_scores(side, side, problem, weights=odds, seed=seed)
    share = len(unrecorded) / len(table)
    return compared if compared is None else recorded_target_assumption(problem, compared, f"{share:.0%}")


def _unrecorded_odds(
    recorded: pd.DataFrame, others: pd.DataFrame, problem: Problem, seed: int, threads: int
) -> np.ndarray | None:
    """Odds (recorded rows,) that a row has no target, with mean 1, from a classifier out of fold."""
    both = pd.concat([recorded, others], ignore_index=True).drop(columns=problem.target)
    is_recorded = np.arange(len(both)) < len(recorded)
    classifier = replace(
        problem,
        target=RECORDED,
        kind=ProblemKind.CLASSIFICATION,
        metric="log_loss",
        classes=(0, 1),
        positive_class=1,
        costs=None,
        parsers=(),
    )
    plan = FoldPlan(SplitKind.STRATIFIED, FOLDS, seed)
    side: SidePredictions | None = predict_out_of_fold(
        both.assign(**{RECORDED: is_recorded.astype(int)}), classifier, plan, threads
    )
    if side is None:
        return None
    share = np.clip(side.output[: len(recorded), 1], 1e-3, 1 - 1e-3)
    odds = (1 - share) / share
    weights: np.ndarray = np.minimum(odds / odds.mean(), MAX_ODDS)
    return weights
