"""Whether a table can teach and judge a model at all, and what to be careful about if it can."""

import numpy as np
import pandas as pd

from app.errors import InvalidInput
from app.modeling.labels.repeated_rows import Twins, contradicting
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import select_inputs

MIN_ROWS = 20
MIN_OF_CLASS = 6
"""Rows of a class: fewer cannot teach and judge at once."""
FEW_LABELS = 0.2
MANY_CONTRADICTIONS = 0.01
SLIPS = 0.002
"""Share of rows that may lie elsewhere in a file that is sorted all the same."""
MAX_ASKED = 200_000
"""Rows that are searched for contradictions."""


def check_enough(rows: pd.DataFrame, labels: pd.Series, problem: Problem) -> None:
    """Raises InvalidInput `too_little_data`, `single_class`, `too_few_of_class` or `no_inputs`."""
    if len(labels) < MIN_ROWS:
        raise InvalidInput(
            "too_little_data",
            f"Only {len(labels)} different rows have a label; at least {MIN_ROWS} are needed.",
            rows=len(labels),
            needed=MIN_ROWS,
        )
    if labels.nunique() < 2:
        raise InvalidInput(
            "single_class", f"All labelled rows have the same {problem.target!r}: there is nothing to learn."
        )
    if problem.is_classification:
        _check_classes(labels, problem)
    if not problem.horizon and not _has_inputs(rows, problem):
        raise InvalidInput(
            "no_inputs",
            f"No column beside {problem.target!r} has more than one value, so nothing can tell it.",
        )


def _check_classes(labels: pd.Series, problem: Problem) -> None:
    counts = labels.value_counts()
    learnable = int((counts >= MIN_OF_CLASS).sum())
    if learnable >= 2:
        return
    rarest = (problem.classes or ())[int(counts.index[-1])]
    raise InvalidInput(
        "too_few_of_class",
        f"Only {counts.iloc[-1]} of {len(labels)} rows are {rarest!r}; at least {MIN_OF_CLASS} rows of two"
        " classes are needed to learn from some and judge by others.",
        rows=int(counts.iloc[-1]),
        needed=MIN_OF_CLASS,
    )


def _has_inputs(rows: pd.DataFrame, problem: Problem) -> bool:
    inputs = select_inputs(rows, problem)
    return any(inputs[name].nunique(dropna=False) > 1 for name in inputs.columns)


def remarks(
    rows: pd.DataFrame, problem: Problem, twins: Twins, unlabelled: int, labels: np.ndarray, held: np.ndarray
) -> tuple[str, ...]:
    """What the split found that a reader must know; `held`: which are the hold-out's."""
    known = len(rows)
    said = []
    if lies_sorted(labels, problem):
        said.append(
            f"The file is sorted by {problem.target!r}. Rows were drawn from all of it, but a column that"
            " counts or dates its rows would know the outcome."
        )
    if known < FEW_LABELS * (known + unlabelled):
        said.append(
            f"Only {known / (known + unlabelled):.1%} of the rows have a label; what is learned from them holds"
            " for the others only if they are of the same kind."
        )
    if twins.rows:
        names = " and ".join(repr(name) for name in twins.names[:3])
        said.append(
            f"{twins.rows} rows equal another one in all but {names}; equal rows were kept on one side."
        )
    asked = rows if known <= MAX_ASKED else rows.head(MAX_ASKED)
    against = contradicting(asked, problem, twins)
    if against >= max(5, MANY_CONTRADICTIONS * len(asked)):
        said.append(
            f"{against:,} rows have the same inputs as another row and another {problem.target!r}: nobody can"
            " get all of them right."
        )
    of_held = labels[held]
    if problem.is_classification and len(np.unique(of_held[~np.isnan(of_held)])) < 2:
        said.append("The hold-out holds one class only, so it cannot tell how well classes are told apart.")
    return tuple(said)


def lies_sorted(labels: np.ndarray, problem: Problem) -> bool:
    """Whether rows that no time orders lie in the order of what is to be predicted: each class in one piece, or
    numbers that only rise or only fall."""
    if problem.time_column or problem.horizon:
        return False
    known = labels[~np.isnan(labels)]
    steps = np.diff(known)
    if problem.is_classification:
        _, counts = np.unique(known, return_counts=True)
        pieces = int((steps != 0).sum()) + 1
        return bool(counts.min() >= MIN_OF_CLASS and pieces <= len(counts) + SLIPS * len(known))
    moving = steps[steps != 0]
    if len(moving) < MIN_ROWS / 2:
        return False
    rising = float((moving > 0).mean())
    return max(rising, 1 - rising) >= 1 - SLIPS
