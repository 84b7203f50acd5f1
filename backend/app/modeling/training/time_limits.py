"""Time limits of fits: estimate the time from a small fit, then reduce rounds, then rows, as far as needed."""

import time
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from app.modeling.estimators.encoder import is_prose
from app.modeling.estimators.estimator_catalog import get_estimator_spec
from app.modeling.facts.code_in_facts import CUSTOM_ESTIMATOR, contains_code
from app.modeling.problem.family_catalog import FAMILIES_BY_NAME, PLAIN_FAMILY
from app.modeling.problem.problem import Problem
from app.modeling.recipe.recipe import make_recipe
from app.modeling.splits.split import Fold
from app.modeling.table.column_kinds import ColumnKind, column_kind
from app.modeling.table.sampling import sample_rows as sample_positions
from app.modeling.training.deadline import Deadline
from app.modeling.training.fitting import CandidateSpec, fit_rows, predict_all
from app.modeling.training.training_set import TrainingSet

SMALL_CELLS = 50_000
"""Rows times columns: a table of this size is not worth a probe, nor a second thread."""

PROBE_SHARE = 0.1
"""Share of a fold's rows that the probe is fitted on."""
MIN_ROUNDS_SHARE = 0.3
"""Rounds are reduced to this share before rows are."""


def threads_for(frame: pd.DataFrame, threads: int) -> int:
    return 1 if frame.size < SMALL_CELLS else threads


def reduce_to_limit(
    data: TrainingSet, spec: CandidateSpec, folds: Sequence[Fold], limit_s: float | None
) -> tuple[CandidateSpec, str | None]:
    """Reduce a candidate so that it should keep the limit; return it with the reduction as a sentence, or None.

    `folds`: those that will be fitted. Scores of a reduced candidate are its own: folds and final model are
    fitted alike.
    """
    problem = data.problem
    families = {**FAMILIES_BY_NAME, PLAIN_FAMILY.name: PLAIN_FAMILY}
    family = families.get(get_estimator_spec(spec.estimator, problem.kind).name)
    if family is not None and not family.is_on_request:  # these do not stop by themselves: they do less
        return reduce_rows(data, spec, folds, limit_s, family.seconds_per_cell)
    spec, reduction = reduce_rows(data, spec, folds, None, 0.0)
    if limit_s is None or not folds:
        return spec, reduction
    if data.frame.size < SMALL_CELLS and (limit_s >= 5 or spec.estimator == CUSTOM_ESTIMATOR):
        return spec, reduction  # the trial of the code ran on as few rows, and a tenth of them says less
    reduced, round_reduction = reduce_work(problem, spec, limit_s / max(_estimate_s(data, spec, folds), 1e-9))
    return reduced, round_reduction or reduction


MAX_CELLS = 20_000_000
"""Rows times columns of one fit, whatever the time limit: about a gigabyte while it works."""

LARGE_CELLS = MAX_CELLS // 10
"""Cells from which the columns made by the recipe are counted: smaller tables stay below `MAX_CELLS`."""

MIN_TRAINING_ROWS = 5000
"""Rows that are never cut: a short table is used entirely, in fewer rounds."""

MAX_PROSE_ROWS = 10_000
"""Rows that tell whether a column is prose."""

TEXT_CELLS = 25
"""Columns that one column of prose counts for: it is encoded as many."""


def slowness(started: float, cpu_started: float) -> float:
    """Factor by which work takes longer here because others use the machine, from 1 to 10.

    `started` and `cpu_started`: `perf_counter` and `process_time` when this process began to work.
    """
    worked_s, waited_s = time.process_time() - cpu_started, time.perf_counter() - started
    # Shorter times tell more about the clock than about the machine.
    return min(max(waited_s / max(worked_s, 1e-3), 1.0), 10.0) if waited_s > 0.05 else 1.0


MAX_STRETCH = 3.0
"""Factor up to which a measurement may take longer on a slow machine: conditions of a score matter more than
further fits, but not than the fits themselves."""


def stretched_deadline(limit_s: float | None, started: float, cpu_started: float) -> Deadline:
    """Make the deadline of a measurement, longer where others use the machine; see `slowness`."""
    if limit_s is None:
        return Deadline(None)
    factor = slowness(started, cpu_started)
    return Deadline(limit_s * min(factor, MAX_STRETCH), slowness=factor)


def reduce_rows(
    data: TrainingSet,
    spec: CandidateSpec,
    folds: Sequence[Fold],
    limit_s: float | None,
    seconds_per_cell: float,
) -> tuple[CandidateSpec, str | None]:
    """Reduce the rows of a family with early stopping so that its limit allows enough rounds.

    Returns the candidate with the reduction as a sentence, or None. A share chosen by an earlier fit is kept.
    """
    if spec.settings or spec.row_share < 1:
        return spec, None
    columns = _count_columns(data.inputs, data.problem, spec)
    cells = columns * max((len(fold.train) for fold in folds), default=len(data.frame))
    max_cells = float(MAX_CELLS)
    if limit_s is not None:
        # In time order the delivered model is one more fit, on all rows; else it averages those of the folds.
        fits = len(folds) + (1 if data.problem.time_column and len(folds) > 1 else 0)
        max_cells = min(max_cells, limit_s / max(fits, 1) / seconds_per_cell)
    min_share = MIN_TRAINING_ROWS / max(cells / columns, 1)
    share = float(f"{max(max_cells / cells, min_share):.2g}")
    if share >= 1:
        return spec, None
    return replace(spec, row_share=share), describe_rows(share, data)


def describe_rows(share: float, data: TrainingSet) -> str:
    """The rows that a reduced candidate learns from, as a sentence."""
    rows = len(data.labelled_rows)
    return f"Trained on {int(share * rows):,} of {rows:,} rows to keep its limits."


def _count_columns(inputs: pd.DataFrame, problem: Problem, spec: CandidateSpec) -> int:
    """Count the columns to learn from; for a large table, those made by the recipe on its last rows."""
    sample = inputs.iloc[sample_positions(len(inputs), MAX_PROSE_ROWS, 0)]
    raw_columns = sum(TEXT_CELLS if _is_prose_column(sample[name]) else 1 for name in inputs.columns)
    if raw_columns * len(inputs) < LARGE_CELLS or not spec.recipe or contains_code(spec.recipe):
        return raw_columns
    features = make_recipe(problem, spec.recipe).fit_transform(inputs.tail(MIN_TRAINING_ROWS))
    return max(raw_columns, features.shape[1])


def _is_prose_column(column: pd.Series) -> bool:
    return (
        column.dtype.kind not in "iufbM"
        and is_prose(column, ColumnKind.TEXT)
        and column_kind(column) is ColumnKind.TEXT
    )


def _estimate_s(data: TrainingSet, spec: CandidateSpec, folds: Sequence[Fold]) -> float:
    """Estimate the time of all folds and the final fit from one fit on a tenth of a fold's rows."""
    fold = folds[-1]
    started = time.perf_counter()
    probe = replace(spec, row_share=PROBE_SHARE * spec.row_share)
    model = fit_rows(data, fold.train, probe)
    fit_s = (time.perf_counter() - started) / PROBE_SHARE
    test_rows = fold.test[: max(int(len(fold.test) * PROBE_SHARE), 1)]
    started = time.perf_counter()
    predict_all(model, data.inputs.iloc[test_rows], data.problem, spec.threads)
    # Prediction time also grows with the size of trees, which a tenth of the rows does not show: hence twice.
    predict_s = 2 * (time.perf_counter() - started) / PROBE_SHARE
    # The final fit has 1.25 times the rows of a fold of five.
    return fit_s * (len(folds) + 1.25) + predict_s * len(folds)


def reduce_work(problem: Problem, spec: CandidateSpec, share: float) -> tuple[CandidateSpec, str | None]:
    """Reduce the candidate to about `share` of its work: rounds first, then rows."""
    if share >= 1:
        return spec, None
    definition = get_estimator_spec(spec.estimator, problem.kind)
    reductions = []
    if definition.rounds_parameter:
        rounds_share = max(share, MIN_ROUNDS_SHARE)
        rounds = int({**definition.defaults, **spec.hyperparameters}[definition.rounds_parameter])
        fewer = max(10, int(rounds * rounds_share))
        spec = replace(spec, hyperparameters={**spec.hyperparameters, definition.rounds_parameter: fewer})
        reductions.append(f"{fewer} of {rounds} rounds")
        share /= rounds_share
    if share < 1:
        spec = replace(spec, row_share=max(share * spec.row_share, 0.02))
        reductions.append(f"{spec.row_share:.0%} of the rows")
    return spec, f"Trained with {' and '.join(reductions)} to keep its time limit."
