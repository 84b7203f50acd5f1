"""The condition that predicted rows may equal rows that the model learned from."""

from dataclasses import replace

import numpy as np
import pandas as pd

from app.modeling.analysis.assumptions.measurement import FOLDS, compare_scores, predict_out_of_fold
from app.modeling.analysis.assumptions.sample_size import MIN_ROWS, sample_size
from app.modeling.analysis.assumptions.wording import equal_rows_assumption
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.problem import Problem
from app.modeling.splits.repeated_rows import find_near_duplicates
from app.modeling.splits.split import UNSTRUCTURED_KINDS, choose_kind
from app.modeling.training.deadline import Deadline

MIN_EQUAL_SHARE = 0.02
"""Share of rows that repeat another one from which they can change a score."""


def measure_equal_rows(
    train: pd.DataFrame, problem: Problem, seed: int = 0, deadline: Deadline | None = None, threads: int = 1
) -> AssumptionJson | None:
    """Compare folds that draw equal rows one by one with folds that keep them together.

    None unless rows equal each other more often than chance explains, or if there are too few rows.
    """
    kind, deadline = choose_kind(problem)[0], deadline or Deadline(None)
    rows = sample_size(train, problem, 2, deadline)
    if kind not in UNSTRUCTURED_KINDS or min(rows, len(train)) < MIN_ROWS:
        return None
    duplicates = find_near_duplicates(train, problem)
    codes = duplicates.codes
    if (codes >= 0).mean() < MIN_EQUAL_SHARE:
        return None
    # Rows without an equal one are units of their own, and equal ones are sampled together.
    units = np.where(codes >= 0, codes, codes.max() + 1 + np.arange(len(codes)))
    units = np.unique(units, return_inverse=True)[1]
    positions = np.arange(len(train))
    if len(train) > rows:
        order = np.random.default_rng(seed).permutation(int(units.max()) + 1)
        last = int(np.searchsorted(np.cumsum(np.bincount(units)[order]), rows)) + 1
        positions = np.flatnonzero(np.isin(units, order[:last]))
    sample, plan = train.iloc[positions].reset_index(drop=True), FoldPlan(kind, FOLDS, seed)
    alone = predict_out_of_fold(sample, problem, plan, threads)
    # The second side takes about as long as the first.
    if alone is None or not deadline.allows(alone.seconds):
        return None
    kept_together = predict_out_of_fold(sample, problem, replace(plan, equal_rows_together=True), threads)
    if kept_together is None:
        return None
    compared = compare_scores(alone, kept_together, problem, units[positions], seed=seed)
    return (
        compared
        if compared is None
        else equal_rows_assumption(problem, compared, f"{duplicates.rows:,}", duplicates.is_near)
    )
