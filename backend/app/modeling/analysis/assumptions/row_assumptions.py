"""All conditions about the rows to predict, measured one after the other within one time budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from app.modeling.analysis.assumptions.equal_rows import measure_equal_rows
from app.modeling.analysis.assumptions.joined_tables import JoinedTable, measure_joined_tables
from app.modeling.analysis.assumptions.recorded_target import measure_recorded_target
from app.modeling.analysis.assumptions.sample_size import MIN_ROWS
from app.modeling.analysis.assumptions.split_choice import (
    UnmeasuredStructures,
    apply_choice,
    find_structures,
    measure_structures,
)
from app.modeling.facts.assumptions import AssumptionJson
from app.modeling.problem.problem import Problem
from app.modeling.training.deadline import Deadline


@dataclass(frozen=True)
class RowAssumptions:
    """Measured conditions about rows, the problem with the chosen split, and sentences about conditions that no
    time was left for."""

    assumptions: list[AssumptionJson]
    problem: Problem
    notes: list[str]


def measure_assumptions(
    train: pd.DataFrame,
    table: pd.DataFrame,
    problem: Problem,
    request: Mapping[str, Any],
    seed: int = 0,
    deadline: Deadline | None = None,
    threads: int = 1,
    joined: Sequence[JoinedTable] = (),
) -> RowAssumptions:
    """Measure what a structure of the training rows, equal rows, missing targets and joined tables change.

    `deadline`: of all of them; without it, counts of rows alone bound the time.
    """
    deadline = deadline or Deadline(None)
    structures = find_structures(table, problem, request)
    assumptions = measure_structures(train, problem, structures, seed, deadline, threads)
    structured = apply_choice(problem, assumptions)
    notes: list[str] = []
    if deadline.limit_s is not None and len(train) >= MIN_ROWS:
        unmeasured = UnmeasuredStructures.from_assumptions(structures, assumptions)
        structured, notes = unmeasured.apply(structured), unmeasured.describe()
    # These are conditions of the score under the split that the structures led to.
    others = (
        measure_equal_rows(train, structured, seed, deadline, threads),
        measure_recorded_target(train, table, structured, seed, deadline, threads),
    )
    measured = [*assumptions, *(assumption for assumption in others if assumption)]
    measured += measure_joined_tables(train, structured, joined, seed, deadline, threads)
    return RowAssumptions(measured, structured, notes)
