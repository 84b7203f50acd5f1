"""The condition that predicted rows have a match in a table that was joined in by its keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import pandas as pd

from app.modeling.analysis.assumptions.measurement import (
    FOLDS,
    compare_scores,
    number_units,
    predict_out_of_fold,
)
from app.modeling.analysis.assumptions.sample_size import MIN_ROWS, sample_size
from app.modeling.analysis.assumptions.wording import joined_table_assumption
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.labels.labels import make_labels
from app.modeling.problem.folds import FoldPlan
from app.modeling.problem.problem import Problem
from app.modeling.splits.split import choose_kind
from app.modeling.table.sampling import sample_rows
from app.modeling.training.deadline import Deadline

MAX_JOINED_TABLES = 2
"""Tables that are measured: each costs a cross-validation. The first ones are joined to the base itself."""


@dataclass(frozen=True)
class JoinedTable:
    """A table that was joined in, with the columns that came from it."""

    table: str
    columns: tuple[str, ...]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        return cls(str(document["table"]), tuple(map(str, document["columns"])))


def measure_joined_tables(
    train: pd.DataFrame,
    problem: Problem,
    joined: Sequence[JoinedTable],
    seed: int = 0,
    deadline: Deadline | None = None,
    threads: int = 1,
) -> list[AssumptionJson]:
    """Compare the score with the columns of each joined table with that without them.

    A row without a match has none of these columns, so a model without them scores what such rows can expect.
    """
    deadline = deadline or Deadline(None)
    inputs = set(train.columns) - {
        problem.target,
        problem.time_column,
        *problem.group_columns,
        *problem.exclude,
    }
    tables = [
        replace(entry, columns=columns)
        for entry in joined[:MAX_JOINED_TABLES]
        # The other side needs a column of its own.
        if (columns := tuple(name for name in entry.columns if name in inputs)) and set(columns) != inputs
    ]
    rows = sample_size(train, problem, 1 + len(tables), deadline)
    if not tables or problem.horizon or min(rows, len(train)) < MIN_ROWS:
        return []
    sample = train.iloc[sample_rows(len(train), rows, seed)].reset_index(drop=True)
    if make_labels(sample, problem).nunique() < 2:
        return []
    plan = FoldPlan(choose_kind(problem)[0], FOLDS, seed)
    complete = predict_out_of_fold(sample, problem, plan, threads)
    assumptions = []
    for entry in tables:
        if complete is None or not deadline.allows(complete.seconds):
            break
        narrow = replace(problem, exclude=(*problem.exclude, *entry.columns))
        without = predict_out_of_fold(sample, narrow, plan, threads)
        units = number_units(sample, problem, complete.tested)
        compared = None if without is None else compare_scores(complete, without, problem, units, seed=seed)
        if compared:
            matched = float(sample[list(entry.columns)].notna().any(axis=1).mean())
            assumptions.append(joined_table_assumption(entry.table, entry.columns, matched, problem, compared))
    return assumptions
