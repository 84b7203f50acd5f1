"""Checks that a table can train and judge a model, and warnings about the split."""

import numpy as np
import pandas as pd

from app.counts import describe_count
from app.errors import InvalidInput
from app.modeling.labels.series_grid import SeriesGrid
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs
from app.modeling.splits.groups import find_groups
from app.modeling.splits.repeated_rows import NearDuplicates, count_contradictions

MIN_ROWS = 20
"""Labelled rows: fewer leave too small a hold-out and too small folds to score anything."""
MIN_CLASS_ROWS = 6
"""Rows of a class: fewer cannot be in the training rows, in every fold and in the hold-out."""
MIN_JUDGED_MOMENTS = 8
"""Moments of a hold-out whose labels lie within it: these measure an RMSE to a quarter at best."""
MIN_LABELLED_SHARE = 0.2
"""Share of labelled rows below which the labelled ones may not represent the rest."""
MIN_CONTRADICTION_SHARE = 0.01
"""Share of contradicting rows that is worth a warning: it limits every score visibly."""
LARGE_GROUP_SHARE = 0.3
"""Share of the rows from which a group is larger than any hold-out of the usual size."""
MAX_UNSORTED_SHARE = 0.002
"""Share of rows that may be out of place in a file that still counts as sorted."""
MAX_CHECKED_ROWS = 200_000
"""Rows that are searched for contradictions: a sample of this size shows whether they are common."""


def check_enough(rows: pd.DataFrame, labels: pd.Series, problem: Problem) -> None:
    """Check that rows, classes and inputs suffice for training.

    Raises InvalidInput `too_little_data`, `single_class`, `too_few_of_class` or `no_inputs`.
    """
    if len(labels) < MIN_ROWS:
        raise InvalidInput(
            "too_little_data",
            f"Only {len(labels)} distinct rows have a label; at least {MIN_ROWS} are needed.",
            rows=len(labels),
            needed=MIN_ROWS,
        )
    if labels.nunique() < 2:
        raise InvalidInput(
            "single_class", f"All labelled rows have the same {problem.target!r}, so there is nothing to learn."
        )
    if problem.is_classification:
        _check_classes(labels, problem)
    # With a horizon the target's own past can predict it, so other columns are not needed.
    if not problem.horizon and not _has_inputs(rows, problem):
        raise InvalidInput(
            "no_inputs",
            f"No column besides {problem.target!r} has more than one value, so nothing can predict it.",
        )


def check_judged(labels: pd.Series, problem: Problem) -> None:
    """Check that the hold-out has labels of its own. Raises InvalidInput `too_little_data`.

    `labels`: of its rows; those that look beyond its end are missing.
    """
    judged_rows = int(labels.notna().sum())
    if judged_rows >= MIN_JUDGED_MOMENTS:
        return
    raise InvalidInput(
        "too_little_data",
        f"A forecast of {problem.horizon} rows ahead leaves {judged_rows} later rows with their outcome in the"
        f" data, and at least {MIN_JUDGED_MOMENTS} are needed to judge a model. Shorten the horizon.",
        rows=judged_rows,
        needed=MIN_JUDGED_MOMENTS,
    )


def _check_classes(labels: pd.Series, problem: Problem) -> None:
    counts = labels.value_counts()
    learnable = int((counts >= MIN_CLASS_ROWS).sum())
    # A rare class beside two that can be learned is kept: it does not make the others worthless.
    if learnable >= 2:
        return
    rarest = (problem.classes or ())[int(counts.index[-1])]
    raise InvalidInput(
        "too_few_of_class",
        f"Only {counts.iloc[-1]} of {len(labels)} rows are {rarest!r}; at least {MIN_CLASS_ROWS} rows of two"
        " classes are needed, to train on some and judge on others.",
        rows=int(counts.iloc[-1]),
        needed=MIN_CLASS_ROWS,
    )


def _has_inputs(rows: pd.DataFrame, problem: Problem) -> bool:
    inputs = select_inputs(rows, problem)
    return any(inputs[name].nunique(dropna=False) > 1 for name in inputs.columns)


def split_notes(
    rows: pd.DataFrame,
    problem: Problem,
    duplicates: NearDuplicates,
    unlabelled: int,
    labels: np.ndarray,
    is_holdout: np.ndarray,
) -> tuple[str, ...]:
    """Warnings about the split that a reader must see; `is_holdout` (rows,) marks the hold-out."""
    row_count = len(rows)
    notes = [*_gap_notes(rows, problem), *_group_notes(rows, problem, is_holdout)]
    if is_sorted_by_target(labels, problem):
        notes.append(
            f"The file is sorted by {problem.target!r}. Rows were drawn from all of it, but a column that"
            " numbers or dates the rows would reveal the outcome."
        )
    if row_count < MIN_LABELLED_SHARE * (row_count + unlabelled):
        notes.append(
            f"Only {row_count / (row_count + unlabelled):.1%} of the rows have a label; what is learned from"
            " them applies to the other rows only if they are similar."
        )
    if duplicates.rows:
        names = " and ".join(repr(name) for name in duplicates.names[:3])
        extent = f" in everything except {names}" if names else ""
        equal = (
            "nearly equal another row in their numbers" if duplicates.is_near else f"equal another row{extent}"
        )
        notes.append(f"{duplicates.rows} rows {equal}; such rows were kept on one side of every split.")
    checked = rows if row_count <= MAX_CHECKED_ROWS else rows.head(MAX_CHECKED_ROWS)
    contradictions = count_contradictions(checked, problem, duplicates)
    # Five rows at least: in a table of a hundred rows a single pair would reach the share.
    if contradictions >= max(5, MIN_CONTRADICTION_SHARE * len(checked)):
        notes.append(
            f"{contradictions:,} rows have the same inputs as another row but a different {problem.target!r}:"
            " no model can predict all of them correctly."
        )
    # With a horizon the latest rows have no label yet.
    holdout_labels = labels[is_holdout]
    if problem.is_classification and len(np.unique(holdout_labels[~np.isnan(holdout_labels)])) < 2:
        notes.append("The hold-out has only one class, so it cannot measure how well classes are separated.")
    return tuple(notes)


def _gap_notes(rows: pd.DataFrame, problem: Problem) -> list[str]:
    grid = SeriesGrid.from_frame(rows, problem) if problem.time_column and problem.horizon else None
    count = grid.count_gaps(problem.horizon or 1) if grid else 0
    if not count:
        return []
    steps = describe_count(problem.horizon or 1, "step")
    return [
        f"Moments are missing in the series: {count:,} rows have no value {steps} later. They neither train nor"
        " judge a model, since the value after a gap is not the one that is forecast."
    ]


def _group_notes(rows: pd.DataFrame, problem: Problem, is_holdout: np.ndarray) -> list[str]:
    """Note a group so large that no hold-out of the usual size has it."""
    groups = None if problem.time_column else find_groups(rows, problem)
    if groups is None:
        return []
    counts = groups.value_counts()
    share, largest = float(counts.iloc[0]) / len(rows), counts.index[0]
    if share <= LARGE_GROUP_SHARE or (groups.to_numpy()[is_holdout] == largest).any():
        return []
    return [
        f"{share:.0%} of the rows belong to one {' and '.join(problem.group_columns)}, {str(largest)!r}. It"
        " stays in training, so that the hold-out says how well the others are predicted."
    ]


def is_sorted_by_target(labels: np.ndarray, problem: Problem) -> bool:
    """Return true if rows without a time order are sorted by the target: each class in one run, or rising or
    falling numbers."""
    if problem.time_column or problem.horizon:
        return False
    values = labels[~np.isnan(labels)]
    steps = np.diff(values)
    if problem.is_classification:
        _, counts = np.unique(values, return_counts=True)
        pieces = int((steps != 0).sum()) + 1
        return bool(counts.min() >= MIN_CLASS_ROWS and pieces <= len(counts) + MAX_UNSORTED_SHARE * len(values))
    # Equal neighbours fit either direction, so only changes are counted.
    moving = steps[steps != 0]
    if len(moving) < MIN_ROWS / 2:
        return False
    rising = float((moving > 0).mean())
    return max(rising, 1 - rising) >= 1 - MAX_UNSORTED_SHARE
