"""The units in which the rows of a table are independent, by its times, groups and copies."""

import math

import numpy as np
import pandas as pd

from app.modeling.problem.problem import Problem
from app.modeling.scoring.independent_units import MIN_BOOTSTRAP_UNITS, IndependentUnits, UnitKind
from app.modeling.splits.groups import find_groups
from app.modeling.splits.repeated_rows import find_near_duplicates


def find_units(rows: pd.DataFrame, problem: Problem, equal_rows_together: bool = True) -> IndependentUnits:
    """Find the units of rows that are judged: blocks of time, else groups, else copies, else single rows.

    Many groups of few moments are units before these. `equal_rows_together`: see `FoldPlan`; without it no
    copies are searched.
    """
    groups = find_groups(rows, problem)
    if problem.time_column and not _has_groups_of_few_moments(rows, problem, groups):
        moments = pd.factorize(rows[problem.time_column], sort=True)[0]
        return IndependentUnits.of_moments(moments, _find_overlap(moments, groups, problem.horizon or 0))
    if groups is not None:
        # A row without a group counts as one of a further group.
        return IndependentUnits.of_clusters(pd.factorize(groups)[0], UnitKind.GROUPS)
    codes = find_near_duplicates(rows, problem).codes if equal_rows_together else np.full(len(rows), -1)
    if not (codes >= 0).any():
        return IndependentUnits.of_rows(len(rows))
    alone = codes.max() + 1 + np.arange(len(rows))
    return IndependentUnits.of_clusters(np.where(codes < 0, alone, codes), UnitKind.COPIES)


def _has_groups_of_few_moments(rows: pd.DataFrame, problem: Problem, groups: pd.Series | None) -> bool:
    """Test for groups, such as persons, of which each moment has many, where moments are too few to resample.

    Each is then a unit: what differs between them is covered, what differs between times is not.
    """
    if groups is None or problem.horizon:
        return False
    moments = rows[problem.time_column].nunique()
    return bool(moments < MIN_BOOTSTRAP_UNITS and groups.nunique() >= MIN_BOOTSTRAP_UNITS)


def _find_overlap(moments: np.ndarray, groups: pd.Series | None, horizon: int) -> int:
    """Return the moments that labels look ahead: a horizon counts the rows of one group."""
    if groups is None or not horizon:
        return horizon
    own = pd.Series(moments).groupby(pd.factorize(groups)[0]).agg(["min", "max", "nunique"])
    # Groups that are recorded in turn have fewer moments than pass meanwhile.
    steps = (own["max"] - own["min"] + 1) / own["nunique"]
    return math.ceil(horizon * float(np.average(steps, weights=own["nunique"])))
